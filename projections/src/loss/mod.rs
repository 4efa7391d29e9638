//! Losses of the log's events. Lost events may include claims, so later claims get epochs above all epochs granted
//! there.

pub use crate::event::loss as event;

use crate::event::loss::LossFact;
use crate::prelude::*;

/// Single row: no epoch granted in a lost part is larger.
const EPOCH_FLOOR: u8 = 0x4A;

/// Every claim is an event, so a lost part up to event `known_seq` raised epochs by at most that number.
pub(crate) fn apply(tx: &mut Tx<'_>, lost: &LossFact) -> Result<()> {
    match lost.known_seq() {
        0 => Ok(()),
        known => tx.change(&[EPOCH_FLOOR], |floor: &mut u64| {
            *floor = floor.saturating_add(known);
        }),
    }
}

impl TeamState {
    /// Returns the epoch of the next claim on a task: larger than the last claim's, and than all epochs granted in a
    /// lost part.
    pub fn next_epoch(&self, last: u64) -> Result<u64> {
        let floor: Option<u64> = self.rows().get(&[EPOCH_FLOOR])?;
        Ok(last.max(floor.unwrap_or_default()).saturating_add(1))
    }
}
