//! A journal on servers: connecting to the journal, requests about the journal as a whole, and its errors.

use super::{Append, JournalRow, Journals, LogState, LogStatus, Outcome, ReadError, Term};
use crate::error::{Error, JournalFault, Result};
use crate::identity::LogId;
use crate::words;
use std::fmt::Debug;
use std::sync::Arc;

words! {
    /// The layer that keeps the copies of a journal.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub enum Durability {
        /// Standbys of the server. A commit waits for the standbys, and the journal counts them.
        #[default]
        Standbys = "standbys",
        /// The storage below the server. The server cannot show its copies; the operator confirms that they exist.
        External = "external",
    }
}

/// State of a journal, as its servers report it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalInfo {
    /// Id of the journal.
    pub journal: String,
    /// The layer that keeps the copies.
    pub durability: Durability,
    /// Number of servers that must have an event before the event is acknowledged.
    pub min_copies: u32,
    /// Number of servers that have every event, if the servers show this number.
    pub copies: u32,
    /// Names of the servers that must have an event.
    pub names: String,
    /// Term of the answering server.
    pub term: Term,
    /// Version of the server.
    pub version: String,
    /// Reasons why the journal is not durable. If there are any, nothing is written.
    pub wrong: Vec<String>,
    /// Properties that the server does not show.
    pub unverified: Vec<String>,
}

/// A host that uses the journal.
#[derive(Debug, Clone, PartialEq)]
pub struct HostRecord {
    /// Id of the host, unique in the journal.
    pub id: String,
    /// Name of the host, for people; several hosts may have the same name.
    pub name: String,
    /// Seconds since the host's last contact, by the journal's clock.
    pub seconds_ago: f64,
    /// Last event of a log that the host had at its last contact.
    pub followed: Option<u64>,
}

/// Error in a journal's configuration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// The URL holds a secret, which others could read.
    #[error("{0}")]
    SecretInUrl(&'static str),
    /// The configuration is wrong for another reason.
    #[error("{0}")]
    Invalid(String),
}

/// Connects to a journal. The methods return a `Journal` error if the servers do not answer or refuse.
pub trait Connector: Debug {
    /// Returns the word for the kind of the journal in `log.json`.
    fn kind(&self) -> &'static str;

    /// Returns the layer that keeps the copies, from the user's configuration.
    fn durability(&self) -> Durability {
        Durability::Standbys
    }

    /// Checks the URL and the files of the configuration, without connecting.
    ///
    /// # Errors
    /// The first problem.
    fn check(&self) -> Result<(), ConfigError>;

    /// Creates the journal and returns its state. An existing journal stays unchanged; `min_copies` applies to a new
    /// journal.
    fn create(&self, min_copies: u32) -> Result<JournalInfo>;

    /// Returns the state of the journal.
    fn inspect(&self) -> Result<JournalInfo>;

    /// Upgrades a journal of an older teamlog. Older versions of teamlog are then refused. Returns `None` if only one version of this kind
    /// of journal exists.
    fn migrate(&self) -> Option<Result<JournalInfo>> {
        None
    }

    /// Returns the journal with this id, without connecting.
    fn open(&self, id: &str) -> Arc<dyn Server>;
}

/// A journal on servers. The methods return a `Journal` error if the servers do not answer or refuse.
pub trait Server: Journals {
    /// Returns the word for the kind of the journal in `log.json`.
    fn kind(&self) -> &'static str;

    /// Returns the content of `log.json` for the log with this name, and the state of the log; `None` if the journal has no such
    /// log.
    fn identity(&self, name: &str) -> Result<Option<(Vec<u8>, LogState)>>;

    /// Like `identity`, for a log that is open in the journal; returns an error if the log is loading, or was taken
    /// off.
    fn find(&self, name: &str) -> Result<Option<Vec<u8>>> {
        let Some((identity, state)) = self.identity(name)? else {
            return Ok(None);
        };
        let loading = "a host is still copying the log to the journal";
        match state {
            LogState::Open => Ok(Some(identity)),
            LogState::Loading => Err(Error::journal(JournalFault::Loading, loading)),
            LogState::Left => {
                let left = "the log left the journal and continues on one host";
                Err(Error::journal(JournalFault::Left, left))
            }
        }
    }

    /// Returns the status of a log; `None` if the journal does not know the log.
    fn status(&self, log: LogId) -> Result<Option<LogStatus>>;

    /// Returns the hosts that have used the journal, each with the last event of the log that the host had; no hosts if the
    /// journal keeps no notes.
    fn hosts(&self, _: LogId) -> Result<Vec<HostRecord>> {
        Ok(Vec::new())
    }

    /// Returns access to the stored groups, to compare and restore them; `None` if the journal has no such access.
    fn group_store(&self) -> Option<&dyn GroupStore> {
        None
    }

    /// Returns access for trimming; `None` if the journal keeps all groups.
    fn trimmer(&self) -> Option<&dyn Trimmer> {
        None
    }
}

/// Access to the stored groups of a journal.
pub trait GroupStore {
    /// Returns the rows of a log from the event `from` on, in order, of about `bytes_max` bytes; no rows at the end.
    fn rows(&self, log: LogId, from: u64, bytes_max: usize) -> Result<Vec<JournalRow>>;

    /// Writes a group to its place, and replaces any row there. Needs a role that may change the tables.
    fn restore(&self, group: &Append<'_>) -> Result<()>;
}

/// A journal from which groups can be removed.
pub trait Trimmer {
    /// Returns the hosts that confirmed that they have the log up to the event `seq`. A host confirms the event when the host
    /// runs `doctor`.
    fn holders(&self, log: LogId, seq: u64) -> Result<Vec<String>>;

    /// Removes the groups of a log that end before an event; returns their number and bytes. A repeated call removes nothing.
    /// Needs a role that may change the tables. Afterwards no host can join from the journal alone.
    fn trim(&self, log: LogId, before: u64) -> Result<(u64, u64)>;
}

/// Returns the outcome of enrolling a log: `has_it` says if the journal now has this log under its name.
///
/// # Errors
/// `Refused` if the journal does not have the log.
pub fn check_enrolled(has_it: bool, name: &str) -> Result<()> {
    let why = || format!("the journal has another log named {name}, or had this log before");
    match has_it {
        true => Ok(()),
        false => Err(Error::journal(JournalFault::Refused, why())),
    }
}

fn told(error: Error) -> (JournalFault, String) {
    match error {
        Error::Journal { fault, why } => (fault, why),
        other => (JournalFault::Unreachable, other.to_string()),
    }
}

impl From<Error> for ReadError {
    fn from(error: Error) -> ReadError {
        let (fault, why) = told(error);
        match fault {
            JournalFault::NotDurable => ReadError::NotDurable(why),
            JournalFault::OtherJournal | JournalFault::Unconfigured | JournalFault::UnknownKind => {
                ReadError::OtherJournal(why)
            }
            JournalFault::Refused => ReadError::Refused(why),
            JournalFault::Moved | JournalFault::Denied => ReadError::Unfit(fault, why),
            _ => ReadError::Unreachable(why),
        }
    }
}

impl Outcome {
    /// Returns the outcome of an append that failed; `sent` says if the group was sent.
    pub fn from_error(error: Error, sent: bool) -> Outcome {
        let (fault, why) = told(error);
        match fault {
            JournalFault::NotDurable => Outcome::NotDurable(why),
            JournalFault::OtherJournal
            | JournalFault::Unconfigured
            | JournalFault::UnknownKind
            | JournalFault::Refused => Outcome::Refused(why),
            JournalFault::Moved | JournalFault::Denied => Outcome::Unfit(fault, why),
            _ if sent => Outcome::Unknown(why),
            _ => Outcome::Unreachable(why),
        }
    }
}
