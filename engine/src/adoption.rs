//! Giving a log to a journal, and taking it off again: its id, seqs, segments and receipts stay.
//!
//! It is given in three steps. The journal gets all groups, and lets nobody join yet. Then `log.json` names the journal, from
//! where on nothing is recorded here without it: this is the decision. Then one group, the event about it, opens the log there
//! for all hosts. Whatever interrupts it, doing it again goes on where it ended.
//!
//! It is taken off in three steps, too: the id of the event about it is noted here, the event closes the log in the journal,
//! and `log.json` no longer names the journal. The note says which host may finish that: on all others the log has ended. It
//! keeps the ids of earlier tries, one of which may come to stand there late.

use crate::journal::cursor::{self, Kept};
use crate::journal::{Journal, LogState, Pushed, Replica, Turn, check_prefix, of_read, push};
use crate::layout::{JOURNAL_ADOPTED, JOURNAL_FILE, JOURNAL_LEFT, LEAVING_FILE};
use crate::log::{LockedLog, Log};
use crate::prelude::*;
use crate::reader::Reader;
use std::time::Instant;

/// More than a note of events ever has.
const NOTE_BYTES_MAX: u64 = 1 << 20;

/// What giving a log to a journal did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Adoption {
    /// What the journal was handed.
    pub pushed: Pushed,
    /// Whether the log is the journal's by this call.
    pub changed: bool,
    /// Seq of the last event.
    pub last_seq: u64,
}

/// The payload of the events.
#[derive(Serialize)]
struct Named<'a> {
    journal: &'a str,
    kind: &'a str,
}

impl Log {
    /// Gives the log to a journal: all of its groups, and from now on that orders them. This handle knows the log as it was:
    /// open it again. `progress` hears how many events the journal has, of how many.
    ///
    /// # Errors
    /// `Journal`: it is not known here, does not answer, has another log of that name or another history, or the log is
    /// another journal's; `Locked`, `Corrupt`, I/O.
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
                let why = format!("the log is journal {}'s already", own.id);
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

    /// Makes the log known to its journal, or known again if it was taken off it; returns what `log.json` is to say.
    fn admitted(
        &self,
        reader: &Reader,
        journal: &JournalIdentity,
        handle: &mut dyn Journal,
    ) -> Result<Identity> {
        let (named, journals) = (named(reader, journal)?, self.journals(journal)?);
        let returns = match check_prefix(handle, reader) {
            Ok(()) => journals.readmit(&named)?,
            // The journal does not know the log.
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
                "a segment has {largest} bytes by now, and on the other hosts none has more than {}",
                max(&there)
            );
            return Err(Error::journal(JournalFault::Refused, why));
        }
        Ok(there)
    }

    /// Takes the log off its journal: it goes on here alone, and ends on all other hosts. `None` where it has none. This handle
    /// knows the log as it was: open it again.
    ///
    /// # Errors
    /// `Journal`: it does not answer, or another host took the log off; `Locked`, `Corrupt`, I/O.
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

    /// Takes the log off its journal without asking the journal: for a kind that this program does not support. The log is not
    /// closed there, so that only one host may do this. Returns the seq of the event that records it, `None` if the log has no
    /// journal. This handle knows the log as it was: open it again.
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

    /// Removes the files that mean nothing for a log without a journal.
    fn remove_notes(&self) {
        for file in [LEAVING_FILE, JOURNAL_FILE] {
            let _ = self.storage().remove_file(&self.dir().join(file));
        }
    }

    /// Hands its journal what that lacks of what this host has: an older state of it was put back, or a server without all of
    /// it took over. The same groups, so that nothing is recorded twice.
    ///
    /// # Errors
    /// `Journal`: it has another history, of which nothing is changed; it does not answer; `Locked`, `Corrupt`, I/O.
    pub fn heal(&self, progress: &mut dyn FnMut(u64, u64)) -> Result<Option<Pushed>> {
        let mut exclusive = self.lock_alone()?;
        let identity = exclusive.identity().clone();
        let Some(journal) = &identity.journal else {
            return Ok(None);
        };
        let journals = self.journals(journal)?;
        let mut handle = self.journal(journal)?;
        // It may be older than the log, and then gets all of it.
        let state = match journals.enroll(&identity, LogState::Loading) {
            Ok(()) => LogState::Loading,
            // It knows the log.
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

    /// Accepts that the journal of this log is on another system of servers than before, on this host alone: a person knows that the
    /// database was moved, and that the former one takes nothing any more. Returns the id of the system before and now, `None`
    /// if the log has no journal. An id of 0 was not known.
    ///
    /// # Errors
    /// `Journal`: it does not answer; `Locked`, `Corrupt`, I/O.
    pub fn accept_system(&self) -> Result<Option<(u64, u64)>> {
        let exclusive = self.lock_alone()?;
        let Some(journal) = &exclusive.identity().journal else {
            return Ok(None);
        };
        let mut handle = self.journals(journal)?.open(journal)?;
        let last_seq = exclusive.head().last_seq;
        let term = handle.term().map_err(|error| of_read(error, last_seq))?;
        let (storage, identity) = (self.storage().as_ref(), exclusive.identity());
        // Without a note the next read learns the system.
        let Some(kept) = cursor::read(storage, self.dir(), identity) else {
            return Ok(Some((0, term.system)));
        };
        let was = kept.term.system;
        if was != term.system {
            Kept { term, ..kept }.keep(storage, self.dir(), identity, true)?;
        }
        Ok(Some((was, term.system)))
    }

    /// Hands a journal what it lacks of the log, which is in that state there.
    fn hand_over(
        &self,
        journal: &mut dyn Journal,
        exclusive: &LockedLog,
        state: LogState,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<(Pushed, Vec<String>)> {
        let deadline = self.options().lock_deadline;
        push(journal, state, &exclusive.reader(), deadline, progress)
    }

    /// Closes the log in its journal by an event about it, which this host notes before. Where another host records something
    /// first, once more behind that. An earlier one may come to stand there late, so none that was noted is forgotten.
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

    /// The events by which this host was to take the log off.
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
    /// Makes `log.json` name no journal.
    fn forget_journal(&mut self) -> Result<()> {
        let identity = self.identity().clone();
        self.rename(Identity {
            journal: None,
            ..identity
        })
    }

    /// Makes another identity of the same log the one that counts.
    fn rename(&mut self, identity: Identity) -> Result<()> {
        assert_eq!(
            identity.log, self.core.identity.log,
            "log.json must go on naming the same log"
        );
        self.check_lock()?;
        // Without a journal nothing brings back what a power loss takes.
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

    /// From here on what is recorded goes through the journal. Takes in what others recorded, and holds the clock against its.
    fn follow(&mut self, journal: Box<dyn Journal>) -> Result<()> {
        let fold_version = self.core.options.fold_version;
        let mut replica = Replica::open(journal, &self.reader(), fold_version)?;
        // Without a journal each group was synced.
        replica.mark_synced();
        self.core.replica = Some(replica);
        self.core.catch_up()?;
        self.core
            .replica
            .as_ref()
            .map_or(Ok(()), Replica::check_clock)
    }

    /// Opens the log in its journal by an event about it; whether this call did.
    fn opens(&mut self, begins: Vec<String>) -> Result<bool> {
        let turn = Turn {
            to: LogState::Open,
            begins,
        };
        let event = event(JOURNAL_ADOPTED, &self.core.identity)?;
        match self.core.turn(event, &turn, |_| Ok(())) {
            Ok(()) => Ok(true),
            // An earlier call did it, whether it heard so or not.
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

/// What `log.json` says of a log that is given to a journal. Its segments may be of any size by now, and none ends earlier.
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
    let named = Named {
        journal: journal.map_or("", |journal| &journal.id),
        kind: journal.map_or("", |journal| &journal.kind),
    };
    NewEvent::of(kind, ENGINE_ACTOR, &named)
}
