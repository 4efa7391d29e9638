//! A journal that servers keep: the way to it, what is asked of it as a whole, and why it has no answer.

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
        /// Standbys of the server, for which a commit waits: they are counted.
        #[default]
        Standbys = "standbys",
        /// The storage below the server. The server does not show these copies: a person says that they exist.
        External = "external",
    }
}

/// A journal as its servers show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalInfo {
    /// The journal's id.
    pub journal: String,
    /// The layer that keeps the copies.
    pub durability: Durability,
    /// On how many servers an event must be before it is acknowledged.
    pub min_copies: u32,
    /// On how many it is now, as far as the server shows them.
    pub copies: u32,
    /// The servers that have to have it.
    pub names: String,
    /// In which term the server answers.
    pub term: Term,
    /// The server's version.
    pub version: String,
    /// What keeps it from being durable, in words; then nothing is written.
    pub wrong: Vec<String>,
    /// Properties that the server does not show, in words.
    pub unverified: Vec<String>,
}

/// A host as a journal noted it.
#[derive(Debug, Clone, PartialEq)]
pub struct HostRecord {
    /// Its id there, which no other host has.
    pub id: String,
    /// For people; several hosts may have one name.
    pub name: String,
    /// Seconds since it was seen, by the journal's clock.
    pub seconds_ago: f64,
    /// The last event of a log that it had when it last noted it.
    pub followed: Option<u64>,
}

/// What is wrong with what names a journal.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// The URL holds a secret, which others could read.
    #[error("{0}")]
    SecretInUrl(&'static str),
    /// Something else, in words.
    #[error("{0}")]
    Invalid(String),
}

/// The way to a journal. What has no answer or is refused is an error of the journal.
pub trait Connector: Debug {
    /// The word for its kind in `log.json`.
    fn kind(&self) -> &'static str;

    /// The layer that keeps the copies, as the user's configuration says.
    fn durability(&self) -> Durability {
        Durability::Standbys
    }

    /// Whether the URL and the files can be used.
    ///
    /// # Errors
    /// What is wrong with them.
    fn check(&self) -> Result<(), ConfigError>;

    /// Makes the journal, and looks at it. What is there already stays as it is; `min_copies` counts for a new one.
    fn create(&self, min_copies: u32) -> Result<JournalInfo>;

    /// Looks at the journal.
    fn inspect(&self) -> Result<JournalInfo>;

    /// Brings what an older teamlog made to what this one needs; older ones are refused from then on. `None` where there is
    /// one version so far.
    fn migrate(&self) -> Option<Result<JournalInfo>> {
        None
    }

    /// The journal of that id; nothing is connected yet.
    fn open(&self, id: &str) -> Arc<dyn Server>;
}

/// A journal that servers keep. What has no answer or is refused is an error of the journal.
pub trait Server: Journals {
    /// The word for its kind in `log.json`.
    fn kind(&self) -> &'static str;

    /// What `log.json` says of the log of that name, on every host, and the state of the log; `None` if the journal has no such log.
    fn identity(&self, name: &str) -> Result<Option<(Vec<u8>, LogState)>>;

    /// The same where all of the log is in the journal; an error also where it is being handed over, or was taken off.
    fn find(&self, name: &str) -> Result<Option<Vec<u8>>> {
        let Some((identity, state)) = self.identity(name)? else {
            return Ok(None);
        };
        let loading = "the host that hands it over has not finished";
        match state {
            LogState::Open => Ok(Some(identity)),
            LogState::Loading => Err(Error::journal(JournalFault::Loading, loading)),
            LogState::Left => {
                let left = "the log goes on at one host alone";
                Err(Error::journal(JournalFault::Left, left))
            }
        }
    }

    /// What it has of a log; `None` where it does not know it.
    fn status(&self, log: LogId) -> Result<Option<LogStatus>>;

    /// The hosts that have spoken to it, and up to which event each followed a log; none if it keeps no note of them.
    fn hosts(&self, _: LogId) -> Result<Vec<HostRecord>> {
        Ok(Vec::new())
    }

    /// Compares the journal with a host; `None` if that is not possible.
    fn group_store(&self) -> Option<&dyn GroupStore> {
        None
    }

    /// What trims it; `None` where it keeps all groups.
    fn trimmer(&self) -> Option<&dyn Trimmer> {
        None
    }
}

/// A journal whose groups can be compared with those of a host, and put back.
pub trait GroupStore {
    /// The rows of a log whose first event is that one or a later one, in order, of about `bytes_max` bytes; none at the end.
    fn rows(&self, log: LogId, from: u64, bytes_max: usize) -> Result<Vec<JournalRow>>;

    /// Puts a group into its place, whatever is there. Needs a role that may change the tables.
    fn restore(&self, group: &Append<'_>) -> Result<()>;
}

/// A journal from which groups can be removed.
pub trait Trimmer {
    /// The hosts that noted that they have a log up to an event: `doctor` does.
    fn holders(&self, log: LogId, seq: u64) -> Result<Vec<String>>;

    /// Removes the groups of a log that end before an event, and says how many went, and their bytes. Repeating it is
    /// harmless. Needs a role that may change the tables. Nobody can join by the journal alone from then on.
    fn trim(&self, log: LogId, before: u64) -> Result<(u64, u64)>;
}

/// Returns the outcome of enrolling a log: `has_it` says if the journal now has this log under its name.
///
/// # Errors
/// `Refused` if it has not.
pub fn check_enrolled(has_it: bool, name: &str) -> Result<()> {
    let why = || format!("it has another log named {name}, or had this one before");
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
    /// What becomes of an append by an error, of which something was sent or nothing.
    pub fn of(error: Error, sent: bool) -> Outcome {
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
