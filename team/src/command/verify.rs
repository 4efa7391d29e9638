//! `verify`: is every byte of the log as it was written?

use serde::Serialize;

/// How bad a problem is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Nothing acknowledged is concerned: a torn tail that the next writer sets aside.
    Warning,
    /// The log is damaged or was changed.
    Error,
}

/// One thing that is not as it should be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// What kind of problem, in snake_case.
    pub kind: String,
    /// How bad.
    pub severity: Severity,
    /// The file, relative to the data root.
    pub file: String,
    /// The first byte concerned.
    pub offset: u64,
    /// The event that should stand there, where that is known.
    pub seq: Option<u64>,
    /// For people.
    pub message: String,
}

/// `{ok, events, segments, bytes, last_seq, problems[]}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct VerifyAnswer {
    /// Whether no problem is an error.
    pub ok: bool,
    /// Events checked.
    pub events: u64,
    /// Segments checked.
    pub segments: u64,
    /// Bytes checked.
    pub bytes: u64,
    /// Seq of the last event.
    pub last_seq: u64,
    /// What is not as it should be.
    pub problems: Vec<Problem>,
}
