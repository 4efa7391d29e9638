//! A journal: what puts the groups of a log in order when several hosts write it.
//!
//! A group is appended by compare-and-set: it names the [`Position`] that it stands behind, and the journal takes it only if
//! nothing else stands there. What is compared is a digest over everything before, not a seq, so that neither a gap nor another
//! history of the same length is accepted. A host's segments are a replica of the journal: a group is written to them once the
//! journal has it, so whatever lies in a segment is in the journal.
//!
//! Consensus is the journal's business; the engine folds what it orders. A log without a journal knows nothing of this module.

pub mod cursor;
pub mod memory;
mod replica;

pub(crate) use replica::{Replica, conflict, misplaced};

use crate::error::Result;
use crate::event_id::EventId;
use crate::identity::{Identity, JournalIdentity, LogId};

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
        let mut next = NextDigest::behind(self);
        next.add(group);
        next.digest()
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

/// The digest behind a group whose bytes come in parts.
pub(crate) struct NextDigest(blake3::Hasher);

impl NextDigest {
    pub fn behind(digest: GroupDigest) -> NextDigest {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&digest.0);
        NextDigest(hasher)
    }
    pub fn add(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }
    pub fn digest(&self) -> GroupDigest {
        GroupDigest(*self.0.finalize().as_bytes())
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
    /// The journal does not take it for another reason: the log was closed there, or no right is given.
    Refused(String),
    /// Nothing was sent.
    Unreachable(String),
    /// It was sent, and there was no answer: it may stand there, or come to stand there later.
    Unknown(String),
}

/// Groups behind a position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// In order; none where the position is the end.
    pub groups: Vec<JournalGroup>,
    /// Whether more stand behind them.
    pub more: bool,
}

/// A group as the journal has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalGroup {
    /// The place behind it.
    pub position: Position,
    /// Its frames.
    pub bytes: Vec<u8>,
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
    /// It holds fewer copies than it promises, so that what it says may be lost again.
    NotDurable(String),
    /// It is not the journal that the log names.
    OfAnother(String),
}

/// Opens journals: what a log that has one is written through.
pub trait Journals: std::fmt::Debug + Send + Sync {
    /// A handle on that journal, for one log. Need not speak to it yet.
    ///
    /// # Errors
    /// `Journal`: it is not known here.
    fn open(&self, journal: &JournalIdentity) -> Result<Box<dyn Journal>>;

    /// Makes a new, empty log known to the journal that its identity names, before its first group. Repeating it is harmless.
    ///
    /// # Errors
    /// `Journal`: it has a log of that team's name already, or does not take part.
    fn enroll(&self, identity: &Identity) -> Result<()>;
}

/// Orders the groups of any number of logs. Synchronous; one that talks to a server keeps its own thread for it.
pub trait Journal: Send {
    /// Appends at most one group for each of several logs, and says what became of each, in the same order.
    fn append(&mut self, groups: &[Append<'_>]) -> Vec<Outcome>;

    /// Groups behind a position, of about `bytes_max` bytes, but at least one where there is one. Asks the one that decides,
    /// never a replica of it.
    ///
    /// # Errors
    /// [`ReadError`].
    fn read(&mut self, log: LogId, after: Position, bytes_max: usize) -> Result<Page, ReadError>;
}
