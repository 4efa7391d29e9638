//! `trace`: the events of one story.

use crate::Recorded;
use serde::Serialize;

/// What `trace` is asked.
#[derive(Debug, Clone, Default)]
pub struct Trace {
    /// The story.
    pub trace_id: String,
    /// Most events on the page; `None` and 0 are all.
    pub limit: Option<usize>,
    /// The oldest event of the page before, by id.
    pub cursor: Option<String>,
}

/// `{team, trace_id, events, count, next_cursor}`.
#[derive(Debug, Clone, Serialize)]
pub struct TraceAnswer {
    /// The team.
    pub team: String,
    /// The story.
    pub trace_id: String,
    /// The newest events that fit, in `(created_at, id)` order, marked.
    pub events: Vec<Recorded>,
    /// Events on the page.
    pub count: usize,
    /// The oldest id of the page while older ones remain.
    pub next_cursor: Option<String>,
}
