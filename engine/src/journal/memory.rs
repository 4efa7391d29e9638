//! A journal in memory, shared by its clones: the model that every other journal is held against.

use super::{
    Append, Journal, JournalGroup, Journals, LogState, Outcome, Page, Position, ReadError,
};
use crate::error::{Error, JournalFault, Result};
use crate::identity::{Identity, JournalIdentity, LogId};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What a journal compares before it takes a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Compares {
    /// The position: seq and digest.
    #[default]
    Position,
    /// Only that no group begins with that seq, which accepts gaps and forks. For tests that have to find out.
    FirstSeq,
}

/// A journal in memory.
#[derive(Clone, Default)]
pub struct MemoryJournal {
    logs: Arc<Mutex<HashMap<LogId, Vec<Stored>>>>,
    enrolled: Arc<Mutex<HashMap<String, Identity>>>,
    blobs: Arc<Mutex<HashMap<(LogId, String), Vec<u8>>>>,
    /// Of those that are not open.
    states: Arc<Mutex<HashMap<LogId, LogState>>>,
    compares: Compares,
}

#[derive(Clone)]
struct Stored {
    after: Position,
    group: JournalGroup,
}

impl MemoryJournal {
    /// An empty one.
    #[must_use]
    pub fn new(compares: Compares) -> MemoryJournal {
        MemoryJournal {
            compares,
            ..MemoryJournal::default()
        }
    }

    /// All groups of a log, in the order in which they were taken.
    #[must_use]
    pub fn groups(&self, log: LogId) -> Vec<JournalGroup> {
        let logs = self.logs();
        let stored = logs.get(&log).into_iter().flatten();
        stored.map(|stored| stored.group.clone()).collect()
    }

    /// The log of a team.
    #[must_use]
    pub fn find(&self, team: &str) -> Option<Identity> {
        self.enrolled().get(team).cloned()
    }

    /// Forgets all groups of a log but the first ones, as a journal does that is put back from an older copy.
    pub fn put_back(&self, log: LogId, groups: usize) {
        if let Some(stored) = self.logs().get_mut(&log) {
            stored.truncate(groups);
        }
    }

    /// What it does with a log.
    #[must_use]
    pub fn state(&self, log: LogId) -> LogState {
        self.states().get(&log).copied().unwrap_or_default()
    }

    fn blobs(&self) -> MutexGuard<'_, HashMap<(LogId, String), Vec<u8>>> {
        self.blobs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn states(&self) -> MutexGuard<'_, HashMap<LogId, LogState>> {
        self.states.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn logs(&self) -> MutexGuard<'_, HashMap<LogId, Vec<Stored>>> {
        self.logs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn enrolled(&self) -> MutexGuard<'_, HashMap<String, Identity>> {
        let enrolled = self.enrolled.lock();
        enrolled.unwrap_or_else(PoisonError::into_inner)
    }

    fn append_one(&self, append: &Append<'_>, wanted: LogState) -> Outcome {
        let mut logs = self.logs();
        let stored = logs.entry(append.log).or_default();
        let same_place = |stored: &&Stored| stored.after.last_seq == append.after.last_seq;
        if let Some(there) = stored.iter().find(same_place) {
            return match there.group.position == append.position {
                true => Outcome::Appended,
                false => Outcome::Conflict,
            };
        }
        let end = end_of(stored);
        if self.compares == Compares::Position && end != append.after {
            return match stored.iter().any(|one| one.group.position == append.after) {
                true => Outcome::Conflict,
                false => Outcome::Forked,
            };
        }
        let state = self.state(append.log);
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
        let mut enrolled = self.enrolled();
        let loads = |there: &Identity| {
            there.log == identity.log && self.state(there.log) == LogState::Loading
        };
        match enrolled.get(&identity.team) {
            Some(there) if there != identity && !loads(there) => {
                return Err(Error::Journal {
                    fault: JournalFault::Refused,
                    why: format!("it has a log of team {} already", identity.team),
                });
            }
            Some(_) => {}
            None => {
                self.states().insert(identity.log, state);
            }
        }
        enrolled.insert(identity.team.clone(), identity.clone());
        Ok(())
    }
}

impl Journal for MemoryJournal {
    fn append(&mut self, groups: &[Append<'_>], state: LogState) -> Vec<Outcome> {
        let append = |group: &Append<'_>| self.append_one(group, state);
        groups.iter().map(append).collect()
    }

    fn turn(&mut self, group: &Append<'_>, to: LogState) -> Outcome {
        let outcome = self.append_one(group, to.before());
        if outcome == Outcome::Appended {
            self.states().insert(group.log, to);
        }
        outcome
    }

    fn put_blob(&mut self, log: LogId, digest: &str, bytes: &[u8]) -> Result<(), ReadError> {
        let mut blobs = self.blobs();
        let blob = blobs.entry((log, digest.to_owned()));
        blob.or_insert_with(|| bytes.to_vec());
        Ok(())
    }

    fn blob(&mut self, log: LogId, digest: &str) -> Result<Option<Vec<u8>>, ReadError> {
        Ok(self.blobs().get(&(log, digest.to_owned())).cloned())
    }

    fn read(&mut self, log: LogId, after: Position, bytes_max: usize) -> Result<Page, ReadError> {
        let logs = self.logs();
        let stored = logs.get(&log).map_or(&[][..], Vec::as_slice);
        let is_there = |stored: &Stored| match self.compares {
            Compares::Position => stored.group.position == after,
            Compares::FirstSeq => stored.group.position.last_seq == after.last_seq,
        };
        let from = match after == Position::default() {
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
        })
    }
}
