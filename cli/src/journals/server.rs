//! What is asked of a journal's server, of whatever kind it is.

use crate::exit::{CommandError, Exit};
use std::fmt::Debug;
use std::sync::Arc;
use teamlog_team::engine::Result;
use teamlog_team::engine::identity::LogId;
use teamlog_team::engine::journal::{Journals, LogStatus};

/// A journal as its servers show it.
#[derive(Debug)]
pub struct Shown {
    /// Its id.
    pub journal: String,
    /// On how many servers an event must be before it is acknowledged.
    pub min_copies: u32,
    /// On how many it is now.
    pub copies: u32,
    /// The servers that have to have it.
    pub names: String,
    /// Rises with each promotion; 0 where there is none.
    pub timeline: u32,
    /// The server's version.
    pub version: String,
    /// What keeps it from being durable.
    pub wrong: Vec<String>,
}

/// The way to a journal, by what the file says of it.
pub trait Way: Debug {
    /// The word for its kind in `log.json`.
    fn kind(&self) -> &'static str;

    /// Makes it.
    fn create(&self, min_copies: u32) -> Result<Shown>;

    /// Looks at it.
    fn look(&self) -> Result<Shown>;

    /// Brings what an older teamlog made to what this one needs.
    fn migrate(&self) -> std::result::Result<Shown, CommandError> {
        Err(unsupported(
            self.kind(),
            "has one version so far: there is nothing to migrate",
        ))
    }

    /// The journal of that id there.
    fn open(&self, id: &str) -> Arc<dyn Server>;
}

/// A journal.
pub trait Server: Journals {
    /// The word for its kind in `log.json`.
    fn kind(&self) -> &'static str;

    /// What `log.json` says of the log of a team.
    fn find(&self, team: &str) -> Result<Option<Vec<u8>>>;

    /// What it has of a log; `None` where it does not know it.
    fn status(&self, log: LogId) -> Result<Option<LogStatus>>;

    /// The hosts that have spoken to it, and how many seconds ago; none where it keeps no note of them.
    fn hosts(&self) -> Result<Vec<(String, f64)>> {
        Ok(Vec::new())
    }

    /// What trims it; refused where it keeps all groups.
    fn trims(&self) -> std::result::Result<&dyn Trims, CommandError> {
        Err(unsupported(
            self.kind(),
            "keeps all groups: nothing is trimmed there",
        ))
    }
}

/// A journal from which groups can be removed.
pub trait Trims {
    /// The hosts that noted that they have a log up to an event.
    fn holders(&self, log: LogId, seq: u64) -> Result<Vec<String>>;

    /// Removes the groups of a log that end before an event; says how many, and their bytes.
    fn trim(&self, log: LogId, before: u64) -> Result<(u64, u64)>;
}

fn unsupported(kind: &str, why: &str) -> CommandError {
    let message = format!("a journal of kind {kind} {why}");
    CommandError::new(Exit::Refused, "journal_refused", message)
}
