//! Limits the threads per team, so that a team with a slow disk or a held lock cannot occupy all threads.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// A semaphore per team.
#[derive(Debug)]
pub(crate) struct PerTeamLimit {
    each: usize,
    teams: Mutex<BTreeMap<String, Arc<Semaphore>>>,
}

impl PerTeamLimit {
    pub fn new(each: usize) -> PerTeamLimit {
        PerTeamLimit {
            each,
            teams: Mutex::default(),
        }
    }

    /// Waits for a permit of the team. Permits are given in the order of requests.
    pub async fn next(&self, team: &str) -> Option<OwnedSemaphorePermit> {
        let of_team = {
            let mut teams = self.teams.lock().unwrap_or_else(PoisonError::into_inner);
            // The map stays small, because only names of served teams get here.
            let new = || Arc::new(Semaphore::new(self.each));
            teams.entry(team.to_owned()).or_insert_with(new).clone()
        };
        of_team.acquire_owned().await.ok()
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
        let per_team_limit = PerTeamLimit::new(2);
        let mut taken: Vec<_> = (0..2)
            .map(|_| now(per_team_limit.next("slow")).unwrap())
            .collect();
        assert!(now(per_team_limit.next("slow")).is_none());
        assert!(now(per_team_limit.next("other")).is_some());
        taken.pop();
        assert!(now(per_team_limit.next("slow")).is_some());
    }
}
