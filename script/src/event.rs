//! Events as scripts see them: a map with the fields that the script reads.

use crate::field::Field;
use crate::reads::Reads;
use crate::value;
use rhai::{Dynamic, ImmutableString, Map};

/// An event, as the caller has it. Absent refs are `()` in the script.
#[derive(Debug, Clone, Copy, Default)]
pub struct EventView<'a> {
    /// Position in the log.
    pub seq: u64,
    /// Id of the event.
    pub id: &'a str,
    /// Kind.
    pub kind: &'a str,
    /// Time as text; read only if [`Script::reads`](crate::Script::reads) it.
    pub at: &'a str,
    /// Time in milliseconds since 1970.
    pub at_ms: i64,
    /// Actor.
    pub actor: &'a str,
    /// Trace.
    pub trace: Option<&'a str>,
    /// Task.
    pub task: Option<&'a str>,
    /// Agent that the event names.
    pub agent: Option<&'a str>,
    /// Message.
    pub message: Option<&'a str>,
    /// Thread.
    pub thread: Option<&'a str>,
    /// Session.
    pub session: Option<&'a str>,
    /// Tags, each NAME=VALUE; read only if [`Script::reads`](crate::Script::reads) them.
    pub tags: &'a [String],
    /// Payload as JSON.
    pub payload: &'a str,
    /// Names of members that scripts must not see, at any depth of the payload.
    pub hidden: &'a [&'a str],
}

/// Builds the map of an event with the fields that a script reads.
///
/// # Errors
/// The payload is no JSON, or is nested too deep.
pub(crate) fn map(event: &EventView<'_>, reads: &Reads) -> Result<Dynamic, String> {
    let mut map = Map::new();
    for field in Field::ALL {
        if reads.has(*field) {
            map.insert(field.name().into(), value_of(*field, event, reads)?);
        }
    }
    Ok(Dynamic::from_map(map))
}

fn value_of(field: Field, event: &EventView<'_>, reads: &Reads) -> Result<Dynamic, String> {
    Ok(match field {
        // A seq above 2^63 cannot be reached.
        Field::Seq => Dynamic::from_int(i64::try_from(event.seq).unwrap_or(i64::MAX)),
        Field::Id => text(event.id),
        Field::Kind => text(event.kind),
        Field::At => text(event.at),
        Field::AtMs => Dynamic::from_int(event.at_ms),
        Field::Actor => text(event.actor),
        Field::Trace => given(event.trace),
        Field::Task => given(event.task),
        Field::Agent => given(event.agent),
        Field::Message => given(event.message),
        Field::Thread => given(event.thread),
        Field::Session => given(event.session),
        Field::Tags => Dynamic::from_array(event.tags.iter().map(|tag| text(tag)).collect()),
        Field::Payload => value::payload(event.payload, reads, event.hidden)
            .map_err(|error| format!("the payload of the event cannot be read: {error}"))?,
    })
}

fn text(text: &str) -> Dynamic {
    Dynamic::from(ImmutableString::from(text))
}

fn given(value: Option<&str>) -> Dynamic {
    value.map_or(Dynamic::UNIT, text)
}
