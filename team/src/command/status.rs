//! `status`: the state of a team in one answer.

use crate::projections::Task;
use serde::Serialize;
use std::collections::BTreeMap;

/// What `status` is asked.
#[derive(Debug, Clone, Copy, Default)]
pub struct Status {
    /// Minutes without update or ack after which something is stale; `None` is 90.
    pub stale_minutes: Option<u64>,
    /// Also compute the state digest (cost grows with the state).
    pub digest: bool,
}

/// A message that waits for its ack too long.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StaleMessage {
    /// The message.
    pub message_id: String,
    /// Its recipient.
    pub agent: String,
    /// Its type.
    #[serde(rename = "type")]
    pub kind: String,
    /// Its sender.
    pub from: String,
    /// Its task.
    pub task_id: Option<String>,
    /// Its time.
    pub created_at: String,
    /// Whole minutes since.
    pub age_minutes: u64,
}

/// Lines that are no JSON. A checksummed log cannot hold any: always zero.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct MalformedJsonl {
    /// How many.
    pub total: u64,
    /// In which files.
    pub files: Vec<String>,
}

/// The answer of the table, then what this log adds.
#[derive(Debug, Clone, Serialize)]
pub struct StatusAnswer {
    /// The team.
    pub team: String,
    /// Its members, sorted.
    pub members: Vec<String>,
    /// Unread messages by agent, zeros included.
    pub unread_counts: BTreeMap<String, u64>,
    /// Tasks that are blocked, in natural order.
    #[serde(serialize_with = "crate::shapes::tasks")]
    pub blocked_tasks: Vec<Task>,
    /// Unfinished tasks without an update for `stale_minutes`, in natural order.
    #[serde(serialize_with = "crate::shapes::tasks")]
    pub stale_tasks: Vec<Task>,
    /// Unread messages older than `stale_minutes`, oldest first.
    pub stale_messages: Vec<StaleMessage>,
    /// Always zero here; kept for readers of the protocol.
    pub malformed_jsonl: MalformedJsonl,
    /// Tasks of any status.
    pub task_count: u64,
    /// Tasks by status, every status included.
    pub tasks_by_status: BTreeMap<String, u64>,
    /// Messages of all inboxes.
    pub message_count: u64,
    /// Events of the log.
    pub events: u64,
    /// Seq of the last event.
    pub last_seq: u64,
    /// The log's id.
    pub log: String,
    /// `jsonl` or `binary`.
    pub format: String,
    /// Digest of the live state, if asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state_digest: Option<String>,
}
