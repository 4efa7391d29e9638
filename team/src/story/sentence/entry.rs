//! An event for which a sentence is written, and the words of the event's payload.

use crate::operation::prelude::*;
use crate::projections::tag::Content;
use serde_json::{Map, Value};

/// An event and its payload as JSON.
pub(super) struct Entry<'a> {
    pub event: &'a Event<'a>,
    pub payload: Value,
}

impl<'a> Entry<'a> {
    pub fn new(event: &'a Event<'_>) -> Entry<'a> {
        Entry {
            event,
            payload: serde_json::from_str(Content::from_event(event).payload).unwrap_or_default(),
        }
    }

    pub fn actor(&self) -> &str {
        &self.event.actor
    }

    pub fn reference(&self, kind: RefKind) -> Option<&str> {
        self.event.refs.get(kind)
    }

    /// Returns a field with a text that is not empty.
    pub fn text(&self, name: &str) -> Option<&str> {
        text_of(&self.payload, name)
    }

    /// Returns a field as words, or `?` if the payload does not have that field.
    pub fn word(&self, name: &str) -> String {
        let value = &self.payload[name];
        word(value).unwrap_or_else(|| "?".to_owned())
    }

    pub fn is(&self, name: &str) -> bool {
        self.payload[name] == true
    }

    /// Returns the texts of a list.
    pub fn list(&self, name: &str) -> Vec<&str> {
        list_of(&self.payload, name)
    }

    pub fn task(&self) -> String {
        self.noun("task", RefKind::Task)
    }

    pub fn message(&self) -> String {
        self.noun("message", RefKind::Message)
    }

    pub fn thread(&self) -> String {
        self.noun("thread", RefKind::Thread)
    }

    /// Returns the agent in a field of the payload; else the agent of the refs, or the actor.
    pub fn agent(&self, name: &str) -> &str {
        let agent = self.text(name).or(self.reference(RefKind::Agent));
        agent.unwrap_or(self.actor())
    }

    fn noun(&self, noun: &str, kind: RefKind) -> String {
        let id = self.reference(kind).or(self.text(kind.name()));
        format!("{noun} {}", id.unwrap_or("?"))
    }

    /// Returns ` until 10:22` for a time in the payload, with the date unless the date is the
    /// event's own date.
    pub fn until(&self, name: &str) -> String {
        let time = self.text(name).and_then(|text| Timestamp::parse(text).ok());
        let Some(time) = time.map(|time| time.to_string()) else {
            return String::new();
        };
        let recorded = self.event.created_at.to_string();
        let (day, clock) = (time.get(..10), time.get(11..16));
        let clock = clock.unwrap_or_default();
        match day == recorded.get(..10) {
            true => format!(" until {clock}"),
            false => format!(" until {} {clock}", day.unwrap_or_default()),
        }
    }
}

pub(super) fn text_of<'v>(value: &'v Value, name: &str) -> Option<&'v str> {
    value[name].as_str().filter(|text| !text.is_empty())
}

pub(super) fn list_of<'v>(value: &'v Value, name: &str) -> Vec<&'v str> {
    let texts = value[name].as_array().into_iter().flatten();
    texts.filter_map(Value::as_str).collect()
}

/// Appends details after a colon, if there are any.
pub(super) fn with(text: String, details: &str) -> String {
    match details.trim() {
        "" => text,
        details => format!("{text}: {details}"),
    }
}

/// Fields that come first, in this order.
const FIRST: [&str; 7] = [
    "subject",
    "current_phase",
    "status",
    "blocked",
    "progress",
    "eta",
    "note",
];

/// Fields whose values explain themselves.
const BARE: [&str; 8] = [
    "subject",
    "current_phase",
    "status",
    "note",
    "body",
    "reason",
    "message",
    "text",
];

/// Formats the fields of a payload: `in_progress, progress 40%, reproduced it`. Nested values are only named.
pub(super) fn words(payload: &Value) -> String {
    let none = Map::new();
    let fields = payload.as_object().unwrap_or(&none);
    let first = FIRST.iter().filter_map(|name| fields.get_key_value(*name));
    let others = fields
        .iter()
        .filter(|(name, _)| !FIRST.contains(&name.as_str()));
    let words = first.chain(others).filter_map(|(name, value)| {
        if name == "token" {
            return None;
        }
        let shown = word(value)?;
        let spaced = name.replace('_', " ");
        Some(match value {
            Value::Bool(true) => spaced,
            Value::Bool(false) => format!("not {spaced}"),
            Value::String(_) if BARE.contains(&name.as_str()) => shown,
            _ => format!("{spaced} {shown}"),
        })
    });
    words.collect::<Vec<_>>().join(", ")
}

/// Formats a value; `None` for an empty value. A nested value becomes `…`.
pub(super) fn word(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) if text.trim().is_empty() => None,
        Value::String(text) => Some(text.trim().to_owned()),
        Value::Bool(_) | Value::Number(_) => Some(value.to_string()),
        Value::Array(items) if items.is_empty() => None,
        Value::Array(items) => {
            let simple = items
                .iter()
                .filter(|item| !item.is_object() && !item.is_array());
            let words: Vec<String> = simple.filter_map(word).collect();
            match words.len() == items.len() {
                true => Some(words.join(", ")),
                false => Some("…".to_owned()),
            }
        }
        Value::Object(fields) => (!fields.is_empty()).then(|| "…".to_owned()),
    }
}
