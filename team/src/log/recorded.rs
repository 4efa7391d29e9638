//! An event in an answer: its public JSON line, which does not depend on the storage format.

use crate::log::public_line;
use crate::operation::prelude::*;
use crate::redaction::REDACTED;
use schemars::{Schema, SchemaGenerator};
use serde::de::Error as _;
use serde::{Deserializer, Serializer};

/// An event with marks from the team's state. Serializes to the event's public JSON with an extra field per true mark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// The event.
    pub event: Event<'static>,
    /// Marks of the event.
    pub marks: Marks,
    /// The sentence of the event, in answers over HTTP. Parsing an answer drops the sentence.
    pub sentence: Option<String>,
}

/// Marks of an event, which come from the team's state.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Marks {
    /// The event is a task message that came too late and changed nothing.
    pub superseded: bool,
    /// The event is a repetition that changed nothing.
    pub duplicate: bool,
    /// The event records a refusal.
    pub refused: bool,
    /// The event is a message that its recipient has acknowledged.
    pub acked: bool,
    /// The claim token of another agent was removed from the event.
    pub redacted: bool,
}

impl Recorded {
    /// Wraps an event without marks.
    pub fn plain(event: Event<'static>) -> Recorded {
        Recorded {
            event,
            marks: Marks::default(),
            sentence: None,
        }
    }
    /// Adds the marks of the state to an event.
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
        Ok(Recorded {
            marks,
            ..Recorded::plain(event)
        })
    }
    /// Returns the events with the given seqs, in the given order, with their marks.
    pub(crate) fn all(live: &Live, reader: &Reader, seqs: Vec<u64>) -> Result<Vec<Recorded>> {
        let events = seqs.into_iter().map(|seq| page::event(live, reader, seq));
        events.map(|event| Recorded::marked(live, event?)).collect()
    }
    /// Returns the JSON text.
    pub fn json(&self) -> String {
        let mut line = Vec::with_capacity(256);
        public_line::write(&self.event, &mut line);
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
        if let Some(sentence) = &self.sentence {
            line.pop();
            let sentence = Value::from(sentence.as_str());
            line.extend_from_slice(format!(",\"sentence\":{sentence}}}").as_bytes());
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
        // Marks are the last fields, so the last mark is removed first.
        let marks = Marks {
            redacted: take(REDACTED),
            acked: take("acked"),
            refused: take("refused"),
            duplicate: take("duplicate"),
            superseded: take("superseded"),
        };
        let event = public_line::parse(&text).map_err(D::Error::custom)?;
        Ok(Recorded {
            marks,
            ..Recorded::plain(event)
        })
    }
}

/// Schema of [`Recorded::json`].
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct PublicEvent {
    /// Position in the log, from 1
    #[schemars(range(min = 1))]
    seq: u64,
    /// Id of the event, a UUID that contains the time and increases with `seq`
    id: String,
    /// Time when the event was recorded
    created_at: Timestamp,
    /// Kind: a fact in the past tense
    kind: String,
    /// Actor
    actor: String,
    /// Trace
    #[serde(skip_serializing_if = "Option::is_none")]
    trace_id: Option<String>,
    /// Task
    #[serde(skip_serializing_if = "Option::is_none")]
    task_id: Option<String>,
    /// Agent; for messages the recipient
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<String>,
    /// Message
    #[serde(skip_serializing_if = "Option::is_none")]
    message_id: Option<String>,
    /// Thread
    #[serde(skip_serializing_if = "Option::is_none")]
    thread_id: Option<String>,
    /// Session
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<String>,
    /// Id of the event that caused this event
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<String>,
    /// Idempotency key
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    /// Version of the payload's shape; 2 for a fact of a foreign vocabulary with tags
    schema_version: u32,
    /// Set for a fact of a foreign vocabulary, which changes no state
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "True")]
    foreign: Option<True>,
    /// Payload; its fields depend on the kind
    payload: Value,
    /// Tags of a fact of a foreign vocabulary, each NAME=VALUE, sorted
    #[serde(skip_serializing_if = "Option::is_none")]
    tags: Option<Vec<String>>,
    /// Set for a task message that came too late and changed nothing
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "True")]
    superseded: Option<True>,
    /// Set for a repetition that changed nothing
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "True")]
    duplicate: Option<True>,
    /// Set for the record of a refusal
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "True")]
    refused: Option<True>,
    /// Set for a message that its recipient has acknowledged
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "True")]
    acked: Option<True>,
    /// Set if the claim token of another agent was removed from the payload; agents on other machines never see such tokens
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "True")]
    redacted: Option<True>,
    /// The event in one sentence; in answers over HTTP only
    #[serde(skip_serializing_if = "Option::is_none")]
    sentence: Option<String>,
}

/// A mark. Marks that are false are left out.
struct True;

impl JsonSchema for True {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "True".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schemars::json_schema!({"type": "boolean", "const": true})
    }
}

impl JsonSchema for Recorded {
    fn schema_name() -> Cow<'static, str> {
        "Event".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = PublicEvent::json_schema(generator);
        let about = "An event of the log, with each true mark as a further field";
        schema.insert("description".to_owned(), about.into());
        schema
    }
}
