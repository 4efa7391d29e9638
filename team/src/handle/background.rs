//! Checks of whole teams that a process which stays makes behind its answers.

use crate::handle::prelude::*;

/// A check of a whole team.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Check {
    /// Every byte of the log.
    Verify,
    /// Everything that belongs to the team.
    Doctor,
}

/// How far a check is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CheckProgress {
    /// Bytes of the log that were looked at
    pub bytes: u64,
    /// Bytes of all files of the log
    pub bytes_total: u64,
}

/// A check that was begun and has not ended.
#[derive(Debug, Clone, Copy)]
pub struct RunningCheck {
    /// When it was asked for.
    pub started_at: Timestamp,
    /// How far it is.
    pub progress: CheckProgress,
}

/// What carries out checks behind the answers, in a process that stays.
pub trait Background: std::fmt::Debug + Send + Sync {
    /// Has a check made, unless it is being made.
    fn start(&self, team: &str, check: Check, now: Timestamp);
    /// The check, if it was begun and has not ended.
    fn running(&self, team: &str, check: Check) -> Option<RunningCheck>;
}
