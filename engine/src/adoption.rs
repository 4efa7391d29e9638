//! Adoption: gives a log to a journal, or takes the log off the journal again. The log's id, seqs, segments and receipts stay
//! unchanged.
//!
//! `Log::adopt` has three steps. (1) Copy all groups to the journal, which does not let other hosts join yet. (2) Write the
//! journal's name into `log.json`. After this step every append goes through the journal. (3) Append the event that opens the
//! log in the journal for all hosts. If a call was interrupted, the next call continues.
//!
//! `Log::leave` has three steps, too. (1) Write the id of the leaving event into a note. (2) Append the event, which closes the
//! log in the journal. (3) Remove the journal from `log.json`. The note says which host may finish; on all other hosts the log
//! has ended. The note also keeps the ids of earlier attempts, because the journal may record an earlier attempt late.

use crate::journal::cursor::{self, CursorState};
use crate::journal::{
    Journal, LogState, PushReport, Replica, Turn, check_prefix, push, read_error,
};
use crate::layout::{JOURNAL_ADOPTED, JOURNAL_FILE, JOURNAL_LEFT, LEAVING_FILE};
use crate::log::{LockedLog, Log};
use crate::prelude::*;
use crate::reader::Reader;
use std::time::Instant;

/// Largest accepted size of the note's file, far above the size of a real note.
const NOTE_BYTES_MAX: u64 = 1 << 20;

/// Result of giving a log to a journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Adoption {
    /// The groups that the journal received.
    pub pushed: PushReport,
    /// True if this call opened the log in the journal; false if an earlier call did.
    pub changed: bool,
    /// Seq of the last event.
    pub last_seq: u64,
}

/// Payload of the events that record an adoption or a leave.
#[derive(Serialize)]
struct JournalPayload<'a> {
    journal: &'a str,
    kind: &'a str,
}

impl Log {
    /// Gives the log to a journal: copies all groups, then lets the journal order all further groups. Open the log again
    /// afterwards, because this handle still has the old identity. Calls `progress` with the number of events that the journal
    /// has, and the number of all events.
    ///
    /// # Errors
    /// `Journal`: this program cannot open the journal; the journal does not answer, has another log of this name, or has another
    /// history; or the log belongs to another journal. `Locked`, `Corrupt`, I/O.
    pub fn adopt(
        &self,
        journal: &JournalIdentity,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Adoption> {
        let mut exclusive = self.lock_alone()?;
        let identity = exclusive.identity().clone();
        let is_named = match &identity.journal {
            None => false,
            Some(own) if own.id == journal.id => true,
            Some(own) => {
                let why = format!("the log already belongs to journal {}", own.id);
                return Err(Error::journal(JournalFault::OtherJournal, why));
            }
        };
        let mut handle = self.journals(journal)?.open(journal)?;
        let named = match is_named {
            true => identity.clone(),
            false => self.admitted(&exclusive.reader(), journal, &mut *handle)?,
        };
        let loading = LogState::Loading;
        let (pushed, begins) = self.hand_over(&mut *handle, &exclusive, loading, progress)?;
        exclusive.follow(handle)?;
        if !is_named {
            exclusive.rename(named.clone())?;
        }
        let changed = exclusive.opens(begins)?;
        Ok(Adoption {
            pushed,
            changed,
            last_seq: exclusive.head().last_seq,
        })
    }

    /// Registers the log at its journal, also if the log had left the journal. Returns the new content of `log.json`.
    fn admitted(
        &self,
        reader: &Reader,
        journal: &JournalIdentity,
        handle: &mut dyn Journal,
    ) -> Result<Identity> {
        let (named, journals) = (named(reader, journal)?, self.journals(journal)?);
        let returns = match check_prefix(handle, reader) {
            Ok(()) => journals.readmit(&named)?,
            // This journal does not know the log yet, so register it.
            Err(error) if error.journal_fault() == Some(JournalFault::OtherJournal) => None,
            Err(error) => return Err(error),
        };
        let Some(there) = returns else {
            journals.enroll(&named, LogState::Loading)?;
            return Ok(named);
        };
        let there = Identity::decode(&self.dir().join(LOG_FILE), &there)?;
        let max = |identity: &Identity| {
            let journal = identity.journal.as_ref();
            journal.map_or(0, |journal| journal.segment_bytes_max)
        };
        let largest = reader.lens()?.into_iter().max().unwrap_or(0);
        if largest > max(&there) {
            let why = format!(
                "a segment of this log has {largest} bytes, but the limit of the other hosts is {}",
                max(&there)
            );
            return Err(Error::journal(JournalFault::Refused, why));
        }
        Ok(there)
    }

    /// Takes the log off its journal. The log continues on this host alone, and ends on all others. Returns the seq of the event
    /// that records this; `None` if the log has no journal. Open the log again afterwards, because this handle still has the old
    /// identity.
    ///
    /// # Errors
    /// `Journal`: the journal does not answer, or another host took the log off. `Locked`, `Corrupt`, I/O.
    pub fn leave(&self) -> Result<Option<u64>> {
        if Identity::load(self.storage().as_ref(), self.dir())?
            .journal
            .is_none()
        {
            return Ok(None);
        }
        let mut exclusive = self.lock()?;
        self.close_there(&mut exclusive)?;
        exclusive.forget_journal()?;
        let last_seq = exclusive.head().last_seq;
        drop(exclusive);
        self.remove_notes();
        Ok(Some(last_seq))
    }

    /// Takes the log off its journal without contacting the journal, for a kind of journal that this program does not support. In
    /// the journal the log stays open, so only one host may call this. Returns the seq of the event that records the leave,
    /// `None` if the log has no journal. Open the log again afterwards, because this handle still has the old identity.
    ///
    /// # Errors
    /// `Locked`, `Corrupt`, I/O.
    pub fn leave_offline(&self) -> Result<Option<u64>> {
        let mut exclusive = self.lock_alone()?;
        if exclusive.identity().journal.is_none() {
            return Ok(None);
        }
        let left = event(JOURNAL_LEFT, exclusive.identity())?;
        exclusive.forget_journal()?;
        let now = exclusive.core.now();
        exclusive.core.push(now, vec![left])?;
        exclusive.core.flush()?;
        let last_seq = exclusive.head().last_seq;
        drop(exclusive);
        self.remove_notes();
        Ok(Some(last_seq))
    }

    /// Removes the files that a log without a journal does not use.
    fn remove_notes(&self) {
        for file in [LEAVING_FILE, JOURNAL_FILE] {
            let _ = self.storage().remove_file(&self.dir().join(file));
        }
    }

    /// Copies groups of this host to the journal if the journal lost these groups: the journal was restored from an older
    /// state, or a server without all groups took over. The journal compares the groups, so no group is recorded twice.
    ///
    /// # Errors
    /// `Journal`: the journal has another history (and is left unchanged), or does not answer; `Locked`, `Corrupt`, I/O.
    pub fn heal(&self, progress: &mut dyn FnMut(u64, u64)) -> Result<Option<PushReport>> {
        let mut exclusive = self.lock_alone()?;
        let identity = exclusive.identity().clone();
        let Some(journal) = &identity.journal else {
            return Ok(None);
        };
        let journals = self.journals(journal)?;
        let mut handle = self.journal(journal)?;
        // A journal that was restored from a state before the adoption does not know the log, and gets all groups.
        let state = match journals.enroll(&identity, LogState::Loading) {
            Ok(()) => LogState::Loading,
            // The journal already knows the log.
            Err(error) if error.journal_fault() == Some(JournalFault::Refused) => LogState::Open,
            Err(error) => return Err(error),
        };
        let (pushed, begins) = self.hand_over(&mut *handle, &exclusive, state, progress)?;
        if state == LogState::Loading {
            exclusive.follow(handle)?;
            exclusive.opens(begins)?;
        }
        Ok(Some(pushed))
    }

    /// Accepts, for this host alone, that the journal of this log is on another system of servers than before. The operator must
    /// know that the database was moved, and that the former servers accept no writes. Returns the system ids before and now (0
    /// for an unknown id), `None` if the log has no journal.
    ///
    /// # Errors
    /// `Journal`: the journal does not answer. `Locked`, `Corrupt`, I/O.
    pub fn accept_system(&self) -> Result<Option<(u64, u64)>> {
        let exclusive = self.lock_alone()?;
        let Some(journal) = &exclusive.identity().journal else {
            return Ok(None);
        };
        let mut handle = self.journals(journal)?.open(journal)?;
        let last_seq = exclusive.head().last_seq;
        let term = handle.term().map_err(|error| read_error(error, last_seq))?;
        let (storage, identity) = (self.storage().as_ref(), exclusive.identity());
        // If there is no cursor file, the next read of the journal stores the system id.
        let Some(kept) = cursor::read(storage, self.dir(), identity) else {
            return Ok(Some((0, term.system)));
        };
        let was = kept.term.system;
        if was != term.system {
            CursorState { term, ..kept }.keep(storage, self.dir(), identity, true)?;
        }
        Ok(Some((was, term.system)))
    }

    /// Copies to a journal the groups that the journal lacks; `state` is the log's state in the journal.
    fn hand_over(
        &self,
        journal: &mut dyn Journal,
        exclusive: &LockedLog,
        state: LogState,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<(PushReport, Vec<String>)> {
        let deadline = self.options().lock_deadline;
        push(journal, state, &exclusive.reader(), deadline, progress)
    }

    /// Appends the event that closes the log in its journal. Writes the id of the event into the note first. Tries again with a new event
    /// if another host appended before. The journal may record an earlier attempt late, so the note keeps all ids.
    fn close_there(&self, exclusive: &mut LockedLog) -> Result<()> {
        let note = self.dir().join(LEAVING_FILE);
        let mut noted = self.noted()?;
        let turn = Turn {
            to: LogState::Left,
            begins: Vec::new(),
        };
        let started = Instant::now();
        loop {
            if exclusive
                .head()
                .last_id
                .is_some_and(|id| noted.contains(&id))
            {
                return Ok(());
            }
            let event = event(JOURNAL_LEFT, exclusive.identity())?;
            let turned = exclusive.core.turn(event, &turn, |id| {
                noted.push(id);
                let lines: String = noted.iter().map(|id| format!("{id}\n")).collect();
                self.storage().named().replace(&note, lines.as_bytes())
            });
            match turned {
                Err(error) if error.is_conflict() => {
                    exclusive.core.catch_up()?;
                    let last = exclusive.head().last_id;
                    if self.is_over(started) && !last.is_some_and(|id| noted.contains(&id)) {
                        return Err(error);
                    }
                }
                turned => return turned,
            }
        }
    }

    fn is_over(&self, started: Instant) -> bool {
        started.elapsed() >= self.options().lock_deadline
    }

    /// Reads the ids of the leaving events that this host tried to append.
    fn noted(&self) -> Result<Vec<EventId>> {
        let note = self.dir().join(LEAVING_FILE);
        let lines = self
            .storage()
            .named()
            .read_if_there(&note, NOTE_BYTES_MAX)?;
        let lines = lines.unwrap_or_default();
        Ok(lines
            .split(|byte| *byte == b'\n')
            .filter_map(EventId::from_text)
            .collect())
    }
}

impl LockedLog {
    /// Removes the journal from `log.json`.
    fn forget_journal(&mut self) -> Result<()> {
        let identity = self.identity().clone();
        self.rename(Identity {
            journal: None,
            ..identity
        })
    }

    /// Replaces `log.json` by another identity of the same log.
    fn rename(&mut self, identity: Identity) -> Result<()> {
        assert_eq!(
            identity.log, self.core.identity.log,
            "log.json must go on naming the same log"
        );
        self.check_lock()?;
        // A log without a journal cannot get groups back after a power loss, so all groups must be durable now.
        self.core.sync_deferred()?;
        let path = self.core.dir.join(LOG_FILE);
        let storage = self.core.storage.named();
        storage.replace(&path, &identity.encode())?;
        if let Some(journal) = &identity.journal {
            self.core.options.segment_bytes_max = journal.segment_bytes_max;
        }
        self.core.identity = identity;
        Ok(())
    }

    /// Makes all further appends go through the journal: takes in groups of other hosts, and compares the clocks.
    fn follow(&mut self, journal: Box<dyn Journal>) -> Result<()> {
        let fold_version = self.core.options.fold_version;
        let mut replica = Replica::open(journal, &self.reader(), fold_version)?;
        // All groups are durable, because a log without a journal syncs each group.
        replica.mark_synced();
        self.core.replica = Some(replica);
        self.core.catch_up()?;
        self.core
            .replica
            .as_ref()
            .map_or(Ok(()), Replica::check_clock)
    }

    /// Appends the event that opens the log in its journal for all hosts. Returns true if this call opened the log.
    fn opens(&mut self, begins: Vec<String>) -> Result<bool> {
        let turn = Turn {
            to: LogState::Open,
            begins,
        };
        let event = event(JOURNAL_ADOPTED, &self.core.identity)?;
        match self.core.turn(event, &turn, |_| Ok(())) {
            Ok(()) => Ok(true),
            // An earlier call opened the log, although its answer may have been lost.
            Err(error)
                if error.is_conflict() || error.journal_fault() == Some(JournalFault::Opened) =>
            {
                self.core.catch_up()?;
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }
}

/// Returns the content of `log.json` for a log that is given to a journal. The limit for segments is raised to the size of the
/// largest existing segment.
fn named(reader: &Reader, journal: &JournalIdentity) -> Result<Identity> {
    let mut max = journal.segment_bytes_max;
    for len in reader.lens()? {
        max = max.max(len);
    }
    let journal = JournalIdentity {
        segment_bytes_max: max,
        ..journal.clone()
    };
    let identity = reader.identity().clone();
    Ok(Identity {
        journal: Some(journal),
        ..identity
    })
}

fn event(kind: &'static str, identity: &Identity) -> Result<NewEvent> {
    let journal = identity.journal.as_ref();
    let named = JournalPayload {
        journal: journal.map_or("", |journal| &journal.id),
        kind: journal.map_or("", |journal| &journal.kind),
    };
    NewEvent::for_payload(kind, ENGINE_ACTOR, &named)
}
