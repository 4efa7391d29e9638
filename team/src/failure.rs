//! Why a command has no answer: refused by a rule, or failed beneath.

use crate::refusal::Refusal;
use teamlog_engine as engine;
use teamlog_projections as projections;

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
    Failed(#[from] projections::Error),
}

impl Failure {
    /// The refusal, if it is one.
    pub fn refusal(&self) -> Option<&Refusal> {
        match self {
            Failure::Refused(refusal) => Some(refusal),
            Failure::Failed(_) => None,
        }
    }
    /// What the engine reported, if it did.
    pub fn engine(&self) -> Option<&engine::Error> {
        match self {
            Failure::Failed(projections::Error::Engine(error)) => Some(error),
            _ => None,
        }
    }
    /// Whether a derived file is to blame, so that rebuilding it and a second try help.
    pub(crate) fn is_derived(&self) -> bool {
        matches!(self, Failure::Failed(error) if error.is_derived())
    }
}

impl From<engine::Error> for Failure {
    fn from(error: engine::Error) -> Failure {
        Failure::Failed(error.into())
    }
}
