//! Mail as brokers read it: a message with its marks, and the dispatch request for its recipient.

use crate::operation::prelude::*;
use crate::projections::message::{Dispatch, Marks};

/// The JSON object `{message_id, from_worker, to_worker, type, body, created_at, …}`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Mail {
    /// Id of the message
    pub message_id: String,
    /// The sender
    pub from_worker: String,
    /// The recipient
    pub to_worker: String,
    /// Type of the message; mail of brokers has the type `message`
    #[serde(rename = "type")]
    pub kind: String,
    /// Text of the message; the payload as JSON if the message has no text
    pub body: String,
    /// Creation time, as given by the sender
    pub created_at: String,
    /// Task that the message is about
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
    /// Trace that the message belongs to
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace_id: Option<String>,
    /// The agent that recorded the message, if it is not the sender
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor: Option<String>,
    /// Payload of the message, if the payload has more fields than the body
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload: Option<Map<String, Value>>,
    /// Time at which the recipient was first notified of the message
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notified_at: Option<String>,
    /// Time at which the recipient first received or acknowledged the message
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

    pub(crate) fn from_message(message: &Message) -> Mail {
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

/// Result of a request to notify a worker: `{ok, transport, reason, request_id?, message_id, to_worker?}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DispatchOutcome {
    /// True if the recipient was notified or will be notified
    pub ok: bool,
    /// Transport of the notification: `hook`, `mailbox`, `none`
    pub transport: String,
    /// Reason for the result: `queued_for_hook_dispatch`, `duplicate_pending_dispatch_request`,
    /// `existing_message_already_notified`
    pub reason: String,
    /// Id of the dispatch request
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    /// Id of the message
    pub message_id: String,
    /// The recipient
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_worker: Option<String>,
}

/// A request to notify a worker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DispatchShown {
    /// Id of the request
    pub request_id: String,
    /// Subject of the request: `mailbox`
    pub kind: String,
    /// Name of the team
    pub team_name: String,
    /// The worker to notify
    pub to_worker: String,
    /// Text of the notification
    pub trigger_message: String,
    /// Action that the worker should take
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intent: Option<String>,
    /// Id of the message that the request concerns
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_id: Option<String>,
    /// Preferred transport
    pub transport_preference: String,
    /// True if other transports may be used
    pub fallback_allowed: bool,
    /// Status of the request: `pending`, `notified`, `delivered`, `failed`
    pub status: String,
    /// Number of changes of the status
    pub attempt_count: u64,
    /// Time at which the request was made
    pub created_at: String,
    /// Time of the last change of the status
    pub updated_at: String,
    /// Time at which the worker was notified
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notified_at: Option<String>,
    /// Time at which the worker received the message
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivered_at: Option<String>,
    /// Time at which the request failed
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed_at: Option<String>,
    /// Reason of the failure
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_reason: Option<String>,
}

impl DispatchShown {
    pub(crate) fn new(dispatch: Dispatch, team: &str) -> DispatchShown {
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
