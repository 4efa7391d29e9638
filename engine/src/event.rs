//! Events: [`NewEvent`] is appended, [`Event`] is read.

use crate::error::{Error, Result};
use crate::event_id::EventId;
use crate::json::Json;
use crate::refs::{Ref, Refs};
use crate::timestamp::Timestamp;
use serde::Serialize;
use std::borrow::Cow;

/// A recorded event. The event borrows from the bytes from which it was decoded, or owns its strings (`Event<'static>`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event<'a> {
    /// Place in the order of the log: 1-based, gapless.
    pub seq: u64,
    /// Id of the event. Ids strictly increase with `seq`, and encode `created_at`.
    pub id: EventId,
    /// Time of recording (for imported history: the original time).
    pub created_at: Timestamp,
    /// A past-tense fact in snake_case.
    pub kind: Cow<'a, str>,
    /// The things that the event points at, such as a task or a trace.
    pub actor: Cow<'a, str>,
    /// The things that the event points at, such as a task or a trace.
    pub refs: Refs<'a>,
    /// Version of the payload's format.
    pub schema_version: u32,
    /// True for an event that folds ignore, now and in later versions.
    pub foreign: bool,
    /// Canonical JSON text (see [`Json`]).
    pub payload: Cow<'a, str>,
}

impl<'a> Event<'a> {
    /// Converts the event into an event that owns its strings.
    pub fn into_owned(self) -> Event<'static> {
        Event {
            seq: self.seq,
            id: self.id,
            created_at: self.created_at,
            kind: Cow::Owned(self.kind.into_owned()),
            actor: Cow::Owned(self.actor.into_owned()),
            refs: self.refs.into_owned(),
            schema_version: self.schema_version,
            foreign: self.foreign,
            payload: Cow::Owned(self.payload.into_owned()),
        }
    }
}

/// The cause of a new event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// An event of the log, by id.
    Event(EventId),
    /// The event at this index of the same append. The index must be lower than the index of the new event.
    Earlier(usize),
}

/// An event to append.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEvent {
    /// A past-tense fact in snake_case: `^[a-z][a-z0-9_]*$`.
    pub kind: Cow<'static, str>,
    /// The agent or user that acted; 1 to 128 bytes without control characters.
    pub actor: String,
    /// The things that the event points at, except the cause. Each ref has 1 to 128 bytes without control characters.
    pub refs: Refs<'static>,
    /// The cause; overrides `refs.cause`.
    pub cause: Option<Cause>,
    /// Version of the payload's format.
    pub schema_version: u32,
    /// See [`Event::foreign`].
    pub foreign: bool,
    /// The payload.
    pub payload: Json,
    /// Original time, for imported history only; not before the log's last event.
    pub created_at: Option<Timestamp>,
    /// Original id, for imported history only; must encode `created_at` and be greater than the log's last id.
    pub id: Option<EventId>,
}

impl NewEvent {
    /// Creates an event without refs, of schema version 1.
    pub fn new(
        kind: impl Into<Cow<'static, str>>,
        actor: impl Into<String>,
        payload: Json,
    ) -> NewEvent {
        NewEvent {
            kind: kind.into(),
            actor: actor.into(),
            refs: Refs::default(),
            cause: None,
            schema_version: 1,
            foreign: false,
            payload,
            created_at: None,
            id: None,
        }
    }

    /// Creates an event that the log itself records, with `payload` as its payload.
    pub(crate) fn for_payload(
        kind: &'static str,
        actor: impl Into<String>,
        payload: &impl Serialize,
    ) -> Result<NewEvent> {
        let payload = Json::from_value(payload)
            .map_err(|error| Error::invalid("payload", kind, error.to_string()))?;
        Ok(NewEvent::new(kind, actor, payload))
    }

    /// Adds a ref.
    #[must_use]
    pub fn with_ref(
        mut self,
        wanted: impl Into<Ref>,
        value: impl Into<Cow<'static, str>>,
    ) -> NewEvent {
        self.refs.set(wanted, value);
        self
    }

    /// Sets the cause.
    #[must_use]
    pub fn caused_by(mut self, cause: Cause) -> NewEvent {
        self.cause = Some(cause);
        self
    }
}
