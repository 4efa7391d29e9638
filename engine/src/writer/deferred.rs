//! The syncs that a log with a journal does without until they are due: what a power loss takes is fetched again.

use super::State;
use super::core::Core;
use crate::journal::Replica;
use crate::limits;
use crate::prelude::*;

impl<S: State> Core<S> {
    /// Whether a group of that length need not be synced by itself: the journal has it, so that what a power loss takes is
    /// fetched again. The first group of a segment is synced, and one before too much would have to be read again.
    pub(super) fn defers(&self, len: u64) -> bool {
        let synced = self.replica.as_ref();
        let synced = synced.and_then(|replica| replica.synced_in(self.head.segment));
        synced.is_some_and(|place| self.head.end + len - place.end() <= limits::UNSYNCED_BYTES_MAX)
    }

    /// Syncs what was written without that.
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

    /// Where nothing says how far the log was synced, it is now.
    pub fn know_synced(&mut self) -> Result<()> {
        let segment = self.head.segment;
        match &self.replica {
            Some(replica) if replica.synced_in(segment).is_none() => self.sync_deferred(),
            _ => Ok(()),
        }
    }

    /// Writes what other processes left without a sync once more, before the first sync of this one: another's may have failed,
    /// and what it was to keep is then read well from memory and would be on no disk.
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
