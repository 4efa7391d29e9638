//! Presentation of threads and their messages, in view files and in answers, as the protocol defines it.

use super::Thread;
use crate::event::other_than;
use crate::event::thread::Posted;
use crate::prelude::*;

/// Version of the formats of threads and their messages.
pub const SCHEMA_VERSION: &str = "1.0.0";

/// A thread
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ThreadShown {
    /// Version of this format
    pub schema_version: String,
    /// Id, such as `thread-0001`
    pub id: String,
    /// Title
    pub title: String,
    /// Participants
    pub participants: Vec<String>,
    /// Task of the thread, if any
    pub task_id: Option<String>,
    /// Trace id, if any
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace_id: Option<String>,
    /// Number of messages
    pub messages: u64,
    /// Creation time
    #[schemars(with = "Timestamp")]
    pub created_at: String,
    /// Time of the last event
    #[schemars(with = "Timestamp")]
    pub updated_at: String,
}

/// A message of a thread
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PostShown {
    /// Event that recorded the message
    pub seq: u64,
    /// Version of this format
    pub schema_version: String,
    /// Id
    pub id: String,
    /// Id of the thread
    pub thread_id: String,
    /// Author
    pub from: String,
    /// Agent that recorded the message, if it is not the author
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor: Option<String>,
    /// Notified agents
    pub to: Vec<String>,
    /// Text
    pub body: String,
    /// Time
    #[schemars(with = "Timestamp")]
    pub ts: String,
}

impl From<&Thread> for ThreadShown {
    fn from(thread: &Thread) -> ThreadShown {
        ThreadShown {
            schema_version: SCHEMA_VERSION.to_owned(),
            id: thread.id.clone(),
            title: thread.title.clone(),
            participants: thread.participants.clone(),
            task_id: thread.task_id.clone(),
            trace_id: thread.trace_id.clone(),
            messages: thread.messages,
            created_at: thread.created_at.to_string(),
            updated_at: thread.updated_at.to_string(),
        }
    }
}

impl PostShown {
    /// Returns the presentation of a message, given its event.
    pub fn new(thread_id: &str, posted: &Posted, seq: u64, event: EventId) -> PostShown {
        PostShown {
            seq,
            schema_version: SCHEMA_VERSION.to_owned(),
            id: super::post_id(event),
            thread_id: thread_id.to_owned(),
            from: posted.from.clone(),
            actor: None,
            to: posted.to.clone(),
            body: posted.body.clone(),
            ts: event.created_at().to_string(),
        }
    }

    /// Returns the message as recorded by `actor`.
    #[must_use]
    pub fn by(self, actor: &str) -> PostShown {
        let other = other_than(actor, &self.from);
        PostShown {
            actor: other.map(str::to_owned),
            ..self
        }
    }
}

/// Returns a message's line in the file of its thread.
pub fn post_line(event: &Event<'_>, thread_id: &str, posted: &Posted) -> Vec<u8> {
    let shown = PostShown::new(thread_id, posted, event.seq, event.id).by(&event.actor);
    // Writing to memory cannot fail.
    let mut line = serde_json::to_vec(&shown).unwrap_or_default();
    line.push(b'\n');
    line
}
