//! The syncs that a log with a journal does without until they are due: what a power loss takes is fetched again.

use super::State;
use super::core::Core;
use crate::error::{Error, Result};
use crate::limits;

impl<S: State> Core<S> {
    /// Whether a group of that length need not be synced by itself: the journal has it, so that what a power loss takes is
    /// fetched again. The first group of a segment is synced, and one before too much would have to be read again.
    pub(super) fn defers(&self, len: u64) -> bool {
        let synced = self.replica.as_ref();
        let synced = synced.and_then(|replica| replica.synced_in(self.head.segment));
        synced.is_some_and(|(.., place)| {
            self.head.end + len - place.end() <= limits::UNSYNCED_BYTES_MAX
        })
    }

    /// Syncs what was written without that.
    pub fn sync_deferred(&mut self) -> Result<()> {
        self.guarded(|core| {
            let (Some(replica), Some(active)) = (&mut core.replica, &core.active) else {
                return Ok(());
            };
            if !replica.is_synced() {
                let path = core.head.path(&core.dir);
                let synced = active.file.sync_data();
                synced.map_err(Error::io("sync", &path))?;
                replica.mark_synced();
            }
            Ok(())
        })
    }

    /// Where nothing says how far the log was synced, it is now.
    pub fn know_synced(&mut self) -> Result<()> {
        let segment = self.head.segment;
        match &self.replica {
            Some(replica) if replica.synced_in(segment).is_none() => self.sync_deferred(),
            _ => Ok(()),
        }
    }

    /// A sync failed: nobody knows what the disk holds of what was written since the one before. The head goes back there, so
    /// that the next writer writes it again.
    pub(super) fn distrust_deferred(&mut self) {
        let synced = self.replica.as_ref();
        let synced = synced.and_then(|replica| replica.synced_in(self.head.segment));
        if let Some((last_seq, id, place)) = synced {
            let mut head = self.head.back_to(place.end(), last_seq, id);
            // Where that fails too, what is read shows what is missing.
            let _ = self.head_file.write(&mut head, false);
        }
    }
}
