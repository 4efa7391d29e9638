//! `import --messages`: history that lies in envelopes, JSON lines in any order.

use serde::Serialize;
use teamlog_engine::Format;

/// How messages are imported.
#[derive(Debug, Clone, Default)]
pub struct ImportMessages {
    /// The team; it is created (open) when there is none.
    pub team: String,
    /// The format of a new team; `None` is `jsonl`.
    pub format: Option<Format>,
    /// Stamp the events now; the original times stay in the messages.
    pub restamp: bool,
    /// Write nothing if any line is malformed or a duplicate.
    pub strict: bool,
    /// A new team does without view files.
    pub no_views: bool,
    /// Accept a network or host-shared file system for a new team.
    pub allow_network_fs: bool,
}

/// What was wrong with one line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LineProblem {
    /// The line, from 1.
    pub line: u64,
    /// `malformed` or `duplicate`.
    pub kind: &'static str,
    /// Field, value and rule.
    pub message: String,
}

/// `{status, team, imported, duplicates, malformed, problems[], problems_omitted, first_seq, last_seq, elapsed_ms}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ImportAnswer {
    /// `ok`, or `rejected` where `strict` kept everything out.
    pub status: &'static str,
    /// The team.
    pub team: String,
    /// Whether the team is new.
    pub created: bool,
    /// Messages (or events) that are in the log now.
    pub imported: u64,
    /// Lines whose message is known already.
    pub duplicates: u64,
    /// Lines that are no message.
    pub malformed: u64,
    /// The first problems, in order of lines.
    pub problems: Vec<LineProblem>,
    /// Problems beyond those.
    pub problems_omitted: u64,
    /// Seq of the first imported event.
    pub first_seq: Option<u64>,
    /// Seq of the last imported event.
    pub last_seq: Option<u64>,
    /// How long it took.
    pub elapsed_ms: u64,
}
