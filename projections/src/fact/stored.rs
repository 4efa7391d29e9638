//! How payloads are read and written, and the JSON of messages: `{message:{envelope}, sent_at?, not_applied?:{field: reason}}`.

use super::events::{Decode, Payload};
use super::{Sent, TaskChange, event};
use crate::message::event::{MessageFact, Suppressed, UNREAD};
use crate::message::{
    Envelope, InvalidMessage, Message, MessageType, Names, Priority, SCHEMA_VERSION, TASK_ID,
    Unapplied, check_id, check_name,
};
use crate::mode::check_session;
use crate::prelude::*;
use crate::task::Status;
use serde::de::IgnoredAny;
use std::ops::Range;

pub(crate) type Decoded<T> = Result<T, String>;

/// The kind of messages.
const SENT: &str = MessageFact::KINDS[0].name;

/// How the payload of `message_sent` begins.
const SENT_OPENING: &str = "{\"message\":";

#[derive(Deserialize)]
struct StoredSent<'a> {
    #[serde(borrow)]
    message: &'a RawValue,
    #[serde(default)]
    sent_at: Option<Timestamp>,
    #[serde(borrow, default)]
    not_applied: LeftOut<'a>,
}

/// Fields of a task message that its fold passes by; why is for people.
type LeftOut<'a> = BTreeMap<Cow<'a, str>, IgnoredAny>;

/// An envelope as stored; `type` and the like are checked once it is read.
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

#[derive(Serialize)]
struct StoredDuplicate<'a> {
    message_id: &'a str,
    from: &'a str,
    to: &'a str,
}

pub(crate) fn read<'a, T: Deserialize<'a>>(payload: &'a str) -> Decoded<T> {
    serde_json::from_str(payload).map_err(|error| error.to_string())
}

/// Writes one of our own payloads, which are always within the limits of an event.
pub(crate) fn write(value: &impl Serialize) -> Json {
    match Json::of(value) {
        Ok(json) => json,
        Err(error) => unreachable!("a stored shape did not serialise: {error}"),
    }
}

/// The texts that a field holds: one, perhaps one, or several.
pub(crate) trait Texts {
    fn texts(&self) -> impl Iterator<Item = &str>;
}

impl Texts for str {
    fn texts(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self)
    }
}

impl Texts for String {
    fn texts(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.as_str())
    }
}

impl Texts for Option<String> {
    fn texts(&self) -> impl Iterator<Item = &str> {
        self.as_deref().into_iter()
    }
}

impl Texts for Vec<String> {
    fn texts(&self) -> impl Iterator<Item = &str> {
        self.iter().map(String::as_str)
    }
}

/// By key.
impl<T> Texts for BTreeMap<String, T> {
    fn texts(&self) -> impl Iterator<Item = &str> {
        self.keys().map(String::as_str)
    }
}

/// Whether each of the texts can be a name.
pub(crate) fn name(field: &'static str, texts: &(impl Texts + ?Sized)) -> Decoded<()> {
    let mut texts = texts.texts();
    let checked = texts.try_for_each(|text| check_name(field, text, Names::Imported));
    checked.map_err(|error| error.to_string())
}

/// Whether each of the texts can be an id.
pub(crate) fn id(field: &'static str, texts: &(impl Texts + ?Sized)) -> Decoded<()> {
    let checked = texts.texts().try_for_each(|text| check_id(field, text));
    checked.map_err(|error| error.to_string())
}

/// Letters of a digest: BLAKE3 in lower-case hex.
const DIGEST_LETTERS: usize = 64;

pub(crate) fn digest(_: &'static str, text: &str) -> Decoded<()> {
    let hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    match text.len() == DIGEST_LETTERS && text.bytes().all(hex) {
        true => Ok(()),
        false => Err("digest is none".to_owned()),
    }
}

pub(crate) fn session(_: &'static str, text: &str) -> Decoded<()> {
    check_session(text)
}

/// Whether a payload within a payload keeps its own rules.
pub(crate) fn payload(_: &'static str, payload: &impl Payload) -> Decoded<()> {
    payload.check()
}

/// JSON as it is, perhaps none; `null` is none.
pub(crate) mod json {
    use super::*;
    use serde::{Deserializer, Serializer};

    pub fn serialize<S: Serializer>(json: &Option<Json>, to: S) -> Result<S::Ok, S::Error> {
        let raw = json
            .as_ref()
            .map(|json| serde_json::from_str(json.as_str()));
        let raw: Option<&RawValue> = raw.transpose().map_err(serde::ser::Error::custom)?;
        raw.serialize(to)
    }
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Json>, D::Error> {
        let raw: Option<Box<RawValue>> = Deserialize::deserialize(from)?;
        Ok(present(raw.as_deref()))
    }
}

/// Reads a field in which `null` stands for the default.
pub(crate) fn or_default<'de, D, T>(from: D) -> Result<T, D::Error>
where
    D: serde::Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    let given: Option<T> = Deserialize::deserialize(from)?;
    Ok(given.unwrap_or_default())
}

pub(crate) fn envelope(payload: &str) -> Decoded<&str> {
    Ok(enveloped(payload)?.message.get())
}

fn enveloped(payload: &str) -> Decoded<StoredSent<'_>> {
    let stored: StoredSent<'_> = read(payload)?;
    let text = stored.message.get();
    if text.len() < 2 || !text.starts_with('{') {
        return Err("message is not an object".to_owned());
    }
    Ok(stored)
}

/// Who an envelope says that it is from.
pub(crate) fn sender(envelope: &str) -> Decoded<String> {
    #[derive(Deserialize)]
    struct From {
        from: String,
    }
    Ok(read::<From>(envelope)?.from)
}

pub(crate) fn message(payload: &str) -> Decoded<Message> {
    let envelope = Envelope::parse(envelope(payload)?).map_err(|error| error.to_string())?;
    if envelope.id.is_none() || envelope.created_at.is_none() {
        return Err("the message has no id or no time".to_owned());
    }
    let complete = envelope.complete(Names::Imported, Timestamp::default(), 0);
    complete.map_err(|error| error.to_string())
}

/// The envelope of a payload that seems to hold nothing else. If it does, the text does not parse as one value.
fn sole_envelope(payload: &str) -> Option<&str> {
    let text = payload.strip_prefix(SENT_OPENING)?.strip_suffix('}')?;
    (text.starts_with('{') && text.ends_with('}')).then_some(text)
}

impl Decode for Sent {
    fn decode(payload: &str) -> Decoded<Sent> {
        // As we write it, the envelope needs no search.
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
        Ok(Sent {
            sent_at: stored.sent_at.unwrap_or(sent.created_at),
            ..sent
        })
    }
}

fn sent_as(
    stored: StoredEnvelope<'_>,
    envelope: Range<usize>,
    left_out: &LeftOut<'_>,
) -> Decoded<Sent> {
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
    Ok(Sent {
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

/// A payload without the fields that are not applied.
fn without(payload: &str, left_out: &LeftOut<'_>) -> Decoded<String> {
    let mut fields: BTreeMap<Cow<'_, str>, &RawValue> = read(payload)?;
    fields.retain(|name, _| !left_out.contains_key(name));
    serde_json::to_string(&fields).map_err(|error| error.to_string())
}

/// The body of plain mail; one that is no text is ignored.
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

/// `null` is nothing.
pub(crate) fn present(raw: Option<&RawValue>) -> Option<Json> {
    let json = Json::parse(raw?.get()).ok()?;
    Some(json).filter(|json| json.as_str() != "null")
}

impl Message {
    /// The `message_sent` event of this message: actor is the sender, refs are recipient, message, task and trace.
    ///
    /// # Errors
    /// A payload that is nested too deep to stand in an event.
    pub fn sent(&self) -> Result<NewEvent, InvalidMessage> {
        self.sent_at(self.created_at)
    }

    /// The same of a message that is sent now. Where its sender gave it another time, the event says both; and what of it is
    /// not applied to a task, if anything.
    pub fn sent_at(&self, now: Timestamp) -> Result<NewEvent, InvalidMessage> {
        self.sent_without(now, &self.unapplied())
    }

    /// Like [`Message::sent_at`], for a caller that knows which fields are not applied.
    ///
    /// # Errors
    /// Those of [`Message::sent`].
    pub fn sent_without(
        &self,
        now: Timestamp,
        left_out: &[Unapplied],
    ) -> Result<NewEvent, InvalidMessage> {
        let mut text = self.text_behind(SENT_OPENING);
        if now != self.created_at {
            text.push_str(",\"sent_at\":\"");
            text.push_str(&now.to_string());
            text.push('"');
        }
        for (at, one) in left_out.iter().enumerate() {
            text.push_str(if at == 0 { ",\"not_applied\":{" } else { "," });
            text.push_str(&format!("\"{}\":\"{}\"", one.field, one.reason.name()));
        }
        if !left_out.is_empty() {
            text.push('}');
        }
        text.push('}');
        let payload = match self.is_shallow() {
            true => Json::from_canonical(text),
            false => self.wrapped(text)?,
        };
        Ok(self.record(SENT, payload))
    }

    /// The `message_duplicate` event: a message with this id is known already.
    pub fn duplicate(&self) -> NewEvent {
        let stored = StoredDuplicate {
            message_id: &self.id,
            from: &self.from,
            to: &self.to,
        };
        self.record(MessageFact::Duplicate.kind(), write(&stored))
    }

    /// The `message_suppressed` event: the cooldown still runs.
    pub fn suppressed(&self, remaining_seconds: u64) -> Result<NewEvent, InvalidMessage> {
        self.held_back("cooldown", remaining_seconds)
    }

    /// The `message_suppressed` event of a wake-up whose recipient has an unread one.
    pub fn withheld(&self) -> Result<NewEvent, InvalidMessage> {
        self.held_back(UNREAD, 0)
    }

    fn held_back(&self, reason: &str, remaining_seconds: u64) -> Result<NewEvent, InvalidMessage> {
        let payload = self.wrapped(format!(
            "{{\"message\":{},\"reason\":\"{reason}\",\"remaining_seconds\":{remaining_seconds}}}",
            self.text()
        ))?;
        let kind = MessageFact::Suppressed(Suppressed { withheld: None }).kind();
        Ok(self.record(kind, payload))
    }

    fn wrapped(&self, text: String) -> Result<Json, InvalidMessage> {
        let rule = "must fit into an event";
        Json::parse(&text)
            .map_err(|error| InvalidMessage::new("message.payload", error.to_string(), rule))
    }

    fn record(&self, kind: &'static str, payload: Json) -> NewEvent {
        let refs = [
            (RefKind::Agent, Some(&*self.to)),
            (RefKind::Message, Some(&*self.id)),
            (RefKind::Task, self.task_id.as_deref()),
            (RefKind::Trace, self.trace_id.as_deref()),
        ];
        event(kind, &self.from, payload, refs)
    }
}
