//! How answers show the stored shapes of the projections: as the very JSON that the projections give them.

use crate::projections::message::{Envelope, Names};
use crate::projections::task::ShownTask;
use crate::projections::{Message, Task};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;
use teamlog_engine::{Json, Timestamp};

/// Serialises a message as its envelope. For `#[serde(serialize_with)]`.
pub(crate) fn message<S: Serializer>(message: &Message, serializer: S) -> Result<S::Ok, S::Error> {
    envelope(message).serialize(serializer)
}

/// Reads what [`message`] writes. For `#[serde(deserialize_with)]`.
pub(crate) fn read_message<'de, D: Deserializer<'de>>(from: D) -> Result<Message, D::Error> {
    let text = Box::<RawValue>::deserialize(from)?;
    let mut envelope = Envelope::parse(text.get()).map_err(D::Error::custom)?;
    let actor = envelope.extra.pop_if(|(name, _)| name == "actor");
    let actor = actor.map(|(_, actor)| serde_json::from_str(actor.as_str()));
    let message = envelope.complete(Names::Imported, Timestamp::default(), 0);
    Ok(Message {
        actor: actor.transpose().map_err(D::Error::custom)?,
        ..message.map_err(D::Error::custom)?
    })
}

/// Serialises messages as a list of envelopes.
pub(crate) fn messages<S: Serializer>(
    messages: &[Message],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(messages.iter().map(envelope))
}

/// Reads what [`messages`] writes.
pub(crate) fn read_messages<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Message>, D::Error> {
    #[derive(Deserialize)]
    struct One(#[serde(deserialize_with = "read_message")] Message);
    let all = Vec::<One>::deserialize(from)?;
    Ok(all.into_iter().map(|one| one.0).collect())
}

/// Serialises a task as the record of its view file.
pub(crate) fn task<S: Serializer>(task: &Task, serializer: S) -> Result<S::Ok, S::Error> {
    raw(task.to_json()).serialize(serializer)
}

/// Reads what [`task`] writes.
pub(crate) fn read_task<'de, D: Deserializer<'de>>(from: D) -> Result<Task, D::Error> {
    Ok(ShownTask::deserialize(from)?.task)
}

/// A message that was recorded keeps every rule of the envelope, so this is `None` for none.
fn envelope(message: &Message) -> Option<Box<RawValue>> {
    raw(message.to_json().ok()?)
}

/// Canonical JSON is JSON, so this is `None` (shown as `null`) for no value there is.
pub(crate) fn raw(json: Json) -> Option<Box<RawValue>> {
    RawValue::from_string(json.as_str().to_owned()).ok()
}

/// Whether a count is left out.
pub(crate) fn is_none_of(count: &u64) -> bool {
    *count == 0
}

/// Returns the line for a number of items.
pub(crate) fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// Bytes in lower-case hex.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What a text says, or the JSON of anything else.
pub(crate) fn as_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
