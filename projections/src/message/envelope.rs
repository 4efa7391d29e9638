//! The message envelope (schema 1): fields and rules.
//!
//! An [`Envelope`] is a caller's unchecked input; a [`Message`] satisfies every rule. Errors name the field, its value
//! and the rule. [`crate::event`] defines how messages are stored.

use super::{InvalidMessage, MessageType, Names, Priority, SCHEMA_VERSION, rules};
use crate::event::other_than;
use crate::fields::Fields;
use crate::identifier::{quote, shown, shown_quoted};
use crate::prelude::*;
use teamlog_engine::limits::NESTING_MAX;

/// An envelope as callers pass it: unchecked, every field optional.
#[derive(Debug, Clone, Default)]
pub struct Envelope {
    /// Field `id`.
    pub id: Option<String>,
    /// Field `type`.
    pub kind: Option<String>,
    /// Field `from`.
    pub from: Option<String>,
    /// Field `to`.
    pub to: Option<String>,
    /// Field `task_id`.
    pub task_id: Option<String>,
    /// Field `trace_id`.
    pub trace_id: Option<String>,
    /// Field `priority`.
    pub priority: Option<String>,
    /// Field `created_at`.
    pub created_at: Option<String>,
    /// Field `schema_version`.
    pub schema_version: Option<u64>,
    /// Field `payload`, as JSON text.
    pub payload: Option<String>,
    /// Unknown fields, in order; kept unchanged.
    pub extra: Vec<(String, Json)>,
}

/// A message that satisfies all rules of the envelope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Id: 1 to 128 bytes without control characters.
    pub id: String,
    /// Field `type` of the envelope.
    pub kind: MessageType,
    /// Sender.
    pub from: String,
    /// Recipient.
    pub to: String,
    /// Task of the message, if any.
    pub task_id: Option<String>,
    /// Trace id, if any; never empty.
    pub trace_id: Option<String>,
    /// Urgency.
    pub priority: Priority,
    /// Creation time, as the sender gave it.
    pub created_at: Timestamp,
    /// Payload: a JSON object, canonical.
    pub payload: Json,
    /// Unknown fields, in order; kept unchanged.
    pub extra: Vec<(String, Json)>,
    /// Actor of the event, if the sender did not record the message. Shown beside the envelope, but not part of it.
    pub actor: Option<String>,
}

impl Envelope {
    /// Reads an envelope from one JSON object.
    ///
    /// # Errors
    /// Malformed JSON, a repeated key, or a field whose JSON type differs from the type in the envelope.
    pub fn parse(text: &str) -> Result<Envelope, InvalidMessage> {
        let malformed = |why: &dyn std::fmt::Display| {
            let rule = format!("must be a JSON object ({why})");
            InvalidMessage::new("message", shown(text), rule)
        };
        let json = Json::parse(text).map_err(|error| malformed(&error))?;
        let fields = serde_json::from_str(json.as_str());
        let fields: Fields<'_> = fields.map_err(|error| malformed(&error))?;
        let mut envelope = Envelope::default();
        for (name, raw) in fields.0 {
            envelope.take(&name, raw)?;
        }
        Ok(envelope)
    }

    fn take(&mut self, name: &str, raw: &RawValue) -> Result<(), InvalidMessage> {
        match name {
            "id" => self.id = text("message.id", raw)?,
            "type" => self.kind = text("message.type", raw)?,
            "from" => self.from = text("message.from", raw)?,
            "to" => self.to = text("message.to", raw)?,
            "task_id" => self.task_id = text("message.task_id", raw)?,
            "trace_id" => self.trace_id = text("message.trace_id", raw)?,
            "priority" => self.priority = text("message.priority", raw)?,
            "created_at" => self.created_at = text("message.created_at", raw)?,
            "schema_version" => {
                let version = serde_json::from_str(raw.get());
                self.schema_version = version.map_err(|_| not_one(shown(raw.get())))?;
            }
            "payload" => self.payload = (raw.get() != "null").then(|| raw.get().to_owned()),
            _ => self
                .extra
                .push((name.to_owned(), json("message", raw.get())?)),
        }
        Ok(())
    }

    /// Fills the defaults (`id` from `random`, `created_at` from `now`, payload `{}`, priority `normal`) and checks
    /// every rule.
    pub fn complete(
        self,
        names: Names,
        now: Timestamp,
        random: u64,
    ) -> Result<Message, InvalidMessage> {
        if !matches!(self.schema_version, None | Some(1)) {
            let found = self.schema_version.unwrap_or_default();
            return Err(not_one(found.to_string()));
        }
        let kind = required("message.type", self.kind)?;
        let message = Message {
            id: self
                .id
                .unwrap_or_else(|| format!("msg_{:012x}", random & 0xffff_ffff_ffff)),
            kind: MessageType::from_name(&kind).ok_or_else(|| {
                InvalidMessage::new("message.type", shown_quoted(&kind), MessageType::rule())
            })?,
            from: required("message.from", self.from)?,
            to: required("message.to", self.to)?,
            task_id: self.task_id,
            trace_id: self.trace_id.filter(|trace| !trace.is_empty()),
            priority: match self.priority {
                None => Priority::default(),
                Some(name) => Priority::from_name(&name).ok_or_else(|| {
                    let rule = Priority::rule();
                    InvalidMessage::new("message.priority", shown_quoted(&name), rule)
                })?,
            },
            created_at: match self.created_at {
                None => now,
                Some(text) => Timestamp::parse(&text).map_err(|why| {
                    let rule = format!("must be an ISO 8601 time ({why})");
                    InvalidMessage::new("message.created_at", shown_quoted(&text), rule)
                })?,
            },
            payload: json("message.payload", self.payload.as_deref().unwrap_or("{}"))?,
            extra: self.extra,
            actor: None,
        };
        message.validate(names)?;
        Ok(message)
    }
}

fn not_one(found: String) -> InvalidMessage {
    InvalidMessage::new("message.schema_version", found, "must be 1")
}

/// Reads a field that must be a string, or null for absent.
fn text(field: &'static str, raw: &RawValue) -> Result<Option<String>, InvalidMessage> {
    serde_json::from_str(raw.get())
        .map_err(|_| InvalidMessage::new(field, shown(raw.get()), "must be a string"))
}

fn required(field: &'static str, value: Option<String>) -> Result<String, InvalidMessage> {
    value.ok_or_else(|| InvalidMessage::new(field, "missing", "is required"))
}

fn json(field: &'static str, text: &str) -> Result<Json, InvalidMessage> {
    Json::parse(text)
        .map_err(|error| InvalidMessage::new(field, shown(text), format!("must be JSON ({error})")))
}

impl Message {
    /// Checks every rule of the envelope, for messages built without [`Envelope::complete`].
    pub fn validate(&self, names: Names) -> Result<(), InvalidMessage> {
        rules::check(self, names)
    }

    /// Returns the envelope as canonical JSON: `id type from to task_id? trace_id? priority created_at schema_version payload`,
    /// then the extra fields, then `actor` if the actor is known and is not the sender.
    pub fn to_json(&self) -> Result<Json, InvalidMessage> {
        json("message.payload", &self.text())
    }

    /// Returns the text of [`Message::to_json`], without a check of its nesting.
    pub(crate) fn text(&self) -> String {
        self.text_behind("")
    }

    /// Returns `opening` followed by the text of [`Message::text`].
    pub(crate) fn text_behind(&self, opening: &str) -> String {
        let mut out = String::with_capacity(self.payload.as_str().len() + 320);
        out.push_str(opening);
        out.push_str("{\"id\":");
        quote(&self.id, &mut out);
        let mut field = |name: &str, value: &str| {
            out.push_str(name);
            quote(value, &mut out);
        };
        let created_at = self.created_at.canonical();
        field(",\"type\":", self.kind.name());
        field(",\"from\":", &self.from);
        field(",\"to\":", &self.to);
        if let Some(task) = &self.task_id {
            field(",\"task_id\":", task);
        }
        if let Some(trace) = &self.trace_id {
            field(",\"trace_id\":", trace);
        }
        field(",\"priority\":", self.priority.name());
        field(",\"created_at\":", &String::from_utf8_lossy(&created_at));
        out.push_str(",\"schema_version\":");
        out.push_str(&SCHEMA_VERSION.to_string());
        out.push_str(",\"payload\":");
        out.push_str(self.payload.as_str());
        for (name, value) in &self.extra {
            out.push(',');
            quote(name, &mut out);
            out.push(':');
            out.push_str(value.as_str());
        }
        let taken = self.extra.iter().any(|(name, _)| name == "actor");
        if let Some(actor) = self.actor.as_ref().filter(|_| !taken) {
            out.push_str(",\"actor\":");
            quote(actor, &mut out);
        }
        out.push('}');
        out
    }

    /// Returns the message as recorded by `actor`.
    #[must_use]
    pub fn by(self, actor: &str) -> Message {
        let other = other_than(actor, &self.from);
        Message {
            actor: other.map(str::to_owned),
            ..self
        }
    }

    /// Returns true if the message fits into an event without a check of its nesting. Only the payload can nest, and it has too
    /// few brackets to nest too deep.
    pub(crate) fn is_shallow(&self) -> bool {
        let bracket = |byte: &u8| matches!(byte, b'{' | b'[');
        let brackets = self.payload.as_str().bytes().filter(bracket).count();
        self.extra.is_empty() && brackets < NESTING_MAX - 2
    }
}

#[cfg(test)]
mod tests;
