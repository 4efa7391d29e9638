//! Deferred syncs of a log with a journal: groups that a power loss removes are fetched again.

use super::State;
use super::core::Core;
use crate::journal::Replica;
use crate::prelude::*;

/// Largest number of bytes that a log with a journal may have written without a sync. Opening the log reads these bytes again.
pub const UNSYNCED_BYTES_MAX: u64 = 64 << 10;

impl<S: State> Core<S> {
    /// Returns true if a group of `len` bytes needs no sync of its own, because the group can be fetched from the journal again
    /// after a power loss. Returns false for the first group of a segment, and for a group with which the unsynced part would
    /// grow too large.
    pub(super) fn defers(&self, len: u64) -> bool {
        let synced = self.replica.as_ref();
        let synced = synced.and_then(|replica| replica.synced_in(self.head.segment));
        synced.is_some_and(|place| self.head.end + len - place.end() <= UNSYNCED_BYTES_MAX)
    }

    /// Runs the deferred syncs.
    pub fn sync_deferred(&mut self) -> Result<()> {
        if self.replica.as_ref().is_none_or(Replica::is_synced) {
            return Ok(());
        }
        self.guarded(|core| {
            core.write_left_again()?;
            let (Some(replica), Some(active)) = (&mut core.replica, &core.active) else {
                return Ok(());
            };
            let path = core.head.path(&core.dir);
            let synced = active.file.sync_data();
            synced.map_err(Error::io("sync", &path))?;
            replica.mark_synced();
            Ok(())
        })
    }

    /// Syncs the log if the synced end is unknown.
    pub fn know_synced(&mut self) -> Result<()> {
        let segment = self.head.segment;
        match &self.replica {
            Some(replica) if replica.synced_in(segment).is_none() => self.sync_deferred(),
            _ => Ok(()),
        }
    }

    /// Writes unsynced bytes of other processes again, before the first sync of this process. A sync of another process may have
    /// failed; then its bytes can be read from memory but are not on the disk.
    pub(super) fn write_left_again(&mut self) -> Result<()> {
        let (Some(replica), Some(active)) = (&mut self.replica, &self.active) else {
            return Ok(());
        };
        let Some((segment, range)) = replica.take_left() else {
            return Ok(());
        };
        if segment != self.head.segment {
            return Ok(());
        }
        let path = self.head.path(&self.dir);
        let mut bytes = vec![0; range.end.saturating_sub(range.start) as usize];
        let read = active.file.read_exact_at(&mut bytes, range.start);
        let written = read.and_then(|()| active.file.write_all_at(&bytes, range.start));
        written.map_err(Error::io("write", &path))
    }
}
