//! An event as answers show it: the public JSON line, whichever format stores it.

use crate::operation::prelude::*;
use crate::redaction::REDACTED;
use schemars::{Schema, SchemaGenerator};
use serde::de::Error as _;
use serde::{Deserializer, Serializer};
use teamlog_engine::internals::codec;

/// An event of the log with what the team's state says about it. Serialises to the event's public JSON, with each
/// mark that is true as one more field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// The event.
    pub event: Event<'static>,
    /// What is known of it beside.
    pub marks: Marks,
}

/// What the team's state says about an event.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Marks {
    /// A task message that came too late and changed nothing.
    pub superseded: bool,
    /// A repetition of something known, which changed nothing.
    pub duplicate: bool,
    /// A fact about something refused.
    pub refused: bool,
    /// A message that its recipient has acknowledged by now.
    pub acked: bool,
    /// An event that lacks the token of another agent's claim.
    pub redacted: bool,
}

impl Recorded {
    /// An event without marks.
    pub fn plain(event: Event<'static>) -> Recorded {
        Recorded {
            event,
            marks: Marks::default(),
        }
    }
    /// An event with the marks that the state gives it.
    pub(crate) fn marked(live: &Live, event: Event<'static>) -> Result<Recorded> {
        let mut marks = Marks::default();
        if !event.foreign {
            match &*event.kind {
                "message_sent" => {
                    marks.superseded = live.superseded(event.seq)?;
                    marks.acked = is_acked(live, &event)?;
                }
                "message_duplicate" | "message_ack_duplicate" => marks.duplicate = true,
                "message_suppressed" | "ack_rejected" => marks.refused = true,
                _ => {}
            }
        }
        Ok(Recorded { event, marks })
    }
    /// The events with these seqs, in that order, with their marks.
    pub(crate) fn all(live: &Live, reader: &Reader, seqs: Vec<u64>) -> Result<Vec<Recorded>> {
        let events = seqs.into_iter().map(|seq| page::event(live, reader, seq));
        events.map(|event| Recorded::marked(live, event?)).collect()
    }
    /// The JSON text.
    pub fn json(&self) -> String {
        let mut line = Vec::with_capacity(256);
        codec::public_json(&self.event, &mut line);
        let marks = [
            ("superseded", self.marks.superseded),
            ("duplicate", self.marks.duplicate),
            ("refused", self.marks.refused),
            ("acked", self.marks.acked),
            (REDACTED, self.marks.redacted),
        ];
        for (name, _) in marks.iter().filter(|(_, set)| *set) {
            line.pop();
            line.extend_from_slice(format!(",\"{name}\":true}}").as_bytes());
        }
        String::from_utf8(line).unwrap_or_default()
    }
}

fn is_acked(live: &Live, event: &Event<'_>) -> Result<bool> {
    let Some(id) = event.refs.get(RefKind::Message) else {
        return Ok(false);
    };
    let message = live.message(id)?;
    Ok(message.is_some_and(|message| message.acked.is_some()))
}

impl Serialize for Recorded {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        RawValue::from_string(self.json())
            .map_err(serde::ser::Error::custom)?
            .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Recorded {
    fn deserialize<D: Deserializer<'de>>(from: D) -> std::result::Result<Recorded, D::Error> {
        let mut text = Box::<RawValue>::deserialize(from)?.get().to_owned();
        let mut take = |name: &str| {
            let end = format!(",\"{name}\":true}}");
            let set = text.ends_with(&end);
            if set {
                text.truncate(text.len() - end.len());
                text.push('}');
            }
            set
        };
        // The last one first.
        let marks = Marks {
            redacted: take(REDACTED),
            acked: take("acked"),
            refused: take("refused"),
            duplicate: take("duplicate"),
            superseded: take("superseded"),
        };
        let event = codec::parse_public_json(&text).map_err(D::Error::custom)?;
        Ok(Recorded { event, marks })
    }
}

/// What [`Recorded::json`] writes.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "it is there to be described")]
struct PublicEvent {
    /// Its place in the log, from 1
    #[schemars(range(min = 1))]
    seq: u64,
    /// Its id, a UUID that holds its time and grows with `seq`
    id: String,
    /// When it was recorded
    created_at: Timestamp,
    /// What happened: a past-tense fact
    kind: String,
    /// Who did it
    actor: String,
    /// The story it belongs to
    #[serde(skip_serializing_if = "Option::is_none")]
    trace_id: Option<String>,
    /// The task concerned
    #[serde(skip_serializing_if = "Option::is_none")]
    task_id: Option<String>,
    /// The agent concerned; of messages their recipient
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<String>,
    /// The message concerned
    #[serde(skip_serializing_if = "Option::is_none")]
    message_id: Option<String>,
    /// The thread concerned
    #[serde(skip_serializing_if = "Option::is_none")]
    thread_id: Option<String>,
    /// The session concerned
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<String>,
    /// The id of the event that led to it
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<String>,
    /// Its idempotency key
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    /// Version of its payload's shape
    schema_version: u32,
    /// It is a fact of somebody else's vocabulary and moves no state
    #[serde(skip_serializing_if = "Option::is_none")]
    foreign: Option<True>,
    /// What the fact says; its fields depend on the kind
    payload: Value,
    /// A task message that came too late and changed nothing
    #[serde(skip_serializing_if = "Option::is_none")]
    superseded: Option<True>,
    /// A repetition of something known, which changed nothing
    #[serde(skip_serializing_if = "Option::is_none")]
    duplicate: Option<True>,
    /// A fact about something refused
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<True>,
    /// A message that its recipient has acknowledged by now
    #[serde(skip_serializing_if = "Option::is_none")]
    acked: Option<True>,
    /// The payload lacks the token of another agent's claim, as for every agent on another machine
    #[serde(skip_serializing_if = "Option::is_none")]
    redacted: Option<True>,
}

/// Marks are left out where they are not true.
struct True;

impl JsonSchema for True {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "True".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schemars::json_schema!({"const": true})
    }
}

impl JsonSchema for Recorded {
    fn schema_name() -> Cow<'static, str> {
        "Event".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = PublicEvent::json_schema(generator);
        let about = "An event of the log, with each mark that is true as one more field";
        schema.insert("description".to_owned(), about.into());
        schema
    }
}
