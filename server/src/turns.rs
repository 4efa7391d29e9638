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
