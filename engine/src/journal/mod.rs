//! A journal: what puts the groups of a log in order when several hosts write it.
//!
//! A group is appended by compare-and-set: it names the [`Position`] that it stands behind, and the journal takes it only if
//! nothing else stands there. What is compared is a digest over everything before, not a seq, so that neither a gap nor another
//! history of the same length is accepted. A host's segments are a replica of the journal: a group is written to them once the
//! journal has it, so whatever lies in a segment is in the journal.
//!
//! Consensus is the journal's business; the engine folds what it orders. A log without a journal knows nothing of this module.

pub(crate) mod cursor;
pub mod memory;
mod push;
mod replica;
mod rows;
mod server;

pub(crate) use cursor::End;
pub use push::Pushed;
pub(crate) use push::{check_prefix, push};
pub(crate) use replica::{Replica, Turn, conflict, misplaced, of_read, skew};
pub(crate) use rows::check_rows;
pub use rows::{DamagedGroup, JournalCheck, JournalRow};
pub use server::{
    ConfigError, Connector, Durability, GroupStore, HostRecord, JournalInfo, Server, Trimmer,
    check_enrolled,
};

use crate::prelude::*;
use crate::words;
use std::time::Instant;

/// A digest over all groups of a log up to one of them: BLAKE3 of the digest before and the group's bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct GroupDigest(pub [u8; 32]);

impl GroupDigest {
    /// The digest behind one more group.
    ///
    /// ```
    /// use teamlog_engine::journal::GroupDigest;
    /// let first = GroupDigest::default().then(b"a");
    /// assert_ne!(first.then(b"b"), GroupDigest::default().then(b"ab"));
    /// ```
    #[must_use]
    pub fn then(self, group: &[u8]) -> GroupDigest {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.0);
        hasher.update(group);
        GroupDigest(*hasher.finalize().as_bytes())
    }
}

impl std::fmt::Display for GroupDigest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&blake3::Hash::from_bytes(self.0).to_hex())
    }
}

impl std::fmt::Debug for GroupDigest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{self}")
    }
}

/// A place between two groups of a log. The default is the one before the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Position {
    /// Seq of the last event before it; 0 before the first.
    pub last_seq: u64,
    /// Over all groups before it.
    pub digest: GroupDigest,
}

words! {
    /// What a journal does with a log.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub enum LogState {
        /// Takes what one host has of it, and nobody else may join.
        Loading = "loading",
        /// Takes the groups of all hosts.
        #[default]
        Open = "open",
        /// Takes nothing any more: the log goes on at one host alone.
        Left = "left",
    }
}

impl LogState {
    /// The state from which a log comes into this one by a group of its own.
    pub fn before(self) -> LogState {
        match self {
            LogState::Loading | LogState::Open => LogState::Loading,
            LogState::Left => LogState::Open,
        }
    }
}

/// A group that is to stand behind a position.
#[derive(Debug, Clone, Copy)]
pub struct Append<'a> {
    /// Of which log.
    pub log: LogId,
    /// What it stands behind.
    pub after: Position,
    /// The place behind it.
    pub position: Position,
    /// Id of its last event.
    pub last_id: EventId,
    /// Its frames, as they stand in a segment.
    pub bytes: &'a [u8],
    /// The segments that begin before it, by their names, where the rule that all hosts have does not say so: those of a log
    /// that was written without a journal before. One may be empty.
    pub begins: &'a [String],
}

/// What became of an append.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It stands there, as durable as the journal promises. So it does if it stood there already: to append the same bytes
    /// again is how an unknown outcome is settled.
    Appended,
    /// Another group stands there, or none does and this one was not taken; read on, and decide again.
    Conflict,
    /// The journal never had what it stands behind.
    Forked,
    /// The journal holds fewer copies than it promises, so it takes nothing.
    NotDurable(String),
    /// The log is in another state there.
    Closed(LogState),
    /// The journal does not take it for another reason.
    Refused(String),
    /// The journal does not take part for this reason, until a person changes something. Nothing was written.
    Unfit(JournalFault, String),
    /// Nothing was sent.
    Unreachable(String),
    /// It was sent, and there was no answer: it may stand there, or come to stand there later.
    Unknown(String),
}

/// Which server decides, so far as a journal tells: the number rises whenever another one comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Term {
    /// Of which system of servers: terms of different ones say nothing about each other.
    pub system: u64,
    /// 0 where it is not told.
    pub number: u32,
}

impl Term {
    /// Returns `true` if both terms name a system of servers, and these differ.
    pub fn is_of_another_system(self, other: Term) -> bool {
        self.system != other.system && self.system != 0 && other.system != 0
    }

    /// Returns `true` if a server in this term decided before one in the other term. A number that is not told is before none.
    pub fn is_before(self, other: Term) -> bool {
        self.system == other.system && self.number != 0 && self.number < other.number
    }

    /// Returns this term, with the number of an earlier one in the same system if its own is not told.
    #[must_use]
    pub fn after(self, earlier: Term) -> Term {
        match self.number == 0 && self.system == earlier.system {
            true => earlier,
            false => self,
        }
    }
}

/// What a journal has of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogStatus {
    /// `open`, or why it takes nothing.
    pub state: String,
    /// Seq of the last event.
    pub last_seq: u64,
    /// Groups.
    pub groups: u64,
    /// Their bytes, as its servers count them.
    pub bytes: u64,
}

/// Groups behind a position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// In order; none where the position is the end.
    pub groups: Vec<JournalGroup>,
    /// Whether more stand behind them.
    pub more: bool,
    /// The journal's clock, if it tells.
    pub now: Option<Timestamp>,
    /// In which term it answers.
    pub term: Term,
    /// The version by which all hosts have to fold the log's events; 0 where none was named.
    pub fold_version: u32,
}

/// A group as the journal has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalGroup {
    /// The place behind it.
    pub position: Position,
    /// Its frames.
    pub bytes: Vec<u8>,
    /// As [`Append::begins`].
    pub begins: Vec<String>,
}

/// Why groups could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReadError {
    /// There is no answer.
    Unreachable(String),
    /// The journal ends before the position, at this seq: an older state of it was put back.
    Behind(u64),
    /// Something else stands at the position.
    Forked,
    /// What stood behind the position was removed, up to this seq.
    Trimmed(u64),
    /// It holds fewer copies than it promises, so that what it says may be lost again.
    NotDurable(String),
    /// The journal does not support this.
    Refused(String),
    /// The journal does not take part for this reason until a person changes something.
    Unfit(JournalFault, String),
    /// It is not the journal that the log names.
    OtherJournal(String),
}

/// Opens journals: what a log that has one is written through.
pub trait Journals: std::fmt::Debug + Send + Sync {
    /// A handle on that journal, for one log. Need not speak to it yet.
    ///
    /// # Errors
    /// `Journal`: it is not known here.
    fn open(&self, journal: &JournalIdentity) -> Result<Box<dyn Journal>>;

    /// Makes a log known to the journal that its identity names, before its first group, in that state. Repeating it is
    /// harmless while the log is in that state; what `log.json` says may change as long as it is loading.
    ///
    /// # Errors
    /// `Journal`: it has another log of that name, or this one in another state; it does not take part.
    fn enroll(&self, identity: &Identity, state: LogState) -> Result<()>;

    /// Puts a log that was taken off the journal into the state loading again: the host that went on alone with it hands over what
    /// it recorded since. Returns what `log.json` says of it on all hosts, also if an earlier call did so; `None` for a log that did
    /// not leave. The caller has checked that the journal has nothing that its own log lacks.
    ///
    /// # Errors
    /// `Journal`: it does not take part.
    fn readmit(&self, _: &Identity) -> Result<Option<Vec<u8>>> {
        Ok(None)
    }

    /// The servers of that journal, by which it is compared with a host; `None` if there are none.
    ///
    /// # Errors
    /// `Journal`: it is not known here.
    fn server(&self, _: &JournalIdentity) -> Result<Option<Arc<dyn Server>>> {
        Ok(None)
    }
}

/// Orders the groups of any number of logs. Synchronous; one that talks to a server keeps its own thread for it.
pub trait Journal: Send {
    /// Appends groups of any number of logs, those of one log in their order, where the logs are in that state. Says what became
    /// of each, in the same order.
    fn append(&mut self, groups: &[Append<'_>], state: LogState) -> Vec<Outcome>;

    /// Appends a group and puts its log into another state: both, or neither.
    fn turn(&mut self, group: &Append<'_>, to: LogState) -> Outcome;

    /// Keeps bytes that an event of the log is to name by their digest, as durably as a group. Repeating it is harmless. A journal
    /// may keep groups alone.
    ///
    /// # Errors
    /// [`ReadError`]; then they may be kept or not.
    fn put_blob(&mut self, _: LogId, _: &str, _: &[u8]) -> Result<(), ReadError> {
        Err(ReadError::Refused("it keeps groups alone".into()))
    }

    /// The bytes that were kept under a digest, if any were. Whoever reads them checks them.
    fn blob(&mut self, _: LogId, _: &str) -> Result<Option<Vec<u8>>, ReadError> {
        Ok(None)
    }

    /// Notes which digest this host's state has at an event, and says which others noted another one for the same event: none
    /// where the journal keeps no notes.
    fn compare_state(&mut self, _: LogId, _: u64, _: &str) -> Result<Vec<String>, ReadError> {
        Ok(Vec::new())
    }

    /// The last term that this host knows: a server that answers in one before is to be passed over, and one of another system
    /// refused ([`JournalFault::Moved`]). A journal may have no terms.
    fn expect_term(&mut self, _: Term) {}

    /// The term in which it answers now, be it of another system than was expected.
    ///
    /// # Errors
    /// [`ReadError`].
    fn term(&mut self) -> Result<Term, ReadError> {
        Ok(Term::default())
    }

    /// Confirms that the server that answered the last [`read`](Journal::read) still decided at some moment after `since`, so that
    /// nothing acknowledged before `since` was missing from that read. A server can go on after another one took over, and then
    /// answers an old state. A journal whose every answer comes from the authority needs no more than this default.
    ///
    /// # Errors
    /// [`ReadError`]: the read proves nothing; repeat it.
    fn confirm(&mut self, _since: Instant) -> Result<(), ReadError> {
        Ok(())
    }

    /// Names the version by which all hosts have to fold the events of a log from now on. A lower one than is named there changes
    /// nothing. A journal may keep none.
    ///
    /// # Errors
    /// [`ReadError`]; then it may be named or not.
    fn raise_fold_version(&mut self, _: LogId, _: u32) -> Result<(), ReadError> {
        Ok(())
    }

    /// Groups behind a position, of about `bytes_max` bytes, but at least one where there is one. Asks the one that decides,
    /// never a replica of it.
    fn read(&mut self, log: LogId, after: Position, bytes_max: usize) -> Result<Page, ReadError>;
}
