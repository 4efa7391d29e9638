//! Reads a log up to its head, without a lock. Recovers from a crash if no other process holds the lock.

use super::Log;
use crate::head;
use crate::prelude::*;
use crate::reader::{Opening, Reader};
use crate::recovery::switch;
use crate::recovery::unsynced::{self, Broken};
use crate::segment::end_of_log;
use crate::storage::if_long_enough;
use crate::watch::Watch;
use crate::witness::Witness;

impl Log {
    /// Returns a reader up to the current durable head. Waits for no lock. If there are bytes after the head (or no head) and the
    /// lock is free, first recovers the log like a writer. If the files cannot be written, the reader ends at the head, and the
    /// later bytes stay.
    pub fn reader(&self) -> Result<Reader> {
        match self.reader_as_known() {
            // A conversion may have replaced the log that this handle knows.
            Err(error @ (Error::ForeignFile { .. } | Error::Corrupt { .. })) => {
                let now = Log::open(self.storage.clone(), &self.dir, self.options.clone())?;
                match now.identity == self.identity {
                    true => Err(error),
                    false => now.reader_as_known(),
                }
            }
            read => read,
        }
    }

    fn reader_as_known(&self) -> Result<Reader> {
        // The witness is read before the head, because a writer updates the witness after the head.
        let witness = self.witness();
        let slots = match head::read_slots(self.storage.as_ref(), &self.dir, self.identity.log) {
            Err(foreign @ Error::ForeignFile { .. }) => return self.reader_of_successor(foreign),
            slots => slots?,
        };
        if let Some(head) = &slots.newest
            && self.ends_with(head)?
            && self.is_plausible(head, witness)
        {
            return Ok(self.reader_to(head.clone(), Opening::default(), witness));
        }
        match self.lock_for(Duration::ZERO) {
            Ok(exclusive) => Ok(exclusive.reader()),
            Err(Error::RolledBack { path, rollback }) => {
                let slots = head::read_slots(self.storage.as_ref(), &self.dir, self.identity.log)?;
                let opening = Opening {
                    rollback: Some(rollback.clone()),
                    ..Opening::default()
                };
                let gone = Error::RolledBack { path, rollback };
                Ok(self.reader_to(slots.newest.ok_or(gone)?, opening, witness))
            }
            Err(locked @ (Error::Locked { .. } | Error::LockLost { .. })) => {
                self.reader_beside_writer(locked)
            }
            Err(error) if error.is_write_error() => self.reader_where_nothing_is_written(error),
            Err(error) => Err(error),
        }
    }

    /// Handles a head of another log: finishes a salvage that was interrupted after its decision.
    fn reader_of_successor(&self, foreign: Error) -> Result<Reader> {
        let identity = Identity::load(self.storage.as_ref(), &self.dir)?;
        if !switch::is_owed(self.storage.as_ref(), &self.dir, &identity)? {
            return Err(foreign);
        }
        match self.lock_for(Duration::ZERO) {
            Ok(exclusive) => Ok(exclusive.reader()),
            Err(error) if error.is_read_only() => Err(foreign),
            Err(error) => Err(error),
        }
    }

    /// Watches for the head to move, or for another log to replace this log. To miss no event, create the watch first, then read,
    /// then wait.
    pub fn watch(&self) -> Result<Watch> {
        self.watch_with(Vec::new())
    }

    /// Watches for the head to move, and for one of the `files` to change.
    pub fn watch_with(&self, files: Vec<PathBuf>) -> Result<Watch> {
        Watch::new(self.storage.clone(), &self.dir, files)
    }

    /// Returns a reader while another process holds the lock and recovers the bytes after the head. If there is no head, that process is
    /// rebuilding the head; the call then returns the error `locked`.
    fn reader_beside_writer(&self, locked: Error) -> Result<Reader> {
        let slots = head::read_slots(self.storage.as_ref(), &self.dir, self.identity.log)?;
        let head = slots.newest.ok_or(locked)?;
        let settled = self.is_settled(&head);
        let witness = self.witness_behind(&head, settled)?;
        let (head, notes) = self.whole(head)?;
        let opening = Opening {
            notes,
            end_known: !settled,
            ..Opening::default()
        };
        Ok(self.reader_to(head, opening, witness))
    }

    /// Returns a reader although recovery could not write: the disk is full or read-only. The next writer recovers the
    /// log; a reader does not need the recovery.
    fn reader_where_nothing_is_written(&self, error: Error) -> Result<Reader> {
        // Recovery may have written a newer head.
        let slots = head::read_slots(self.storage.as_ref(), &self.dir, self.identity.log)?;
        match slots.newest {
            Some(head) => self.reader_without_recovery(Some(head), &error.to_string()),
            // If there is no head, the durable end is unknown.
            None if error.is_read_only() => self.reader_without_recovery(None, ""),
            None => Err(error),
        }
    }

    fn reader_without_recovery(&self, head: Option<Head>, why: &str) -> Result<Reader> {
        let head = head.ok_or_else(|| {
            let why = "no valid head slot is left, and a reader cannot rebuild the head";
            Error::corrupt(self.dir.join(HEAD_FILE), 0, None, why)
        })?;
        let settled = self.is_settled(&head);
        let witness = self.witness_behind(&head, settled)?;
        let (head, mut notes) = self.whole(head)?;
        let beyond = self.beyond(&head)?;
        if beyond > 0 {
            notes.push(format!(
                "{beyond} bytes after the durable head are not recovered: {why}"
            ));
        }
        let opening = Opening {
            beyond,
            notes,
            end_known: !settled,
            ..Opening::default()
        };
        Ok(self.reader_to(head, opening, witness))
    }

    /// Returns a reader up to the current durable head; recovers and changes nothing. For checks, and for a process without the
    /// right to write. A process that acts on the events uses [`Log::reader`].
    ///
    /// # Errors
    /// `Corrupt`, also if there is no valid head, which [`Log::reader`] may be able to rebuild; I/O.
    pub fn peek(&self) -> Result<Reader> {
        let slots = head::read_slots(self.storage.as_ref(), &self.dir, self.identity.log)?;
        self.reader_without_recovery(slots.newest, "this process only reads")
    }

    /// Returns a reader up to `head`, with the rollback that the witness shows for this head.
    fn reader_to(&self, head: Head, opening: Opening, witness: Option<Witness>) -> Reader {
        let rollback = witness.and_then(|witness| witness.against(&self.identity, &head));
        let end_known = opening.end_known || witness.is_some() || self.identity.journal.is_some();
        let mut opening = Opening {
            end_known,
            rollback: opening.rollback.or(rollback),
            ..opening
        };
        if let Some(rollback) = &opening.rollback {
            opening
                .notes
                .push(self.rolled_back(rollback.clone()).to_string());
        }
        Reader::opened(&self.storage, &self.dir, &self.identity, head, opening)
    }

    /// Reads the witness; `None` if the witness is unknown.
    pub(crate) fn witness(&self) -> Option<Witness> {
        Witness::read(self.storage.as_ref(), &self.dir)
    }

    /// Returns `true` if the log may end at `head` according to `witness`. If not, later events are lost, or wait to be adopted.
    fn is_plausible(&self, head: &Head, witness: Option<Witness>) -> bool {
        let shown = witness.and_then(|witness| witness.against(&self.identity, head));
        shown.is_none()
    }

    /// Returns `true` if no events after `head` can be waiting to be adopted.
    fn is_settled(&self, head: &Head) -> bool {
        let flagged = head.rotating || head.quarantining;
        !flagged && self.beyond(head).is_ok_and(|beyond| beyond == 0)
    }

    /// Returns the witness to compare with `head`; `None` if the log is not settled, or if the head has moved meanwhile.
    fn witness_behind(&self, head: &Head, settled: bool) -> Result<Option<Witness>> {
        match self.witness().filter(|_| settled) {
            // The witness is read after the head, which may have moved meanwhile.
            Some(witness) if !self.is_plausible(head, Some(witness)) => {
                let slots = head::read_slots(self.storage.as_ref(), &self.dir, self.identity.log)?;
                Ok(Some(witness).filter(|_| slots.newest.as_ref() == Some(head)))
            }
            witness => Ok(witness),
        }
    }

    /// Returns true if the log ends at its head.
    fn ends_with(&self, head: &Head) -> Result<bool> {
        let broken = unsynced::broken(&self.storage, &self.dir, &self.identity, head)?;
        Ok(broken.is_none() && self.beyond(head)? == 0)
    }

    /// Returns a head that names only existing bytes, without recovery. Also returns notes about the missing bytes.
    pub(crate) fn whole(&self, head: Head) -> Result<(Head, Vec<String>)> {
        let broken = unsynced::broken(&self.storage, &self.dir, &self.identity, &head)?;
        Ok(match broken {
            Some(Broken { whole, .. }) => {
                let note = unsynced::taken(&whole, &head);
                (whole, vec![note])
            }
            None => (head, Vec::new()),
        })
    }

    /// Returns the number of bytes of the active segment past the head. If the segment is shorter than the head says, the log is
    /// damaged.
    fn beyond(&self, head: &Head) -> Result<u64> {
        if head.segment == 0 {
            return Ok(0);
        }
        let path = self.dir.join(EVENTS_DIR).join(&head.name);
        let stat = self.storage.named().stat(&path)?;
        match stat.map(|stat| stat.len) {
            None => Err(head.segment_missing(path)),
            Some(len) if len < head.end => Err(head.cut_short(&path, len)),
            Some(len) if len == head.end || !self.identity.may_prewrite() => Ok(len - head.end),
            Some(_) => self.beyond_zeros(head, &path),
        }
    }

    /// Returns the number of bytes past the head in a file with zeros ahead. Written bytes begin directly after the head, and
    /// their first byte is not zero. If bytes are elsewhere, the next writer handles them.
    fn beyond_zeros(&self, head: &Head, path: &Path) -> Result<u64> {
        let Some(file) = self.storage.named().open_if_there(path, OpenMode::Read)? else {
            return Ok(0);
        };
        // A writer may cut the file before this read. Then there are no bytes past the head.
        let first = if_long_enough(file.read_range(head.end..head.end + 1))?;
        if first.is_none_or(|first| first == [0]) {
            return Ok(0);
        }
        let end = if_long_enough(end_of_log(&self.identity, &file, head.end))?;
        Ok(end.map_or(0, |end| end - head.end))
    }
}
