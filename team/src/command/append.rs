//! `append`: a fact of somebody else's vocabulary.

use crate::Recorded;
use serde::{Serialize, Serializer, ser::SerializeStruct};
use teamlog_engine::EventId;

/// What `append` is asked. The kind must lie outside teamlog's own vocabulary.
#[derive(Debug, Clone, Default)]
pub struct Append {
    /// A past-tense fact in snake_case.
    pub kind: String,
    /// Who did it; default `teamlog`.
    pub actor: Option<String>,
    /// The story it belongs to.
    pub trace_id: Option<String>,
    /// The task concerned.
    pub task_id: Option<String>,
    /// The agent concerned.
    pub agent: Option<String>,
    /// The message concerned.
    pub message_id: Option<String>,
    /// The thread concerned.
    pub thread_id: Option<String>,
    /// The session concerned.
    pub session_id: Option<String>,
    /// The idempotency key.
    pub key: Option<String>,
    /// The event that led to it.
    pub cause: Option<EventId>,
    /// The payload as JSON text; default `{}`.
    pub payload: Option<String>,
}

/// `{seq, id, created_at}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppendAnswer {
    /// The event as it was recorded.
    pub event: Recorded,
}

impl Serialize for AppendAnswer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let event = &self.event.event;
        let mut out = serializer.serialize_struct("AppendAnswer", 3)?;
        out.serialize_field("seq", &event.seq)?;
        out.serialize_field("id", &event.id.to_string())?;
        out.serialize_field("created_at", &event.created_at.to_string())?;
        out.end()
    }
}
