//! Reading a log: up to its head, without a lock; what a crash left is recovered where nobody else is at it.

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
    /// A reader up to the durable head of this moment. It waits for no lock. If bytes lie past the head (or there is no head)
    /// and the lock is free, it first recovers the log as a writer does. If the files cannot be written, it reads up to the
    /// head and leaves the bytes behind it.
    pub fn reader(&self) -> Result<Reader> {
        match self.reader_as_known() {
            // A conversion may have put another log in the place of the one that this handle knows.
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
        // Before the head: a writer moves it on after the head.
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

    /// The head is another log's: a salvage may have been cut short behind its decision, and is finished.
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

    /// Watches for the head to move, or another log to take this one's place. To miss nothing, create the watch first, then
    /// read, then wait.
    pub fn watch(&self) -> Result<Watch> {
        Watch::new(self.storage.clone(), &self.dir)
    }

    /// Another process has the lock: what lies past the head is its business. If there is no head, that process is rebuilding
    /// it, and the answer is the error `locked`.
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

    /// Recovery failed because nothing can be written: the disk is full or read-only. The next writer will recover; a reader
    /// does not need it.
    fn reader_where_nothing_is_written(&self, error: Error) -> Result<Reader> {
        // Recovery may have come as far as a newer head.
        let slots = head::read_slots(self.storage.as_ref(), &self.dir, self.identity.log)?;
        match slots.newest {
            Some(head) => self.reader_without_recovery(Some(head), &error.to_string()),
            // Nothing but a head says how far the log was durable.
            None if error.is_read_only() => self.reader_without_recovery(None, ""),
            None => Err(error),
        }
    }

    fn reader_without_recovery(&self, head: Option<Head>, why: &str) -> Result<Reader> {
        let head = head.ok_or_else(|| {
            let why =
                "no valid head slot is left, and nothing is rebuilt while the log is only read";
            Error::corrupt(self.dir.join(HEAD_FILE), 0, None, why)
        })?;
        let settled = self.is_settled(&head);
        let witness = self.witness_behind(&head, settled)?;
        let (head, mut notes) = self.whole(head)?;
        let beyond = self.beyond(&head)?;
        if beyond > 0 {
            notes.push(format!(
                "{beyond} bytes lie beyond the durable head, and stay there until a command can recover them: {why}"
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

    /// A reader up to the durable head as it is found: recovers nothing, changes nothing. For checks, and for a process
    /// that may write no more; to act on what is read, use [`Log::reader`].
    ///
    /// # Errors
    /// `Corrupt`, also where there is no valid head, which [`Log::reader`] may be able to rebuild; I/O.
    pub fn peek(&self) -> Result<Reader> {
        let slots = head::read_slots(self.storage.as_ref(), &self.dir, self.identity.log)?;
        self.reader_without_recovery(slots.newest, "this process only reads")
    }

    /// A reader that says what the witness shows of that head.
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

    /// The witness; `None` where it is unknown.
    pub(crate) fn witness(&self) -> Option<Witness> {
        Witness::read(self.storage.as_ref(), &self.dir)
    }

    /// Returns `true` if `witness` allows the log to end at `head`. If not, later events wait to be adopted or are lost.
    fn is_plausible(&self, head: &Head, witness: Option<Witness>) -> bool {
        let shown = witness.and_then(|witness| witness.against(&self.identity, head));
        shown.is_none()
    }

    /// Returns `true` if no events after `head` can be waiting to be adopted.
    fn is_settled(&self, head: &Head) -> bool {
        let flagged = head.rotating || head.quarantining;
        !flagged && self.beyond(head).is_ok_and(|beyond| beyond == 0)
    }

    /// The witness that counts where nothing is recovered; `None` where the log is not settled.
    fn witness_behind(&self, head: &Head, settled: bool) -> Result<Option<Witness>> {
        match self.witness().filter(|_| settled) {
            // It is read after the head, which may have moved on meanwhile.
            Some(witness) if !self.is_plausible(head, Some(witness)) => {
                let slots = head::read_slots(self.storage.as_ref(), &self.dir, self.identity.log)?;
                Ok(Some(witness).filter(|_| slots.newest.as_ref() == Some(head)))
            }
            witness => Ok(witness),
        }
    }

    /// Whether the log is as its head says, so far as that is looked at, and nothing is behind it.
    fn ends_with(&self, head: &Head) -> Result<bool> {
        let broken = unsynced::broken(&self.storage, &self.dir, &self.identity, head)?;
        Ok(broken.is_none() && self.beyond(head)? == 0)
    }

    /// A head that names no more than is there, where nothing is recovered; and what that leaves out.
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

    /// Bytes of the active segment past the head. Fewer bytes than the head says is damage.
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

    /// The same of a file that goes on: what was acknowledged begins right behind the head, and its first byte is not zero.
    /// Whatever lies elsewhere is for the next writer to see.
    fn beyond_zeros(&self, head: &Head, path: &Path) -> Result<u64> {
        let Some(file) = self.storage.named().open_if_there(path, OpenMode::Read)? else {
            return Ok(0);
        };
        // A writer may cut the file meanwhile, and then there is nothing.
        let first = if_long_enough(file.read_range(head.end..head.end + 1))?;
        if first.is_none_or(|first| first == [0]) {
            return Ok(0);
        }
        let end = if_long_enough(end_of_log(&self.identity, &file, head.end))?;
        Ok(end.map_or(0, |end| end - head.end))
    }
}
