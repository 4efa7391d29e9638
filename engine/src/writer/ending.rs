//! The check before each group and each head: the log must end where its writer ended it.

use super::State;
use super::core::Core;
use crate::head;
use crate::prelude::*;
use crate::witness::Witness;

impl<S: State> Core<S> {
    /// Fails unless the log ends where this writer ended it.
    ///
    /// # Errors
    /// `RolledBack`, `LockLost`, `Corrupt`, I/O.
    pub fn check_end(&self) -> Result<()> {
        match (&self.in_flight, &self.poisoned) {
            (None, None) => self.check_ours(&self.head, false),
            // The thread that writes the group checks the end.
            _ => Ok(()),
        }
    }

    /// Fails unless all paths still lead to this writer's files: the lock file is the locked file; the segment's path names the
    /// open file, and that file ends at `head`; and, before a group is `written`, the head's path names the open file. Otherwise
    /// the writer would write to a removed file, which has no reader, or overwrite bytes of another process.
    pub(super) fn check_ours(&self, head: &Head, written: bool) -> Result<()> {
        self.lock.check(self.storage.as_ref(), written)?;
        let Some(active) = &self.active else {
            return Ok(());
        };
        let path = self.dir.join(EVENTS_DIR).join(&head.name);
        let found = self.storage.look(&path).map_err(Error::io("stat", &path))?;
        let end = found.as_ref().map_or(0, |found| found.len);
        // Check the length of the file and, with zeros ahead, the first byte after the head.
        let due = active.len().max(head.end);
        let is_free = || active.is_free(head.end).map_err(Error::io("read", &path));
        let why = match found {
            None => "the file was removed while it was written",
            Some(found) if found.identity != active.identity => {
                "the file was replaced while it was written"
            }
            Some(_) if end < due => "the file was cut while it was written",
            Some(_) if end > due || !is_free()? => {
                "another process appended to the file while it was written"
            }
            Some(_) if !written && !self.head_file.is_at(self.storage.as_ref())? => {
                "the head was replaced while it was written"
            }
            Some(_) => return Ok(()),
        };
        let damaged = || Error::corrupt(path, end.min(head.end), None, why);
        Err(self.rolled_back().unwrap_or_else(damaged))
    }

    /// Returns the error of a log whose head on the disk is older than the head that this writer wrote: an older state was
    /// restored.
    fn rolled_back(&self) -> Option<Error> {
        let own = Witness::from_head(&self.identity, &self.head)?;
        let slots = head::read_slots(self.storage.as_ref(), &self.dir, self.identity.log);
        let rollback = own.against(&self.identity, &slots.ok()?.newest?)?;
        let path = self.dir.clone();
        Some(Error::RolledBack { path, rollback })
    }
}
