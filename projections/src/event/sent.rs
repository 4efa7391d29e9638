//! `message_sent`, and the JSON of messages: `{message:{envelope}, sent_at?, not_applied?:{field: reason}}`.

use super::message::{MessageType, Priority, SCHEMA_VERSION, TASK_ID};
use super::stored::{id, name, present};
use super::task::Status;
use super::*;
use super::{Decode, undecodable};
use serde::de::IgnoredAny;
use std::ops::Range;

/// First bytes of the payload of `message_sent`.
pub(crate) const SENT_OPENING: &str = "{\"message\":";

#[derive(Deserialize)]
struct StoredSent<'a> {
    #[serde(borrow)]
    message: &'a RawValue,
    #[serde(default)]
    sent_at: Option<Timestamp>,
    #[serde(borrow, default)]
    not_applied: LeftOut<'a>,
}

/// Fields of a task message that its fold ignores; the reasons are for people.
type LeftOut<'a> = BTreeMap<Cow<'a, str>, IgnoredAny>;

/// An envelope as stored; fields like `type` are checked after the envelope is read.
#[derive(Deserialize)]
struct StoredEnvelope<'a> {
    #[serde(borrow)]
    id: Cow<'a, str>,
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    from: Cow<'a, str>,
    #[serde(borrow)]
    to: Cow<'a, str>,
    #[serde(borrow, default)]
    task_id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    trace_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    priority: Cow<'a, str>,
    #[serde(borrow)]
    created_at: Cow<'a, str>,
    schema_version: u32,
    #[serde(borrow)]
    payload: &'a RawValue,
}

#[derive(Deserialize)]
struct StoredMail<'a> {
    #[serde(borrow)]
    body: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct StoredAssign {
    subject: Option<String>,
    details: Option<String>,
    deps: Option<Vec<String>>,
}

#[derive(Deserialize)]
struct StoredUpdate<'a> {
    #[serde(borrow)]
    status: Option<Cow<'a, str>>,
    #[serde(borrow)]
    progress: Option<&'a RawValue>,
    #[serde(borrow)]
    eta: Option<&'a RawValue>,
    blocked: Option<bool>,
    note: Option<String>,
}

/// `message_sent`: the fields of the message that change state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageSent {
    /// Id of the message.
    pub id: String,
    /// Type of the message.
    pub kind: MessageType,
    /// Sender.
    pub from: String,
    /// Recipient.
    pub to: String,
    /// Task of the message, if any.
    pub task_id: Option<String>,
    /// Trace id, if any.
    pub trace_id: Option<String>,
    /// Urgency.
    pub priority: Priority,
    /// Creation time, as the sender gave it.
    pub created_at: Timestamp,
    /// Send time: the message's creation time, unless the payload has another time.
    pub sent_at: Timestamp,
    /// Change of the task, if the message makes one.
    pub change: Option<TaskChange>,
    /// The text of plain mail (type `message`).
    pub body: Option<String>,
    /// Byte range of the envelope in the payload, as canonical JSON text.
    pub envelope: Range<usize>,
}

/// Change that a task message makes to its task. Absent fields stay unchanged.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TaskChange {
    /// `subject` of an assignment.
    pub subject: Option<String>,
    /// `details` of an assignment.
    pub details: Option<String>,
    /// `deps` of an assignment.
    pub deps: Option<Vec<String>>,
    /// `status` of an update.
    pub status: Option<Status>,
    /// `progress` of an update.
    pub progress: Option<Json>,
    /// `eta` of an update.
    pub eta: Option<Json>,
    /// `blocked` of an update.
    pub blocked: Option<bool>,
    /// `note` of an update.
    pub note: Option<String>,
}

impl MessageSent {
    /// Returns the envelope as stored, from the event that recorded it.
    pub fn envelope<'a>(&self, event: &'a Event<'_>) -> &'a str {
        event.payload.get(self.envelope.clone()).unwrap_or_default()
    }
}

/// Returns the envelope of a `message_sent` event as stored: canonical JSON text.
pub fn envelope<'a>(event: &'a Event<'_>) -> Result<&'a str> {
    let stored = enveloped(&event.payload).map_err(undecodable(event))?;
    Ok(stored.message.get())
}

/// Returns the type of the message that a `message_sent` event records. Returns `None` for other events.
pub fn message_type<'a>(event: &'a Event<'_>) -> Option<Cow<'a, str>> {
    #[derive(Deserialize)]
    struct Type<'a> {
        #[serde(borrow, rename = "type")]
        name: Cow<'a, str>,
    }
    if event.kind != "message_sent" || event.foreign {
        return None;
    }
    let envelope = envelope(event).ok()?;
    let message: Type<'a> = read(envelope).ok()?;
    Some(message.name)
}

fn enveloped(payload: &str) -> Decoded<StoredSent<'_>> {
    let stored: StoredSent<'_> = read(payload)?;
    let text = stored.message.get();
    if text.len() < 2 || !text.starts_with('{') {
        return Err("message is not an object".to_owned());
    }
    Ok(stored)
}

/// Returns the sender of a stored envelope.
pub(crate) fn sender(event: &Event<'_>, envelope: &str) -> Result<String> {
    #[derive(Deserialize)]
    struct From {
        from: String,
    }
    let from: From = read(envelope).map_err(undecodable(event))?;
    Ok(from.from)
}

/// Returns the envelope of a payload that seems to hold no other field. If the payload has another field, the returned text is
/// not one JSON value and does not parse.
fn sole_envelope(payload: &str) -> Option<&str> {
    let text = payload.strip_prefix(SENT_OPENING)?.strip_suffix('}')?;
    (text.starts_with('{') && text.ends_with('}')).then_some(text)
}

impl Decode for MessageSent {
    fn decode(payload: &str) -> Decoded<MessageSent> {
        // Fast path: in payloads that this program writes, the envelope is found without a search.
        if let Some(text) = sole_envelope(payload)
            && let Ok(stored) = read(text)
        {
            let envelope = SENT_OPENING.len()..SENT_OPENING.len() + text.len();
            return sent_as(stored, envelope, &LeftOut::new());
        }
        let stored = enveloped(payload)?;
        let text = stored.message.get();
        let start = payload.find(text).unwrap_or_default();
        let sent = sent_as(read(text)?, start..start + text.len(), &stored.not_applied)?;
        Ok(MessageSent {
            sent_at: stored.sent_at.unwrap_or(sent.created_at),
            ..sent
        })
    }
}

fn sent_as(
    stored: StoredEnvelope<'_>,
    envelope: Range<usize>,
    left_out: &LeftOut<'_>,
) -> Decoded<MessageSent> {
    if stored.schema_version != SCHEMA_VERSION {
        return Err(format!(
            "message.schema_version is {}, not 1",
            stored.schema_version
        ));
    }
    id("message.id", &*stored.id)?;
    name("message.from", &*stored.from)?;
    name("message.to", &*stored.to)?;
    if let Some(task) = &stored.task_id {
        name("message.task_id", &**task)?;
    }
    let kind = MessageType::from_name(&stored.kind).ok_or("message.type is not known")?;
    let said = match left_out.is_empty() {
        true => Cow::Borrowed(stored.payload.get()),
        false => Cow::Owned(without(stored.payload.get(), left_out)?),
    };
    let change = match (kind, &stored.task_id) {
        (MessageType::TaskAssign, Some(_)) => Some(assignment(&said)?),
        (MessageType::TaskUpdate, Some(_)) => Some(update(&said)?),
        (MessageType::TaskAssign | MessageType::TaskUpdate, None)
            if !left_out.contains_key(TASK_ID) =>
        {
            return Err("message.task_id is missing".to_owned());
        }
        _ => None,
    };
    let created_at = Timestamp::from_canonical(stored.created_at.as_bytes())
        .ok_or("message.created_at is not a time")?;
    Ok(MessageSent {
        kind,
        priority: Priority::from_name(&stored.priority).ok_or("message.priority is not known")?,
        created_at,
        sent_at: created_at,
        body: match kind {
            MessageType::Message => body(stored.payload.get())?,
            _ => None,
        },
        id: stored.id.into_owned(),
        from: stored.from.into_owned(),
        to: stored.to.into_owned(),
        task_id: stored.task_id.map(Cow::into_owned),
        trace_id: stored.trace_id.map(Cow::into_owned),
        change,
        envelope,
    })
}

/// Returns a payload without the fields that are not applied.
fn without(payload: &str, left_out: &LeftOut<'_>) -> Decoded<String> {
    let mut fields: BTreeMap<Cow<'_, str>, &RawValue> = read(payload)?;
    fields.retain(|name, _| !left_out.contains_key(name));
    serde_json::to_string(&fields).map_err(|error| error.to_string())
}

/// Returns the body of plain mail; a body of another type than text is ignored.
fn body(payload: &str) -> Decoded<Option<String>> {
    let StoredMail { body } = read(payload)?;
    Ok(body.and_then(|raw| serde_json::from_str(raw.get()).ok()))
}

fn assignment(payload: &str) -> Decoded<TaskChange> {
    let stored: StoredAssign = read(payload)?;
    if let Some(deps) = &stored.deps {
        id("message.payload.deps", deps)?;
    }
    Ok(TaskChange {
        subject: stored.subject,
        details: stored.details,
        deps: stored.deps,
        ..TaskChange::default()
    })
}

fn update(payload: &str) -> Decoded<TaskChange> {
    let stored: StoredUpdate<'_> = read(payload)?;
    let status = match stored.status {
        None => None,
        Some(name) => Some(Status::from_name(&name).ok_or("message.payload.status is not known")?),
    };
    Ok(TaskChange {
        status,
        progress: present(stored.progress),
        eta: present(stored.eta),
        blocked: stored.blocked,
        note: stored.note,
        ..TaskChange::default()
    })
}
