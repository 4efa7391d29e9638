//! `rehydrate`: everything derived, anew from the log.

use serde::Serialize;

/// How to rehydrate.
#[derive(Debug, Clone, Copy, Default)]
pub struct Rehydrate {
    /// Decoding threads; `None` is as many as the machine has cores. Any number gives the same bytes.
    pub workers: Option<usize>,
}

/// The answer of the table, then what this log adds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RehydrateAnswer {
    /// Always `ok`.
    pub status: &'static str,
    /// The team.
    pub team: String,
    /// Messages of all inboxes.
    pub message_count: u64,
    /// Events folded (or, foreign ones, passed by).
    pub event_count: u64,
    /// Messages acknowledged.
    pub ack_count: u64,
    /// Tasks.
    pub task_count: u64,
    /// How long it took.
    pub elapsed_ms: u64,
    /// How fast it was.
    pub events_per_second: u64,
    /// Digest of the rebuilt state.
    pub state_digest: String,
}
