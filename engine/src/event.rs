//! Events: what is handed in, and what the log hands back.

use crate::error::{Error, Result};
use crate::event_id::EventId;
use crate::json::Json;
use crate::refs::{Ref, Refs};
use crate::timestamp::Timestamp;
use serde::Serialize;
use std::borrow::Cow;

/// An event as the log holds it. Borrowed from the bytes it was decoded from, or owned (`Event<'static>`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event<'a> {
    /// Place in the order of the log: 1-based, gapless.
    pub seq: u64,
    /// Strictly increases with `seq`; encodes `created_at`.
    pub id: EventId,
    /// When it was recorded (or, in imported history, happened).
    pub created_at: Timestamp,
    /// A past-tense fact in snake_case.
    pub kind: Cow<'a, str>,
    /// Who did it.
    pub actor: Cow<'a, str>,
    /// What it points at.
    pub refs: Refs<'a>,
    /// Version of the payload's shape.
    pub schema_version: u32,
    /// A fact of a kind that teamlog gives no meaning; moves no state, now or in later versions.
    pub foreign: bool,
    /// Canonical JSON text (see [`Json`]).
    pub payload: Cow<'a, str>,
}

impl<'a> Event<'a> {
    /// The same with its own copies of all strings.
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

/// What led to a new event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// An event of the log.
    Event(EventId),
    /// The event at that index of the same append (must come earlier in it).
    Earlier(usize),
}

/// An event that is to be appended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEvent {
    /// A past-tense fact in snake_case: `^[a-z][a-z0-9_]*$`.
    pub kind: Cow<'static, str>,
    /// Who did it; no control characters, 1 to 128 bytes.
    pub actor: String,
    /// What it points at, `cause` apart; each 1 to 128 bytes without control characters.
    pub refs: Refs<'static>,
    /// What led to it; overrides `refs.cause`.
    pub cause: Option<Cause>,
    /// Version of the payload's shape.
    pub schema_version: u32,
    /// See [`Event::foreign`].
    pub foreign: bool,
    /// The payload.
    pub payload: Json,
    /// For imported history only: the original time, which must not be before the log's last one.
    pub created_at: Option<Timestamp>,
    /// For imported history only: the original id, which must encode `created_at` and be greater than the log's last one.
    pub id: Option<EventId>,
}

impl NewEvent {
    /// An event without refs, of schema version 1.
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

    /// An event that the log itself records, with this value as its payload.
    pub(crate) fn of(
        kind: &'static str,
        actor: impl Into<String>,
        payload: &impl Serialize,
    ) -> Result<NewEvent> {
        let payload = Json::from_value(payload)
            .map_err(|error| Error::invalid("payload", kind, error.to_string()))?;
        Ok(NewEvent::new(kind, actor, payload))
    }

    /// The same with a ref.
    #[must_use]
    pub fn with_ref(
        mut self,
        wanted: impl Into<Ref>,
        value: impl Into<Cow<'static, str>>,
    ) -> NewEvent {
        self.refs.set(wanted, value);
        self
    }

    /// The same with a cause.
    #[must_use]
    pub fn caused_by(mut self, cause: Cause) -> NewEvent {
        self.cause = Some(cause);
        self
    }
}
