//! Why a command has no answer: refused by a rule, or failed beneath.

use crate::refusal::Refusal;
use teamlog_engine as engine;

/// This crate's result.
pub type Result<T, E = Failure> = std::result::Result<T, E>;

/// A command's outcome where it is not an answer.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// A rule says no; nothing was written (or only what the rule names).
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The log, its state or the disk failed.
    #[error(transparent)]
    Failed(#[from] engine::Error),
}

impl Failure {
    /// The refusal, if it is one.
    pub fn refusal(&self) -> Option<&Refusal> {
        match self {
            Failure::Refused(refusal) => Some(refusal),
            Failure::Failed(_) => None,
        }
    }
}
