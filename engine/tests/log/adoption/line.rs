//! A connection to a journal in memory. The connection can be cut, or can deliver a group late.

use crate::support::*;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use teamlog_engine::LogId;
use teamlog_engine::internals::journal::MemoryJournal;
use teamlog_engine::journal::{
    Append, Journal, Journals, LogState, Outcome, Page, Position, ReadError,
};
use teamlog_engine::{Identity, JournalFault, JournalIdentity};

/// A connection to a journal. The connection is cut at one call, before or after the journal carries out that call.
#[derive(Debug, Clone, Default)]
pub struct Line {
    pub journal: MemoryJournal,
    /// Number of calls until the cut, and true if the last of these calls is carried out.
    cut: Arc<Mutex<Option<(usize, bool)>>>,
    happened: Arc<AtomicBool>,
    /// A group that was sent. The group arrives together with the next group.
    late: Arc<Mutex<Option<LateTurn>>>,
    /// True if the next group that changes the log's state arrives late.
    pub delays: Arc<AtomicBool>,
}

/// A group that arrives after its sender gave up waiting.
#[derive(Debug, Clone)]
struct LateTurn {
    log: LogId,
    after: Position,
    position: Position,
    last_id: teamlog_engine::EventId,
    bytes: Vec<u8>,
    to: LogState,
}

impl Line {
    pub fn mend(&self) {
        *self.cut.lock().unwrap() = None;
    }

    /// Creates a connection without faults.
    pub fn to(journal: MemoryJournal) -> Line {
        Line {
            journal,
            ..Line::default()
        }
    }

    pub fn at(journal: &MemoryJournal, call: usize, done: bool) -> Line {
        Line {
            journal: journal.clone(),
            cut: Arc::new(Mutex::new(Some((call, done)))),
            happened: Arc::default(),
            ..Line::default()
        }
    }

    /// Returns two flags: true if the call is carried out, and true if the call is answered.
    fn call(&self) -> (bool, bool) {
        match &mut *self.cut.lock().unwrap() {
            None => (true, true),
            Some((0, done)) => {
                self.happened.store(true, Ordering::SeqCst);
                (std::mem::take(done), false)
            }
            Some((calls, _)) => {
                *calls -= 1;
                (true, true)
            }
        }
    }

    /// Returns true if the connection was cut.
    pub fn is_cut(&self) -> bool {
        self.happened.load(Ordering::SeqCst)
    }

    fn asks<T>(&self, ask: impl FnOnce(&mut MemoryJournal) -> T, unknown: impl Fn(bool) -> T) -> T {
        let (done, answered) = self.call();
        let answer = done.then(|| ask(&mut self.journal.clone()));
        match answer {
            Some(answer) if answered => answer,
            _ => unknown(done),
        }
    }
}

fn cut() -> String {
    "the line is cut".into()
}

fn lost(done: bool) -> Outcome {
    match done {
        true => Outcome::Unknown(cut()),
        false => Outcome::Unreachable(cut()),
    }
}

impl Journals for Line {
    fn open(&self, _: &JournalIdentity) -> Result<Box<dyn Journal>, Error> {
        Ok(Box::new(self.clone()))
    }
    fn enroll(&self, identity: &Identity, state: LogState) -> Result<(), Error> {
        let failed = |_| {
            let (fault, why) = (JournalFault::Unreachable, cut());
            Err(Error::Journal { fault, why })
        };
        self.asks(|journal| journal.enroll(identity, state), failed)
    }
    fn readmit(&self, identity: &Identity) -> Result<Option<Vec<u8>>, Error> {
        let failed = |_| {
            let (fault, why) = (JournalFault::Unreachable, cut());
            Err(Error::Journal { fault, why })
        };
        self.asks(|journal| journal.readmit(identity), failed)
    }
}

impl Journal for Line {
    fn append(&mut self, groups: &[Append<'_>], state: LogState) -> Vec<Outcome> {
        let all = |done| vec![lost(done); groups.len()];
        self.asks(|journal| journal.append(groups, state), all)
    }
    fn turn(&mut self, group: &Append<'_>, to: LogState) -> Outcome {
        if self.delays.load(Ordering::SeqCst) {
            *self.late.lock().unwrap() = Some(LateTurn {
                log: group.log,
                after: group.after,
                position: group.position,
                last_id: group.last_id,
                bytes: group.bytes.to_vec(),
                to,
            });
            return Outcome::Unknown(cut());
        }
        if let Some(late) = self.late.lock().unwrap().take() {
            let arrives = Append {
                log: late.log,
                after: late.after,
                position: late.position,
                last_id: late.last_id,
                bytes: &late.bytes,
                begins: &[],
            };
            self.journal.turn(&arrives, late.to);
        }
        self.asks(|journal| journal.turn(group, to), lost)
    }
    fn read(&mut self, log: LogId, after: Position, max: usize) -> Result<Page, ReadError> {
        self.asks(
            |journal| journal.read(log, after, max),
            |_| Err(ReadError::Unreachable(cut())),
        )
    }
}
