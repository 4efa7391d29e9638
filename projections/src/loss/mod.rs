//! Losses of the log's events. Lost events may include claims, so later claims get epochs above all epochs granted there.

pub use crate::event::loss as event;

use crate::event::loss::LossFact;
use crate::prelude::*;

/// No epoch that was granted in a lost part is above this.
const EPOCH_FLOOR: u8 = 0x4A;

/// Each claim is an event, so a part of the log up to event `known_seq` raised the epochs by at most that much.
pub(crate) fn apply(tx: &mut Tx<'_>, lost: &LossFact) -> Result<()> {
    match lost.known_seq() {
        0 => Ok(()),
        known => tx.change(&[EPOCH_FLOOR], |floor: &mut u64| {
            *floor = floor.saturating_add(known);
        }),
    }
}

impl TeamState {
    /// The epoch that the next claim on a task gets: above that of its last claim, and above all that were granted in a
    /// part of the log that was lost.
    pub fn next_epoch(&self, last: u64) -> Result<u64> {
        let floor: Option<u64> = self.rows().get(&[EPOCH_FLOOR])?;
        Ok(last.max(floor.unwrap_or_default()).saturating_add(1))
    }
}
