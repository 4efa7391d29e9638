//! A journal in memory, shared by its clones. Tests use this journal as the model for every other journal.

use super::{
    Append, Journal, JournalGroup, Journals, LogState, Outcome, Page, Position, ReadError, Term,
};
use crate::clock::Clock;
use crate::prelude::*;
use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The check before a group is appended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Compares {
    /// Compares the position: seq and digest.
    #[default]
    Position,
    /// Checks only that no group of the journal begins with the same seq, so gaps and forks are accepted. Tests use this broken
    /// mode to show that they would detect gaps and forks.
    FirstSeq,
}

/// A journal in memory.
#[derive(Clone, Default)]
pub struct MemoryJournal {
    content: Arc<Mutex<Content>>,
    compares: Compares,
    /// Clock of the journal, if it has one.
    clock: Option<Arc<dyn Clock>>,
}

#[derive(Default)]
struct Content {
    groups: HashMap<LogId, Vec<Stored>>,
    /// Enrolled logs, by name.
    enrolled: HashMap<String, Identity>,
    /// States of logs that are not open.
    states: HashMap<LogId, LogState>,
    /// Logs that left and are being loaded again.
    returning: HashSet<LogId>,
    blobs: HashMap<(LogId, String), Vec<u8>>,
    /// Required fold versions.
    fold_versions: HashMap<LogId, u32>,
    /// Digests of states that handles noted, by event.
    noted: HashMap<(LogId, u64), Vec<String>>,
}

struct Stored {
    after: Position,
    group: JournalGroup,
}

impl MemoryJournal {
    /// Creates an empty journal.
    pub fn new(compares: Compares) -> MemoryJournal {
        MemoryJournal {
            compares,
            ..MemoryJournal::default()
        }
    }

    /// Sets the journal's clock.
    #[must_use]
    pub fn with_clock(self, clock: Arc<dyn Clock>) -> MemoryJournal {
        MemoryJournal {
            clock: Some(clock),
            ..self
        }
    }

    /// Returns all groups of a log, in order.
    pub fn groups(&self, log: LogId) -> Vec<JournalGroup> {
        let content = self.content();
        let stored = content.groups.get(&log).into_iter().flatten();
        stored.map(|stored| stored.group.clone()).collect()
    }

    /// Returns the log with this name.
    pub fn find(&self, name: &str) -> Option<Identity> {
        self.content().enrolled.get(name).cloned()
    }

    /// Removes all groups of a log except the first `groups` groups, like a journal that is restored from an older
    /// copy. Afterwards the log is open in the journal.
    pub fn put_back(&self, log: LogId, groups: usize) {
        let mut content = self.content();
        content.states.remove(&log);
        if let Some(stored) = content.groups.get_mut(&log) {
            stored.truncate(groups);
        }
    }

    fn content(&self) -> MutexGuard<'_, Content> {
        self.content.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Content {
    fn state(&self, log: LogId) -> LogState {
        self.states.get(&log).copied().unwrap_or_default()
    }

    fn append(&mut self, append: &Append<'_>, wanted: LogState, compares: Compares) -> Outcome {
        let state = self.state(append.log);
        let stored = self.groups.entry(append.log).or_default();
        let same_place = |stored: &&Stored| stored.after.last_seq == append.after.last_seq;
        if let Some(there) = stored.iter().find(same_place) {
            return match there.group.position == append.position {
                true => Outcome::Appended,
                false => Outcome::Conflict,
            };
        }
        let base = stored
            .first()
            .map_or(Position::default(), |first| first.after);
        let end = end_of(stored);
        if compares == Compares::Position && end != append.after {
            let stood = |one: &Stored| one.group.position == append.after;
            return match append.after.last_seq < base.last_seq || stored.iter().any(stood) {
                true => Outcome::Conflict,
                false => Outcome::Forked,
            };
        }
        if state != wanted {
            return Outcome::Closed(state);
        }
        stored.push(Stored {
            after: append.after,
            group: JournalGroup {
                position: append.position,
                bytes: append.bytes.to_vec(),
                begins: append.begins.to_vec(),
            },
        });
        Outcome::Appended
    }

    fn enroll(&mut self, identity: &Identity, state: LogState) -> bool {
        if self.returning.contains(&identity.log) {
            return false;
        }
        let is_its = match self.enrolled.get(&identity.name) {
            None => true,
            Some(there) if self.state(there.log) != state => false,
            Some(there) => {
                there == identity || there.log == identity.log && state == LogState::Loading
            }
        };
        if is_its {
            let before = self
                .enrolled
                .insert(identity.name.clone(), identity.clone());
            if before.is_none() {
                self.states.insert(identity.log, state);
            }
        }
        is_its
    }
}

fn end_of(stored: &[Stored]) -> Position {
    stored
        .last()
        .map_or(Position::default(), |stored| stored.group.position)
}

impl std::fmt::Debug for MemoryJournal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("MemoryJournal")
    }
}

impl Journals for MemoryJournal {
    fn open(&self, _: &JournalIdentity) -> Result<Box<dyn Journal>> {
        Ok(Box::new(self.clone()))
    }

    fn enroll(&self, identity: &Identity, state: LogState) -> Result<()> {
        match self.content().enroll(identity, state) {
            true => Ok(()),
            false => {
                let name = &identity.name;
                let why =
                    format!("the journal has another log named {name}, or had this log before");
                Err(Error::journal(JournalFault::Refused, why))
            }
        }
    }

    fn readmit(&self, identity: &Identity) -> Result<Option<Vec<u8>>> {
        let mut content = self.content();
        let there = content.enrolled.get(&identity.name).cloned();
        let Some(there) = there.filter(|there| there.log == identity.log) else {
            return Ok(None);
        };
        if content.state(there.log) == LogState::Left {
            content.states.insert(there.log, LogState::Loading);
            content.returning.insert(there.log);
        }
        let returns = content.returning.contains(&there.log);
        Ok(returns.then(|| there.encode()))
    }
}

impl Journal for MemoryJournal {
    fn append(&mut self, groups: &[Append<'_>], state: LogState) -> Vec<Outcome> {
        let mut content = self.content();
        let append = |group: &Append<'_>| content.append(group, state, self.compares);
        groups.iter().map(append).collect()
    }

    fn turn(&mut self, group: &Append<'_>, to: LogState) -> Outcome {
        let mut content = self.content();
        let outcome = content.append(group, to.before(), self.compares);
        if outcome == Outcome::Appended {
            content.states.insert(group.log, to);
            content.returning.remove(&group.log);
        }
        outcome
    }

    fn put_blob(&mut self, log: LogId, digest: &str, bytes: &[u8]) -> Result<(), ReadError> {
        let mut content = self.content();
        let blob = content.blobs.entry((log, digest.to_owned()));
        blob.or_insert_with(|| bytes.to_vec());
        Ok(())
    }

    fn blob(&mut self, log: LogId, digest: &str) -> Result<Option<Vec<u8>>, ReadError> {
        let key = (log, digest.to_owned());
        Ok(self.content().blobs.get(&key).cloned())
    }

    fn compare_state(
        &mut self,
        log: LogId,
        seq: u64,
        digest: &str,
    ) -> Result<Vec<String>, ReadError> {
        let mut content = self.content();
        let noted = content.noted.entry((log, seq)).or_default();
        noted.push(digest.to_owned());
        let others = noted.iter().filter(|other| *other != digest);
        Ok(others.map(|_| "another host".to_owned()).collect())
    }

    fn raise_fold_version(&mut self, log: LogId, version: u32) -> Result<(), ReadError> {
        let mut content = self.content();
        let named = content.fold_versions.entry(log).or_default();
        *named = version.max(*named);
        Ok(())
    }

    fn read(&mut self, log: LogId, after: Position, bytes_max: usize) -> Result<Page, ReadError> {
        let content = self.content();
        let stored = content.groups.get(&log).map_or(&[][..], Vec::as_slice);
        let is_there = |stored: &Stored| match self.compares {
            Compares::Position => stored.group.position == after,
            Compares::FirstSeq => stored.group.position.last_seq == after.last_seq,
        };
        let base = stored
            .first()
            .map_or(Position::default(), |first| first.after);
        if after.last_seq < base.last_seq {
            return Err(ReadError::Trimmed(base.last_seq));
        }
        let from = match after == base {
            true => 0,
            false => stored
                .iter()
                .position(is_there)
                .map(|at| at + 1)
                .ok_or_else(|| match end_of(stored).last_seq {
                    end if end < after.last_seq => ReadError::Behind(end),
                    _ => ReadError::Forked,
                })?,
        };
        let behind = stored.get(from..).unwrap_or_default();
        let mut bytes = 0;
        let fits = |stored: &&Stored| {
            let fits = bytes < bytes_max;
            bytes += stored.group.bytes.len();
            fits
        };
        let groups: Vec<JournalGroup> = behind
            .iter()
            .take_while(fits)
            .map(|stored| stored.group.clone())
            .collect();
        Ok(Page {
            more: groups.len() < behind.len(),
            groups,
            now: self.clock.as_ref().map(|clock| clock.now()),
            term: Term::default(),
            fold_version: content.fold_versions.get(&log).copied().unwrap_or(0),
        })
    }
}
