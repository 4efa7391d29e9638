//! `send`: one message into one inbox.

use crate::Recorded;
use crate::projections::Message;
use serde::Serialize;

/// What `send` is asked.
#[derive(Debug, Clone, Default)]
pub struct Send {
    /// Sender.
    pub from: String,
    /// Recipient.
    pub to: String,
    /// One of the message types, by name.
    pub kind: String,
    /// Generated as `msg_` and 12 hex digits when absent. One that is known already makes the send a duplicate.
    pub message_id: Option<String>,
    /// The task concerned.
    pub task_id: Option<String>,
    /// The story it belongs to; else inherited from the task.
    pub trace_id: Option<String>,
    /// `low normal high critical`; default `normal`.
    pub priority: Option<String>,
    /// The payload, a JSON object as text; default `{}`.
    pub payload: Option<String>,
    /// The message's own time as ISO 8601; default now. At most five minutes ahead.
    pub created_at: Option<String>,
    /// Suppress a repetition of (recipient, task, type) within so many seconds.
    pub cooldown_seconds: Option<u64>,
    /// Who does it, if not the sender.
    pub actor: Option<String>,
}

/// How a send ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SendStatus {
    /// It lies in the inbox.
    Sent,
    /// A message of that id lies there already; nothing changed.
    Duplicate,
    /// The cooldown swallowed it.
    Suppressed,
}

/// `{status, message, event}`, and when suppressed `reason` and `cooldown_remaining_seconds`.
#[derive(Debug, Clone, Serialize)]
pub struct SendAnswer {
    /// How it ended.
    pub status: SendStatus,
    /// The message; for a duplicate the stored one.
    #[serde(serialize_with = "crate::shapes::message")]
    pub message: Message,
    /// The event that records it.
    pub event: Recorded,
    /// `cooldown` when suppressed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'static str>,
    /// Seconds until the same would be sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cooldown_remaining_seconds: Option<u64>,
}
