//! Losses of the log's events. Lost events may include claims, so later claims get epochs above all epochs that lost claims may
//! have.

pub use crate::event::loss as event;

use crate::event::loss::LossFact;
use crate::prelude::*;

/// Namespace of a single row: the largest epoch that a lost claim may have.
const EPOCH_FLOOR: u8 = 0x4A;

/// Folds a loss. Every claim is an event, so the lost events up to `known_seq` raised epochs by at most `known_seq`.
pub(crate) fn apply(tx: &mut Tx<'_>, lost: &LossFact) -> Result<()> {
    match lost.known_seq() {
        0 => Ok(()),
        known => tx.change(&[EPOCH_FLOOR], |floor: &mut u64| {
            *floor = floor.saturating_add(known);
        }),
    }
}

impl TeamState {
    /// Returns the epoch of the next claim on a task. The next epoch is larger than the epoch of the last claim, and larger
    /// than all epochs that lost claims may have.
    pub fn next_epoch(&self, last: u64) -> Result<u64> {
        let floor: Option<u64> = self.rows().get(&[EPOCH_FLOOR])?;
        Ok(last.max(floor.unwrap_or_default()).saturating_add(1))
    }
}
