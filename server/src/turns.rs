//! Turns of each team at the threads that answer: a team that is slow, because its disk or whoever holds its lock is,
//! never has all of them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The turns of all teams.
#[derive(Debug)]
pub(crate) struct Turns {
    each: usize,
    teams: Mutex<BTreeMap<String, Arc<Semaphore>>>,
}

impl Turns {
    /// So many for each team.
    pub fn new(each: usize) -> Turns {
        Turns {
            each,
            teams: Mutex::default(),
        }
    }

    /// The next turn of a team, in the order of asking; it lasts until it is dropped.
    pub async fn next(&self, team: &str) -> Option<OwnedSemaphorePermit> {
        self.of(team).acquire_owned().await.ok()
    }

    fn of(&self, team: &str) -> Arc<Semaphore> {
        let mut teams = self.teams.lock().unwrap_or_else(PoisonError::into_inner);
        match teams.get(team) {
            Some(turns) => turns.clone(),
            None => {
                // Only names of teams that are served come so far.
                let turns = Arc::new(Semaphore::new(self.each));
                teams.insert(team.to_owned(), turns.clone());
                turns
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    fn now<A>(future: impl Future<Output = A>) -> Option<A> {
        match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(answer) => Some(answer),
            Poll::Pending => None,
        }
    }

    #[test]
    fn a_team_that_has_all_its_turns_waits_and_no_other_does() {
        let turns = Turns::new(2);
        let mut taken: Vec<_> = (0..2).map(|_| now(turns.next("slow")).unwrap()).collect();
        assert!(now(turns.next("slow")).is_none());
        assert!(now(turns.next("other")).is_some());
        taken.pop();
        assert!(now(turns.next("slow")).is_some());
    }
}
