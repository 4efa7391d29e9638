//! The reason why a command has no answer: a refusal by a rule, or an error of the log, its state or the disk.

use crate::refusal::Refusal;
use serde_json::{Map, Value, json};
use std::io;
use teamlog_engine as engine;
use teamlog_engine::internals::error::{is_no_space, is_not_permitted};
use teamlog_projections as projections;

/// Result type of this crate.
pub type Result<T, E = Failure> = std::result::Result<T, E>;

/// The reason why a command has no answer.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// A rule refused the command. Nothing was written, except a record that the rule itself demands.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The log, its state or the disk failed.
    #[error(transparent)]
    Failed(#[from] projections::Error),
}

impl Failure {
    /// Returns true if the failure comes from a journal.
    pub(crate) fn is_of_journal(&self) -> bool {
        self.engine()
            .is_some_and(|error| error.journal_fault().is_some())
    }

    /// Returns the refusal; `None` for any other failure.
    pub fn refusal(&self) -> Option<&Refusal> {
        match self {
            Failure::Refused(refusal) => Some(refusal),
            Failure::Failed(_) => None,
        }
    }
    /// Returns the engine's error; `None` for any other failure.
    pub fn engine(&self) -> Option<&engine::Error> {
        match self {
            Failure::Failed(projections::Error::Engine(error)) => Some(error),
            _ => None,
        }
    }
    /// Returns a stable code word for the failure.
    pub fn code(&self) -> &'static str {
        match self.refusal() {
            Some(refusal) => refusal.code.as_str(),
            None => self.engine().map_or("failed", code_of),
        }
    }
    /// Returns true if another process holds the log's lock.
    pub(crate) fn is_locked(&self) -> bool {
        matches!(self.engine(), Some(engine::Error::Locked { .. }))
    }
    /// Returns true if the log has an event of a newer teamlog version, which this version cannot read.
    pub(crate) fn is_newer(&self) -> bool {
        matches!(self.engine(), Some(engine::Error::Newer { .. }))
    }
    /// Returns true if another host of the team recorded events first. This command recorded nothing. A repeated decision can
    /// succeed.
    pub(crate) fn is_conflict(&self) -> bool {
        self.engine().is_some_and(engine::Error::is_conflict)
    }
    /// Returns true if a derived file is damaged. The caller can rebuild the file and try again.
    pub(crate) fn is_derived(&self) -> bool {
        matches!(self, Failure::Failed(error) if error.is_derived())
    }
}

/// Returns a stable code word for an engine's error.
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

/// Returns a stable code word for an I/O error outside the log.
pub fn code_of_io(error: &io::Error) -> &'static str {
    match error.kind() {
        kind if is_not_permitted(kind) => "not_permitted",
        kind if is_no_space(kind) => "no_space",
        _ => "io",
    }
}

/// Returns the details of an engine's error for programs.
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
