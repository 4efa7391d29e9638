//! Serialization of stored types in answers, with the JSON of the projections.

use crate::projections::message::{Envelope, Names};
use crate::projections::task::ViewedTask;
use crate::projections::{Message, Task};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;
use teamlog_engine::{Json, Timestamp};

/// Serializes a message as its envelope. For `#[serde(serialize_with)]`.
pub(crate) fn message<S: Serializer>(message: &Message, serializer: S) -> Result<S::Ok, S::Error> {
    envelope(message).serialize(serializer)
}

/// Parses the output of [`message`]. For `#[serde(deserialize_with)]`.
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

/// Serializes messages as a list of envelopes.
pub(crate) fn messages<S: Serializer>(
    messages: &[Message],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(messages.iter().map(envelope))
}

/// Parses the output of [`messages`].
pub(crate) fn read_messages<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Message>, D::Error> {
    #[derive(Deserialize)]
    struct One(#[serde(deserialize_with = "read_message")] Message);
    let all = Vec::<One>::deserialize(from)?;
    Ok(all.into_iter().map(|one| one.0).collect())
}

/// Serializes a task as the record of its view file.
pub(crate) fn task<S: Serializer>(task: &Task, serializer: S) -> Result<S::Ok, S::Error> {
    raw(task.to_json()).serialize(serializer)
}

/// Parses the output of [`task`].
pub(crate) fn read_task<'de, D: Deserializer<'de>>(from: D) -> Result<Task, D::Error> {
    Ok(ViewedTask::deserialize(from)?.task)
}

/// Returns the envelope of a message. Never `None`, because every recorded message fits the envelope.
fn envelope(message: &Message) -> Option<Box<RawValue>> {
    raw(message.to_json().ok()?)
}

/// Returns canonical JSON as a raw value. Never `None`, because canonical JSON is valid JSON.
pub(crate) fn raw(json: Json) -> Option<Box<RawValue>> {
    RawValue::from_string(json.as_str().to_owned()).ok()
}

/// Returns true for 0, which answers leave out.
pub(crate) fn is_none_of(count: &u64) -> bool {
    *count == 0
}

/// Returns true for 0, which answers leave out.
pub(crate) fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// Returns bytes in lower-case hex.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the text of a JSON string. Returns any other value as JSON.
pub(crate) fn as_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
