//! Why a command has no answer: refused by a rule, or failed beneath.

use crate::refusal::Refusal;
use serde_json::{Map, Value, json};
use std::io;
use teamlog_engine as engine;
use teamlog_engine::internals::error::{is_no_space, is_not_permitted};
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
    /// Whether a journal did not take part.
    pub(crate) fn is_of_journal(&self) -> bool {
        self.engine()
            .is_some_and(|error| error.journal_fault().is_some())
    }

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
    /// The stable word for it.
    pub fn code(&self) -> &'static str {
        match self.refusal() {
            Some(refusal) => refusal.code.as_str(),
            None => self.engine().map_or("failed", code_of),
        }
    }
    /// Whether somebody else holds the log's lock.
    pub(crate) fn is_locked(&self) -> bool {
        matches!(self.engine(), Some(engine::Error::Locked { .. }))
    }
    /// Whether a newer teamlog wrote an event that stands in the way.
    pub(crate) fn is_newer(&self) -> bool {
        matches!(self.engine(), Some(engine::Error::Newer { .. }))
    }
    /// Whether another host of the team recorded something first, so that nothing was recorded and deciding again may help.
    pub(crate) fn is_conflict(&self) -> bool {
        self.engine().is_some_and(engine::Error::is_conflict)
    }
    /// Whether a derived file is to blame, so that rebuilding it and a second try help.
    pub(crate) fn is_derived(&self) -> bool {
        matches!(self, Failure::Failed(error) if error.is_derived())
    }
}

/// The stable word for what the engine reported.
pub fn code_of(error: &engine::Error) -> &'static str {
    match error {
        error if error.is_no_space() => "no_space",
        engine::Error::Io { source, .. } if is_not_permitted(source.kind()) => "not_permitted",
        engine::Error::Io { .. } => "io",
        engine::Error::Poisoned(_) => "poisoned",
        engine::Error::Derived { .. } => "derived_unusable",
        engine::Error::Locked { .. } | engine::Error::LockLost { written: false, .. } => "locked",
        engine::Error::LockLost { written: true, .. } => "lock_lost",
        engine::Error::Corrupt { .. } => "damaged",
        engine::Error::RolledBack { .. } => "rolled_back",
        engine::Error::ForeignFile { .. } => "foreign_file",
        engine::Error::UnsupportedFormat { .. } | engine::Error::OtherRefs { .. } => {
            "unsupported_format"
        }
        engine::Error::Newer { .. } => "newer_log",
        engine::Error::NoLog { .. } => "team_not_found",
        engine::Error::LogExists { .. } => "team_exists",
        engine::Error::TooLarge { .. } => "too_large",
        engine::Error::Invalid { .. } => "invalid_input",
        engine::Error::Journal { fault, .. } => fault.code(),
        _ => "failed",
    }
}

/// The same for what the system reported outside the log.
pub fn code_of_io(error: &io::Error) -> &'static str {
    match error.kind() {
        kind if is_not_permitted(kind) => "not_permitted",
        kind if is_no_space(kind) => "no_space",
        _ => "io",
    }
}

/// What machines are told beside that, by name.
pub fn details_of(error: &engine::Error) -> Map<String, Value> {
    let details = match error {
        engine::Error::Corrupt {
            path, offset, seq, ..
        } => json!({"file": path.display().to_string(), "offset": offset, "seq": seq}),
        engine::Error::RolledBack { rollback, .. } => json!({
            "known_seq": rollback.known_seq,
            "known_id": rollback.known_id,
            "last_seq": rollback.last_seq,
            "witness": rollback.witness,
        }),
        engine::Error::Newer { seq, kind, .. } => json!({"seq": seq, "kind": kind}),
        engine::Error::Locked {
            holder, waited_ms, ..
        } => json!({"holder": holder, "waited_ms": waited_ms}),
        engine::Error::LockLost { holder, .. } => json!({"holder": holder}),
        _ => Value::Null,
    };
    details.as_object().cloned().unwrap_or_default()
}

impl From<engine::Error> for Failure {
    fn from(error: engine::Error) -> Failure {
        Failure::Failed(error.into())
    }
}
