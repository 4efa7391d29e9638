//! Messages: by id, in inboxes, unread, and when a story was last told to whom.

use crate::message::MessageType;
use teamlog_engine::Timestamp;

/// What is known of a message without reading the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageInfo {
    /// Its id.
    pub id: String,
    /// The event that recorded it.
    pub seq: u64,
    /// Its type.
    pub kind: MessageType,
    /// Its recipient.
    pub to: String,
    /// The task concerned.
    pub task_id: Option<String>,
    /// The story it belongs to.
    pub trace_id: Option<String>,
    /// The event that acknowledged it.
    pub acked: Option<u64>,
}

/// What an agent's inbox amounts to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgentInfo {
    /// The agent.
    pub name: String,
    /// Messages received.
    pub received: u64,
    /// Of those, not acknowledged.
    pub unread: u64,
    /// Exact length of `inboxes/<agent>.jsonl` in bytes, if it is whole.
    pub view_bytes: u64,
    /// The last event that put something into the inbox.
    pub last_seq: u64,
}

/// A message that nobody acknowledged yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unacked {
    /// The event that recorded it.
    pub seq: u64,
    /// Its id.
    pub id: String,
    /// Its recipient.
    pub to: String,
    /// When it was recorded.
    pub recorded_at: Timestamp,
}

/// When something was last sent to a recipient about a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LastSent {
    /// The event that recorded it.
    pub seq: u64,
    /// When that was.
    pub at: Timestamp,
}

/// Which part of an inbox is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InboxQuery {
    /// Only messages that are not acknowledged.
    pub unread: bool,
    /// Only messages recorded before that event (the cursor).
    pub before: Option<u64>,
    /// At most so many.
    pub limit: usize,
}

/// Some events, oldest first, and whether older ones remain.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SeqPage {
    /// Their seqs, ascending.
    pub seqs: Vec<u64>,
    /// Whether there are older ones.
    pub older: bool,
}
