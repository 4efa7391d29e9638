//! Reads events that `export` wrote.

use crate::event::Event;
use crate::event_id::EventId;
use crate::identifier::{is_identifier, is_kind};
use crate::json::{self, scan};
use crate::limits::NESTING_MAX;
use crate::refs::{RefNames, Refs, UNDECLARED_NAMES};
use crate::timestamp::Timestamp;
use std::borrow::Cow;

/// Reads the output of [`super::public_json`] (any field order, whitespace allowed), for `import --events`.
///
/// # Errors
/// The text names the field, its value and the rule.
pub fn parse_public_json(line: &str) -> Result<Event<'static>, String> {
    parse_public_json_of(&UNDECLARED_NAMES, line)
}

/// Reads the output of [`super::public_json_of`] for a log that declares the refs `names`.
///
/// # Errors
/// The text names the field, its value and the rule.
pub fn parse_public_json_of(names: &RefNames, line: &str) -> Result<Event<'static>, String> {
    // The payload is one level deep in the line, and may use `NESTING_MAX` levels of its own.
    let text = json::canonical(line, NESTING_MAX + 1).map_err(|error| error.to_string())?;
    let mut fields = Fields::default();
    each_member(&text, |name, value| fields.set(names, name, value))?;
    fields.finish()
}

/// Calls `visit` for each member of the object `text`, with the canonical texts of its name and value.
fn each_member<'a>(
    text: &'a str,
    mut visit: impl FnMut(&'a str, &'a str) -> Result<(), String>,
) -> Result<(), String> {
    let not_object = || format!("an event must be a JSON object, but is {}", shortened(text));
    let mut rest = text.strip_prefix('{').ok_or_else(not_object)?;
    while rest != "}" {
        let (name, behind) = split_value(rest).ok_or_else(not_object)?;
        let (value, behind) = behind
            .strip_prefix(':')
            .and_then(split_value)
            .ok_or_else(not_object)?;
        visit(name, value)?;
        rest = behind.strip_prefix(',').unwrap_or(behind);
    }
    Ok(())
}

fn split_value(text: &str) -> Option<(&str, &str)> {
    text.split_at_checked(scan::value_len(text.as_bytes())?)
}

/// The fields read so far.
#[derive(Default)]
struct Fields {
    seq: Option<u64>,
    id: Option<EventId>,
    created_at: Option<Timestamp>,
    kind: Option<String>,
    actor: Option<String>,
    refs: Refs<'static>,
    schema_version: Option<u32>,
    foreign: bool,
    payload: Option<String>,
}

impl Fields {
    fn set(&mut self, names: &RefNames, name: &str, value: &str) -> Result<(), String> {
        let name = string(name).ok_or_else(|| format!("the field name {name} is not readable"))?;
        let refuse = |rule: &str| format!("{name} must be {rule}, but is {}", shortened(value));
        let identifier = || {
            string(value)
                .filter(|text| is_identifier(text))
                .ok_or_else(|| refuse("a string of 1 to 128 bytes without control characters"))
        };
        let event_id = || {
            string(value)
                .and_then(|text| EventId::from_text(text.as_bytes()))
                .ok_or_else(|| refuse("a UUIDv7 of a whole microsecond"))
        };
        match name.as_str() {
            "seq" => {
                let seq = value.parse().ok().filter(|seq| *seq > 0);
                self.seq = Some(seq.ok_or_else(|| refuse("a whole number from 1"))?);
            }
            "id" => self.id = Some(event_id()?),
            "created_at" => {
                let time =
                    string(value).and_then(|text| Timestamp::from_canonical(text.as_bytes()));
                self.created_at =
                    Some(time.ok_or_else(|| refuse("a time like 2026-11-21T10:00:00.000000Z"))?);
            }
            "kind" => {
                let kind = string(value).filter(|text| is_kind(text));
                self.kind =
                    Some(kind.ok_or_else(|| refuse("a snake_case name of at most 128 bytes"))?);
            }
            "actor" => self.actor = Some(identifier()?),
            "cause" => self.refs.cause = Some(event_id()?),
            "schema_version" => {
                let version = value
                    .parse()
                    .map_err(|_| refuse("a whole number below 2^32"))?;
                self.schema_version = Some(version);
            }
            "foreign" => self.foreign = value.parse().map_err(|_| refuse("true or false"))?,
            "payload" => self.payload = Some(value.to_owned()),
            _ => match names.find(&name) {
                Some(known) => self.refs.set(known, identifier()?),
                None => {
                    return Err(format!(
                        "{} is not a field of an exported event",
                        shortened(&name)
                    ));
                }
            },
        }
        Ok(())
    }
    fn finish(self) -> Result<Event<'static>, String> {
        fn required<T>(field: Option<T>, name: &str) -> Result<T, String> {
            field.ok_or_else(|| format!("{name} is missing"))
        }
        let (id, created_at) = (
            required(self.id, "id")?,
            required(self.created_at, "created_at")?,
        );
        if id.created_at() != created_at {
            let of_id = id.created_at();
            return Err(format!(
                "created_at must be the time of the id, {of_id}, but is {created_at}"
            ));
        }
        Ok(Event {
            seq: required(self.seq, "seq")?,
            id,
            created_at,
            kind: Cow::Owned(required(self.kind, "kind")?),
            actor: Cow::Owned(required(self.actor, "actor")?),
            refs: self.refs,
            schema_version: required(self.schema_version, "schema_version")?,
            foreign: self.foreign,
            payload: Cow::Owned(required(self.payload, "payload")?),
        })
    }
}

/// Returns the string in a canonical JSON text; `None` for any other value.
fn string(text: &str) -> Option<String> {
    serde_json::from_str(text).ok()
}

fn shortened(text: &str) -> String {
    text.chars().take(80).collect()
}
