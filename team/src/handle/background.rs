//! Checks of whole teams in the background of a long-running process.

use crate::handle::prelude::*;

/// A check of a whole team.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Check {
    /// Verifies every byte of the log.
    Verify,
    /// Checks the log, the derived files, the views and everything else that belongs to the team.
    Doctor,
}

/// Progress of a check.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CheckProgress {
    /// Bytes of the log that were read
    pub bytes: u64,
    /// Bytes of all files of the log
    pub bytes_total: u64,
}

/// A check that has started and not ended.
#[derive(Debug, Clone, Copy)]
pub struct RunningCheck {
    /// Time when the check was requested.
    pub started_at: Timestamp,
    /// Progress of the check.
    pub progress: CheckProgress,
}

/// Runs checks in the background of a long-running process.
pub trait Background: std::fmt::Debug + Send + Sync {
    /// Starts a check unless it is running.
    fn start(&self, team: &str, check: Check, now: Timestamp);
    /// Returns the progress of a check; `None` unless the check has started and not ended.
    fn running(&self, team: &str, check: Check) -> Option<RunningCheck>;
}
