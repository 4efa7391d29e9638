//! `replay`: events in order, filtered, streamed.

use teamlog_engine::Timestamp;

/// Which events; everything absent lets everything through.
#[derive(Debug, Clone, Default)]
pub struct Replay {
    /// The first seq.
    pub from_seq: Option<u64>,
    /// The last seq.
    pub to_seq: Option<u64>,
    /// The earliest `created_at`.
    pub since: Option<Timestamp>,
    /// The latest `created_at`.
    pub until: Option<Timestamp>,
    /// Only of that kind.
    pub kind: Option<String>,
    /// Only by that actor.
    pub actor: Option<String>,
    /// Only of that story.
    pub trace_id: Option<String>,
    /// Only of that task.
    pub task_id: Option<String>,
    /// Only of that agent.
    pub agent: Option<String>,
    /// At most so many; `None` and 0 are all.
    pub limit: Option<u64>,
    /// Newest first.
    pub reverse: bool,
}
