//! A journal orders the groups of a log that several hosts write.
//!
//! A group is appended by compare-and-set: it names the [`Position`] that it follows, and the journal accepts it only if no other
//! group follows that position. The position has a digest over everything before, not only a seq, so that neither a gap nor
//! another history of the same length is accepted. A host's segments are a replica of the journal: a group is written to them
//! after the journal has it, so every group in a segment is in the journal.
//!
//! Consensus is the journal's task; the engine folds the resulting order. A log without a journal does not use this module.

pub(crate) mod cursor;
pub(crate) mod memory;
mod push;
mod replica;
mod rows;
pub(crate) mod server;

pub(crate) use cursor::End;
pub use push::PushReport;
pub(crate) use push::{check_prefix, push};
pub(crate) use replica::{Replica, Turn, conflict, misplaced, read_error, skew};
pub(crate) use rows::check_rows;
pub use rows::{DamagedGroup, JournalCheck, JournalRow};
pub use server::{
    ConfigError, Connector, Durability, GroupStore, HostRecord, JournalInfo, Server, Trimmer,
};

use crate::prelude::*;
use crate::words;
use std::time::Instant;

/// Digest over all groups of a log up to a group: BLAKE3 of the previous digest and the group's bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct GroupDigest(pub [u8; 32]);

impl GroupDigest {
    /// Returns the digest after one more group.
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

/// A place between two groups of a log. The default is the place before the first group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Position {
    /// Seq of the last event before the position; 0 before the first event.
    pub last_seq: u64,
    /// Digest of all groups before the position.
    pub digest: GroupDigest,
}

words! {
    /// State of a log in a journal.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub enum LogState {
        /// One host is copying its groups to the journal; no other host may join.
        Loading = "loading",
        /// All hosts may append groups.
        #[default]
        Open = "open",
        /// The journal accepts no groups: the log continues on one host alone.
        Left = "left",
    }
}

impl LogState {
    /// Returns the state that a log must have before a group can change the log's state to `self`.
    pub fn before(self) -> LogState {
        match self {
            LogState::Loading | LogState::Open => LogState::Loading,
            LogState::Left => LogState::Open,
        }
    }
}

/// A group to append after a position.
#[derive(Debug, Clone, Copy)]
pub struct Append<'a> {
    /// Id of the log.
    pub log: LogId,
    /// The position that the group follows.
    pub after: Position,
    /// The position after the group.
    pub position: Position,
    /// Id of the last event in the group.
    pub last_id: EventId,
    /// Frames of the group, as in a segment.
    pub bytes: &'a [u8],
    /// Names of the segments that begin between the previous group and this one; several if a segment is empty. Set only for groups
    /// that were written before the log had a journal. For later groups, every host computes the names itself.
    pub begins: &'a [String],
}

/// Outcome of an append.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The journal has the group, and the group is durable. Also returned if the journal had the group already, so appending the
    /// same bytes again settles an unknown outcome.
    Appended,
    /// Another group is at that position, or no group is there and the journal did not accept this group. Read the new groups and
    /// decide again.
    Conflict,
    /// The group follows a position that the journal never had.
    Forked,
    /// The journal has fewer copies than it promises, so it accepts no groups.
    NotDurable(String),
    /// In the journal the log has the given state, but the append requires another state. The group was not appended.
    Closed(LogState),
    /// The journal refuses the group for another reason.
    Refused(String),
    /// The journal refuses everything for this reason, until an operator changes something. Nothing was written.
    Unfit(JournalFault, String),
    /// The journal could not be reached, and nothing was sent.
    Unreachable(String),
    /// The group was sent, but there was no answer: the group may be recorded now or later.
    Unknown(String),
}

/// Term of a journal: its number rises whenever another server becomes the deciding server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Term {
    /// Id of the system of servers; terms of different systems are not comparable.
    pub system: u64,
    /// Number of the term; 0 if unknown.
    pub number: u32,
}

impl Term {
    /// Returns `true` if both terms name a system of servers, and the systems differ.
    pub fn is_of_another_system(self, other: Term) -> bool {
        self.system != other.system && self.system != 0 && other.system != 0
    }

    /// Returns `true` if this term is earlier than `other`. An unknown number is never earlier.
    pub fn is_before(self, other: Term) -> bool {
        self.system == other.system && self.number != 0 && self.number < other.number
    }

    /// Returns this term; an unknown number becomes the number of `earlier` if the system is the same.
    #[must_use]
    pub(crate) fn after(self, earlier: Term) -> Term {
        match self.number == 0 && self.system == earlier.system {
            true => earlier,
            false => self,
        }
    }
}

/// Status of a log in a journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogStatus {
    /// `open`, or the reason why the log accepts no groups.
    pub state: String,
    /// Seq of the last event.
    pub last_seq: u64,
    /// Number of groups.
    pub groups: u64,
    /// Bytes of the groups, as the servers count them.
    pub bytes: u64,
}

/// A page of groups after a position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// The groups in order; no groups if the position is the end.
    pub groups: Vec<JournalGroup>,
    /// True if more groups follow.
    pub more: bool,
    /// Time of the journal's clock, if it has one.
    pub now: Option<Timestamp>,
    /// Term of the answer.
    pub term: Term,
    /// Fold version that all hosts must use; 0 if none is set.
    pub fold_version: u32,
}

/// A group in a journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalGroup {
    /// The position after the group.
    pub position: Position,
    /// Frames of the group.
    pub bytes: Vec<u8>,
    /// Like [`Append::begins`].
    pub begins: Vec<String>,
}

/// Reason for which groups could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReadError {
    /// The journal does not answer.
    Unreachable(String),
    /// The journal ends before the position, at this seq: an older state was restored.
    Behind(u64),
    /// Another group is at the position.
    Forked,
    /// The groups after the position were removed, up to this seq.
    Trimmed(u64),
    /// The journal has fewer copies than it promises. So the events that it returns can be lost again.
    NotDurable(String),
    /// The journal does not support the request, or refuses the request for the given reason.
    Refused(String),
    /// The journal refuses everything for this reason, until an operator changes something.
    Unfit(JournalFault, String),
    /// The log names another journal.
    OtherJournal(String),
}

/// Opens journals.
pub trait Journals: std::fmt::Debug + Send + Sync {
    /// Opens a handle on the given journal, for one log. The handle may connect later.
    ///
    /// # Errors
    /// `Journal`: this program does not know the journal.
    fn open(&self, journal: &JournalIdentity) -> Result<Box<dyn Journal>>;

    /// Registers a log in the journal that its identity names, in the given state, before the log's first group. A repeated call
    /// changes nothing while the log is in that state. While the log is loading, the content of `log.json` may change.
    ///
    /// # Errors
    /// `Journal`: the journal has another log of that name, or has this log in another state; or the journal does not answer.
    fn enroll(&self, identity: &Identity, state: LogState) -> Result<()>;

    /// Puts a log that left the journal back into the state loading, so that the host that continued alone copies its new events.
    /// Returns the content of `log.json` on all hosts, also if an earlier call changed the state; `None` for a log that did not
    /// leave. The caller has checked that its log has all events of the journal.
    ///
    /// # Errors
    /// `Journal`: the journal does not answer.
    fn readmit(&self, _: &Identity) -> Result<Option<Vec<u8>>> {
        Ok(None)
    }

    /// Returns the server interface of the given journal, to compare the journal with a host; `None` if the journal has no server
    /// interface.
    ///
    /// # Errors
    /// `Journal`: this program does not know the journal.
    fn server(&self, _: &JournalIdentity) -> Result<Option<Arc<dyn Server>>> {
        Ok(None)
    }
}

/// Orders the groups of any number of logs. The methods are synchronous. An implementation that talks to a server uses another
/// thread for that.
pub trait Journal: Send {
    /// Appends groups of any number of logs that are in `state`; groups of one log are in order. Returns the outcome of
    /// each group, in the same order.
    fn append(&mut self, groups: &[Append<'_>], state: LogState) -> Vec<Outcome>;

    /// Appends a group and changes its log's state, both in one step.
    fn turn(&mut self, group: &Append<'_>, to: LogState) -> Outcome;

    /// Stores bytes as durably as a group, before an event of the log names the digest of the bytes. A repeated call changes nothing. A
    /// journal need not support this.
    ///
    /// # Errors
    /// [`ReadError`]; the bytes may be stored or not.
    fn put_blob(&mut self, _: LogId, _: &str, _: &[u8]) -> Result<(), ReadError> {
        Err(ReadError::Refused(
            "it cannot store bytes beside a log".into(),
        ))
    }

    /// Returns the bytes stored under a digest, if any. The caller checks the bytes.
    fn blob(&mut self, _: LogId, _: &str) -> Result<Option<Vec<u8>>, ReadError> {
        Ok(None)
    }

    /// Notes the digest of this host's state at an event. Returns the hosts that noted another digest for this event; no hosts if
    /// the journal keeps no notes.
    fn compare_state(&mut self, _: LogId, _: u64, _: &str) -> Result<Vec<String>, ReadError> {
        Ok(Vec::new())
    }

    /// Sets the last term that this host knows. A server in an earlier term is skipped, and a server of another system is refused
    /// ([`JournalFault::Moved`]). The default does nothing, for a journal without terms.
    fn expect_term(&mut self, _: Term) {}

    /// Returns the current term, even if the term belongs to another system than expected.
    ///
    /// # Errors
    /// [`ReadError`].
    fn term(&mut self) -> Result<Term, ReadError> {
        Ok(Term::default())
    }

    /// Confirms that the server of the last [`read`](Journal::read) was still the deciding server at some moment after `since`.
    /// Then the read missed no group that was acknowledged before `since`. A replaced server can continue to answer with an old
    /// state. The default is enough for a journal whose every answer comes from the deciding server.
    ///
    /// # Errors
    /// [`ReadError`]: the read proves nothing; repeat it.
    fn confirm(&mut self, _since: Instant) -> Result<(), ReadError> {
        Ok(())
    }

    /// Sets the fold version that all hosts must use from now on. A version below the current version changes nothing. A journal
    /// may keep no fold version.
    ///
    /// # Errors
    /// [`ReadError`]; the version may be set or not.
    fn raise_fold_version(&mut self, _: LogId, _: u32) -> Result<(), ReadError> {
        Ok(())
    }

    /// Returns groups after a position, of about `bytes_max` bytes in total, but at least one group if there is any.
    /// Asks the deciding server, never one of its replicas.
    fn read(&mut self, log: LogId, after: Position, bytes_max: usize) -> Result<Page, ReadError>;
}
