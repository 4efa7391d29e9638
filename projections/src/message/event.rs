//! Marks of messages and requests to tell their recipients: their facts and the JSON of their payloads.
//!
//! | kind | payload |
//! |---|---|
//! | `message_notified`, `message_delivered` | `{message_id, agent}` |
//! | `dispatch_requested` | `{request_id, kind, to_worker, trigger_message, intent?, message_id?, transport_preference, fallback_allowed}` |
//! | `dispatch_notified`, `dispatch_delivered` | `{request_id}` |
//! | `dispatch_failed` | `{request_id, reason?}` |

use crate::delivery::event::about;
use crate::fact::stored::{Decoded, id, name, read};
use crate::message::MessageInfo;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use teamlog_engine::NewEvent;

const NOTIFIED: &str = "message_notified";
const DELIVERED: &str = "message_delivered";
const REQUESTED: &str = "dispatch_requested";

/// The kinds that [`parse`] knows.
pub(crate) const KINDS: &[&str] = &[
    NOTIFIED,
    DELIVERED,
    REQUESTED,
    "dispatch_notified",
    "dispatch_delivered",
    "dispatch_failed",
];

/// What became of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MailFact {
    /// `message_notified`, `message_delivered`.
    Marked(MessageMarked),
    /// `dispatch_requested`.
    Requested(DispatchRequested),
    /// `dispatch_notified`, `dispatch_delivered`, `dispatch_failed`.
    Moved(DispatchMoved),
}

/// A mark that a message can have; the two know nothing of each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Mark {
    /// Its recipient was told of it.
    Notified,
    /// Its recipient has it.
    Delivered,
}

/// A message got a mark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageMarked {
    /// Which mark.
    pub mark: Mark,
    /// The message.
    pub message_id: String,
    /// Its recipient.
    pub agent: String,
}

/// `dispatch_requested`: somebody should tell a worker of something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DispatchRequested {
    /// The request's own id.
    pub request_id: String,
    /// What it is about: `mailbox`, `inbox`, `nudge`.
    pub kind: String,
    /// Who is to be told.
    pub to_worker: String,
    /// What it is to be told.
    pub trigger_message: String,
    /// What it is to do about it.
    pub intent: Option<String>,
    /// The message it is about.
    pub message_id: Option<String>,
    /// How it would best be told.
    pub transport_preference: String,
    /// Whether any other way does as well.
    pub fallback_allowed: bool,
}

/// What can become of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DispatchStep {
    /// The worker was told.
    Notified,
    /// The worker has what it was told of.
    Delivered,
    /// Nobody could tell it.
    Failed,
}

/// A request went on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DispatchMoved {
    /// The request.
    pub request_id: String,
    /// What became of it.
    pub step: DispatchStep,
    /// Why it failed.
    pub reason: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct StoredMark<'a> {
    #[serde(borrow)]
    message_id: Cow<'a, str>,
    #[serde(borrow)]
    agent: Cow<'a, str>,
}

#[derive(Serialize, Deserialize)]
struct StoredRequest<'a> {
    #[serde(borrow)]
    request_id: Cow<'a, str>,
    #[serde(borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    to_worker: Cow<'a, str>,
    #[serde(borrow)]
    trigger_message: Cow<'a, str>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    intent: Option<Cow<'a, str>>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    message_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    transport_preference: Cow<'a, str>,
    fallback_allowed: bool,
}

#[derive(Serialize, Deserialize)]
struct StoredMove<'a> {
    #[serde(borrow)]
    request_id: Cow<'a, str>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    reason: Option<Cow<'a, str>>,
}

pub(crate) fn parse(kind: &str, payload: &str) -> Decoded<MailFact> {
    match kind {
        NOTIFIED => marked(Mark::Notified, payload),
        DELIVERED => marked(Mark::Delivered, payload),
        REQUESTED => requested(payload),
        "dispatch_notified" => moved(DispatchStep::Notified, payload),
        "dispatch_delivered" => moved(DispatchStep::Delivered, payload),
        "dispatch_failed" => moved(DispatchStep::Failed, payload),
        _ => Err(format!("{kind} is not known")),
    }
}

fn marked(mark: Mark, payload: &str) -> Decoded<MailFact> {
    let stored: StoredMark<'_> = read(payload)?;
    id("message_id", &stored.message_id)?;
    name("agent", &stored.agent)?;
    Ok(MailFact::Marked(MessageMarked {
        mark,
        message_id: stored.message_id.into_owned(),
        agent: stored.agent.into_owned(),
    }))
}

fn requested(payload: &str) -> Decoded<MailFact> {
    let stored: StoredRequest<'_> = read(payload)?;
    id("request_id", &stored.request_id)?;
    name("to_worker", &stored.to_worker)?;
    if let Some(message) = &stored.message_id {
        id("message_id", message)?;
    }
    Ok(MailFact::Requested(DispatchRequested {
        request_id: stored.request_id.into_owned(),
        kind: stored.kind.into_owned(),
        to_worker: stored.to_worker.into_owned(),
        trigger_message: stored.trigger_message.into_owned(),
        intent: stored.intent.map(Cow::into_owned),
        message_id: stored.message_id.map(Cow::into_owned),
        transport_preference: stored.transport_preference.into_owned(),
        fallback_allowed: stored.fallback_allowed,
    }))
}

fn moved(step: DispatchStep, payload: &str) -> Decoded<MailFact> {
    let stored: StoredMove<'_> = read(payload)?;
    id("request_id", &stored.request_id)?;
    Ok(MailFact::Moved(DispatchMoved {
        request_id: stored.request_id.into_owned(),
        step,
        reason: stored.reason.map(Cow::into_owned),
    }))
}

impl MessageMarked {
    /// The event that records it; trace and task are those of the message.
    pub fn event(&self, actor: &str, message: &MessageInfo) -> NewEvent {
        let kind = match self.mark {
            Mark::Notified => NOTIFIED,
            Mark::Delivered => DELIVERED,
        };
        let stored = StoredMark {
            message_id: Cow::Borrowed(&self.message_id),
            agent: Cow::Borrowed(&self.agent),
        };
        about(kind, actor, message, &stored)
    }
}

impl DispatchRequested {
    /// The event that records it, about a message.
    pub fn event(&self, actor: &str, message: &MessageInfo) -> NewEvent {
        let stored = StoredRequest {
            request_id: Cow::Borrowed(&self.request_id),
            kind: Cow::Borrowed(&self.kind),
            to_worker: Cow::Borrowed(&self.to_worker),
            trigger_message: Cow::Borrowed(&self.trigger_message),
            intent: self.intent.as_deref().map(Cow::Borrowed),
            message_id: self.message_id.as_deref().map(Cow::Borrowed),
            transport_preference: Cow::Borrowed(&self.transport_preference),
            fallback_allowed: self.fallback_allowed,
        };
        about(REQUESTED, actor, message, &stored)
    }
}

impl DispatchMoved {
    /// The event that records it, of a request about a message.
    pub fn event(&self, actor: &str, message: &MessageInfo) -> NewEvent {
        let kind = match self.step {
            DispatchStep::Notified => "dispatch_notified",
            DispatchStep::Delivered => "dispatch_delivered",
            DispatchStep::Failed => "dispatch_failed",
        };
        let stored = StoredMove {
            request_id: Cow::Borrowed(&self.request_id),
            reason: self.reason.as_deref().map(Cow::Borrowed),
        };
        about(kind, actor, message, &stored)
    }
}
