//! Combines the acks of one subscription that arrive at the same time in one process into one write. The caller that gets the lock
//! `writes` first carries out all waiting acks.

use crate::handle::prelude::*;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The waiting acks of a process, per subscription. Only a long-running process has them.
#[derive(Debug, Default)]
pub struct Settlements(Mutex<BTreeMap<(String, String), Arc<Turn>>>);

/// An ack of events of a subscription.
#[derive(Debug, Clone)]
pub(crate) struct Settlement {
    /// Epoch of the consumer's lease.
    pub epoch: u64,
    /// Seqs of the settled events.
    pub seqs: Vec<u64>,
}

/// Position of the subscription after an ack, or the refusal of the ack.
pub(crate) type SettlementOutcome = Result<u64, Refusal>;

/// The acks of one subscription.
#[derive(Debug, Default)]
struct Turn {
    waiting: Mutex<Vec<Waiting>>,
    /// Held while the acks are carried out.
    writes: Mutex<()>,
}

/// An ack with the place for its outcome. The outcome is absent until the ack is carried out. A write error is stored as
/// text, because several callers get a copy.
#[derive(Debug)]
struct Waiting {
    settlement: Settlement,
    outcome: Arc<Mutex<Option<Result<SettlementOutcome, String>>>>,
}

impl Settlements {
    /// Carries out an ack, together with the acks of the same subscription that wait at the same time. `all` carries out acks in
    /// order with one write.
    pub(crate) fn run(
        &self,
        (team, name): (&Team, &str),
        settlement: Settlement,
        all: impl FnOnce(&[Settlement]) -> Result<Vec<SettlementOutcome>>,
    ) -> Result<u64> {
        let key = (team.name().to_owned(), name.to_owned());
        let turn = guard(&self.0).entry(key.clone()).or_default().clone();
        let outcome = Arc::default();
        guard(&turn.waiting).push(Waiting {
            settlement,
            outcome: Arc::clone(&outcome),
        });
        let writes = guard(&turn.writes);
        if guard(&outcome).is_none() {
            carry_out(std::mem::take(&mut *guard(&turn.waiting)), all);
        }
        drop(writes);
        self.forget(&key, &turn);
        match guard(&outcome).take() {
            Some(Ok(settled)) => Ok(settled?),
            Some(Err(text)) => Err(failed(team, text)),
            None => Err(failed(team, "the ack was not carried out".to_owned())),
        }
    }

    /// Removes the turn of a subscription if no other caller uses it, so that the map does not grow.
    fn forget(&self, key: &(String, String), turn: &Arc<Turn>) {
        let mut turns = guard(&self.0);
        // The map and this caller have one reference each.
        if Arc::strong_count(turn) <= 2 {
            turns.remove(key);
        }
    }
}

fn carry_out(
    waiting: Vec<Waiting>,
    all: impl FnOnce(&[Settlement]) -> Result<Vec<SettlementOutcome>>,
) {
    let settlements = waiting.iter().map(|waiting| waiting.settlement.clone());
    let done = all(&settlements.collect::<Vec<_>>());
    let outcomes: Vec<Result<SettlementOutcome, String>> = match done {
        Ok(outcomes) => outcomes.into_iter().map(Ok).collect(),
        Err(Failure::Refused(refusal)) => vec![Ok(Err(refusal)); waiting.len()],
        Err(failed) => vec![Err(failed.to_string()); waiting.len()],
    };
    for (waiting, outcome) in waiting.iter().zip(outcomes) {
        *guard(&waiting.outcome) = Some(outcome);
    }
}

fn failed(team: &Team, text: String) -> Failure {
    let dir = team.log.dir().to_owned();
    Error::io("settle events of a subscription in", dir)(std::io::Error::other(text)).into()
}

fn guard<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
