//! Mail as brokers read it: a message with its marks, and a request to tell its recipient.

use crate::operation::prelude::*;
use crate::projections::message::{Dispatch, Marks};

/// `{message_id, from_worker, to_worker, type, body, created_at, …}`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Mail {
    /// Its id
    pub message_id: String,
    /// The sender
    pub from_worker: String,
    /// The recipient
    pub to_worker: String,
    /// The message's type; mail that brokers send is a `message`
    #[serde(rename = "type")]
    pub kind: String,
    /// The text; where there is none, the payload as JSON
    pub body: String,
    /// When its sender says that it was created
    pub created_at: String,
    /// The task concerned
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
    /// The story it belongs to
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace_id: Option<String>,
    /// Who recorded it, where that was not the sender
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor: Option<String>,
    /// The payload, where it is more than a body
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload: Option<Map<String, Value>>,
    /// When its recipient was first told of it
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notified_at: Option<String>,
    /// When its recipient first had it, or acknowledged it
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivered_at: Option<String>,
}

const BODY: &str = "body";

impl Mail {
    pub(crate) fn plain(id: &str, from: &str, to: &str, body: &str, created_at: Timestamp) -> Mail {
        Mail {
            message_id: id.to_owned(),
            from_worker: from.to_owned(),
            to_worker: to.to_owned(),
            kind: MessageType::Message.name().to_owned(),
            body: body.to_owned(),
            created_at: created_at.to_string(),
            ..Mail::default()
        }
    }

    pub(crate) fn of(message: &Message) -> Mail {
        let text = message.payload.as_str();
        let payload: Map<String, Value> = serde_json::from_str(text).unwrap_or_default();
        let body = payload.get(BODY).and_then(Value::as_str);
        let is_plain = message.kind == MessageType::Message && body.is_some() && payload.len() == 1;
        let body = body.unwrap_or(text);
        let (from, to) = (&message.from, &message.to);
        Mail {
            kind: message.kind.name().to_owned(),
            task_id: message.task_id.clone(),
            trace_id: message.trace_id.clone(),
            actor: message.actor.clone(),
            payload: (!is_plain).then(|| payload.clone()),
            ..Mail::plain(&message.id, from, to, body, message.created_at)
        }
    }

    #[must_use]
    pub(crate) fn marked(self, marks: &Marks) -> Mail {
        Mail {
            notified_at: shown(marks.notified_at),
            delivered_at: shown(marks.delivered_at),
            ..self
        }
    }
}

/// Whether and how a recipient is told: `{ok, transport, reason, request_id?, message_id, to_worker?}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DispatchOutcome {
    /// Whether the recipient is told, or was
    pub ok: bool,
    /// How: `hook`, `mailbox`, `none`
    pub transport: String,
    /// `queued_for_hook_dispatch`, `duplicate_pending_dispatch_request`, `existing_message_already_notified`
    pub reason: String,
    /// The request
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    /// The message
    pub message_id: String,
    /// The recipient
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_worker: Option<String>,
}

/// A request to tell a worker something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DispatchShown {
    /// Its id
    pub request_id: String,
    /// What it is about: `mailbox`
    pub kind: String,
    /// The team
    pub team_name: String,
    /// Who is to be told
    pub to_worker: String,
    /// What it is to be told
    pub trigger_message: String,
    /// What it is to do about it
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intent: Option<String>,
    /// The message it is about
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_id: Option<String>,
    /// How it would best be told
    pub transport_preference: String,
    /// Whether any other way does as well
    pub fallback_allowed: bool,
    /// `pending`, `notified`, `delivered`, `failed`
    pub status: String,
    /// How often its status changed
    pub attempt_count: u64,
    /// When it was made
    pub created_at: String,
    /// When its status last changed
    pub updated_at: String,
    /// When the worker was told
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notified_at: Option<String>,
    /// When the worker had it
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivered_at: Option<String>,
    /// When it failed
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed_at: Option<String>,
    /// Why it failed
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_reason: Option<String>,
}

impl DispatchShown {
    pub(crate) fn of(dispatch: Dispatch, team: &str) -> DispatchShown {
        let request = dispatch.request;
        DispatchShown {
            request_id: request.request_id,
            kind: request.kind,
            team_name: team.to_owned(),
            to_worker: request.to_worker,
            trigger_message: request.trigger_message,
            intent: request.intent,
            message_id: request.message_id,
            transport_preference: request.transport_preference,
            fallback_allowed: request.fallback_allowed,
            status: dispatch.status.name().to_owned(),
            attempt_count: dispatch.attempt_count,
            created_at: dispatch.created_at.to_string(),
            updated_at: dispatch.updated_at.to_string(),
            notified_at: shown(dispatch.notified_at),
            delivered_at: shown(dispatch.delivered_at),
            failed_at: shown(dispatch.failed_at),
            last_reason: dispatch.last_reason,
        }
    }
}

fn shown(at: Option<Timestamp>) -> Option<String> {
    at.map(|at| at.to_string())
}
