//! How threads and their messages are shown: in view files and in answers, as the protocol has them.

use super::Thread;
use crate::event::other_than;
use crate::event::thread::Posted;
use crate::prelude::*;

/// The version of these shapes.
pub const SCHEMA_VERSION: &str = "1.0.0";

/// A thread
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ThreadShown {
    /// The version of this shape
    pub schema_version: String,
    /// Its id: `thread-0001`
    pub id: String,
    /// What it is about
    pub title: String,
    /// Who takes part
    pub participants: Vec<String>,
    /// The task that it belongs to
    pub task_id: Option<String>,
    /// The story that it belongs to
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace_id: Option<String>,
    /// How many messages it holds
    pub messages: u64,
    /// When it began
    #[schemars(with = "Timestamp")]
    pub created_at: String,
    /// When the last thing happened to it
    #[schemars(with = "Timestamp")]
    pub updated_at: String,
}

/// A message of a thread
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PostShown {
    /// The event that recorded it
    pub seq: u64,
    /// The version of this shape
    pub schema_version: String,
    /// Its id
    pub id: String,
    /// Its thread
    pub thread_id: String,
    /// Who said it
    pub from: String,
    /// Who recorded it, where that was not the one who is said to have said it
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor: Option<String>,
    /// Who was told of it
    pub to: Vec<String>,
    /// What was said
    pub body: String,
    /// When
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
    /// A message, by the event that recorded it.
    pub fn of(thread_id: &str, posted: &Posted, seq: u64, event: EventId) -> PostShown {
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

    /// The same message, as `actor` recorded it.
    #[must_use]
    pub fn by(self, actor: &str) -> PostShown {
        let other = other_than(actor, &self.from);
        PostShown {
            actor: other.map(str::to_owned),
            ..self
        }
    }
}

/// A message's line in the file of its thread.
pub fn post_line(event: &Event<'_>, thread_id: &str, posted: &Posted) -> Vec<u8> {
    let shown = PostShown::of(thread_id, posted, event.seq, event.id).by(&event.actor);
    // Into memory nothing fails.
    let mut line = serde_json::to_vec(&shown).unwrap_or_default();
    line.push(b'\n');
    line
}
