//! Deliveries and settings: their facts and the JSON of their payloads.
//!
//! | kind | payload |
//! |---|---|
//! | `delivery_required` | `{message_id, ack_timeout_seconds, max_retries, due_at?, requeued?}` |
//! | `delivery_retry` | `{message_id, attempt, due_at?}` |
//! | `delivery_acked` | `{message_id, attempt}` |
//! | `delivery_dead_letter` | `{id, message_id, reason, attempts, due_at?}` |
//! | `config_changed` | `{changes:{key: number, boolean or null}}` |

use crate::delivery::attempt_end;
use crate::fact::event;
use crate::fact::stored::{Decoded, id, read, write};
use crate::message::MessageInfo;
use crate::team::settings::{Form, Policy, Setting, Value};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;
use teamlog_engine::{NewEvent, RefKind, Timestamp};

/// `delivery_required`: the message needs an ack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryRequired {
    /// The message.
    pub message_id: String,
    /// When it is tried again, and how often.
    pub policy: Policy,
    /// When the first attempt ends; without it, one timeout behind the event, as logs of earlier versions have it.
    pub due_at: Option<Timestamp>,
    /// Whether a dead letter is given another chance.
    pub requeued: bool,
}

/// `delivery_retry`: an attempt ended without an ack, and the next one began.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryRetry {
    /// The message.
    pub message_id: String,
    /// The attempt that began; the second one is 2.
    pub attempt: u32,
}

/// `delivery_acked`: the ack that the delivery waited for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryAcked {
    /// The message.
    pub message_id: String,
    /// The attempt that it answers.
    pub attempt: u32,
}

/// `delivery_dead_letter`: the last attempt ended without an ack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryDead {
    /// The dead letter's own id.
    pub id: String,
    /// The message.
    pub message_id: String,
    /// Why: `ack_timeout`.
    pub reason: String,
    /// How many attempts were made.
    pub attempts: u32,
}

/// `config_changed`: new values, or none where the default is to count again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigChanged {
    /// Each setting once. A key that this version does not know is left out.
    pub changes: Vec<(Setting, Option<Value>)>,
}

#[derive(Serialize, Deserialize)]
struct StoredRequired<'a> {
    #[serde(borrow)]
    message_id: Cow<'a, str>,
    ack_timeout_seconds: u64,
    max_retries: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    due_at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    requeued: bool,
}

#[derive(Serialize, Deserialize)]
struct StoredAttempt<'a> {
    #[serde(borrow)]
    message_id: Cow<'a, str>,
    attempt: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    due_at: Option<Cow<'a, str>>,
}

#[derive(Serialize, Deserialize)]
struct StoredDead<'a> {
    #[serde(borrow)]
    id: Cow<'a, str>,
    #[serde(borrow)]
    message_id: Cow<'a, str>,
    #[serde(borrow)]
    reason: Cow<'a, str>,
    attempts: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    due_at: Option<Cow<'a, str>>,
}

#[derive(Serialize, Deserialize)]
struct StoredConfig {
    changes: BTreeMap<String, Option<serde_json::Value>>,
}

pub(crate) fn required(payload: &str) -> Decoded<DeliveryRequired> {
    let stored: StoredRequired<'_> = read(payload)?;
    id("message_id", &stored.message_id)?;
    Ok(DeliveryRequired {
        message_id: stored.message_id.into_owned(),
        policy: Policy {
            ack_timeout_seconds: stored.ack_timeout_seconds,
            max_retries: stored.max_retries,
        },
        due_at: stored.due_at,
        requeued: stored.requeued,
    })
}

fn attempt(payload: &str) -> Decoded<(String, u32)> {
    let stored: StoredAttempt<'_> = read(payload)?;
    id("message_id", &stored.message_id)?;
    Ok((stored.message_id.into_owned(), stored.attempt))
}

pub(crate) fn retry(payload: &str) -> Decoded<DeliveryRetry> {
    attempt(payload).map(|(message_id, attempt)| DeliveryRetry {
        message_id,
        attempt,
    })
}

pub(crate) fn acked(payload: &str) -> Decoded<DeliveryAcked> {
    attempt(payload).map(|(message_id, attempt)| DeliveryAcked {
        message_id,
        attempt,
    })
}

pub(crate) fn dead(payload: &str) -> Decoded<DeliveryDead> {
    let stored: StoredDead<'_> = read(payload)?;
    id("id", &stored.id)?;
    id("message_id", &stored.message_id)?;
    Ok(DeliveryDead {
        id: stored.id.into_owned(),
        message_id: stored.message_id.into_owned(),
        reason: stored.reason.into_owned(),
        attempts: stored.attempts,
    })
}

pub(crate) fn config(payload: &str) -> Decoded<ConfigChanged> {
    let stored: StoredConfig = read(payload)?;
    let mut changes = Vec::new();
    for (key, value) in stored.changes {
        let Some(setting) = Setting::find(&key) else {
            continue;
        };
        // Bounds and names are the command's business: what an older or a newer version allowed still counts.
        let value = match (value, setting.form()) {
            (None, _) => None,
            (Some(serde_json::Value::Bool(on)), Form::Switch) => Some(Value::Switch(on)),
            (Some(serde_json::Value::Number(number)), Form::Number(..)) => {
                Some(Value::Number(number.as_u64().ok_or_else(|| {
                    format!("changes.{key} is not a whole number")
                })?))
            }
            (
                Some(serde_json::Value::String(text)),
                Form::Choice(_) | Form::Path | Form::Programs,
            ) => Some(Value::Text(text)),
            (Some(_), Form::Switch) => {
                return Err(format!("changes.{key} is not true, false or null"));
            }
            (Some(_), Form::Number(..)) => {
                return Err(format!("changes.{key} is not a number or null"));
            }
            (Some(_), Form::Choice(_) | Form::Path | Form::Programs) => {
                return Err(format!("changes.{key} is not a text or null"));
            }
        };
        changes.push((setting, value));
    }
    Ok(ConfigChanged { changes })
}

/// An event about a message: its recipient, task and story are those of the message.
pub(crate) fn about(
    kind: &'static str,
    actor: &str,
    message: &MessageInfo,
    stored: &impl Serialize,
) -> NewEvent {
    let mut event = event(kind, actor, write(stored));
    event.refs.set(RefKind::Message, message.id.clone());
    if !message.to.is_empty() {
        event.refs.set(RefKind::Agent, message.to.clone());
    }
    let inherited = [
        (RefKind::Trace, &message.trace_id),
        (RefKind::Task, &message.task_id),
    ];
    for (kind, value) in inherited {
        if let Some(value) = value {
            event.refs.set(kind, value.clone());
        }
    }
    event
}

fn time(at: Timestamp) -> Option<Cow<'static, str>> {
    Some(Cow::Owned(at.to_string()))
}

impl DeliveryRequired {
    /// A delivery of which the first attempt begins now.
    pub fn from(now: Timestamp, message_id: &str, policy: Policy, requeued: bool) -> Self {
        DeliveryRequired {
            message_id: message_id.to_owned(),
            policy,
            due_at: Some(attempt_end(now, policy.ack_timeout_seconds, 1)),
            requeued,
        }
    }

    /// The event that records it.
    pub fn event(&self, actor: &str, message: &MessageInfo) -> NewEvent {
        let stored = StoredRequired {
            message_id: Cow::Borrowed(&self.message_id),
            ack_timeout_seconds: self.policy.ack_timeout_seconds,
            max_retries: self.policy.max_retries,
            due_at: self.due_at,
            requeued: self.requeued,
        };
        about("delivery_required", actor, message, &stored)
    }
}

impl DeliveryRetry {
    /// The event that records it; `due` is when the attempt before ended.
    pub fn event(&self, actor: &str, message: &MessageInfo, due: Timestamp) -> NewEvent {
        let stored = StoredAttempt {
            message_id: Cow::Borrowed(&self.message_id),
            attempt: self.attempt,
            due_at: time(due),
        };
        about("delivery_retry", actor, message, &stored)
    }
}

impl DeliveryAcked {
    /// The event that records it.
    pub fn event(&self, actor: &str, message: &MessageInfo) -> NewEvent {
        let stored = StoredAttempt {
            message_id: Cow::Borrowed(&self.message_id),
            attempt: self.attempt,
            due_at: None,
        };
        about("delivery_acked", actor, message, &stored)
    }
}

impl DeliveryDead {
    /// The event that records it; `due` is when the last attempt ended.
    pub fn event(&self, actor: &str, message: &MessageInfo, due: Timestamp) -> NewEvent {
        let stored = StoredDead {
            id: Cow::Borrowed(&self.id),
            message_id: Cow::Borrowed(&self.message_id),
            reason: Cow::Borrowed(&self.reason),
            attempts: self.attempts,
            due_at: time(due),
        };
        about("delivery_dead_letter", actor, message, &stored)
    }
}

impl ConfigChanged {
    /// The event that records it.
    pub fn event(&self, actor: &str) -> NewEvent {
        let json = |value: &Option<Value>| match value {
            None => None,
            Some(Value::Number(number)) => Some((*number).into()),
            Some(Value::Switch(on)) => Some((*on).into()),
            Some(Value::Text(text)) => Some(text.as_str().into()),
        };
        let changes = self.changes.iter();
        let stored = StoredConfig {
            changes: changes
                .map(|(setting, value)| (setting.key(), json(value)))
                .collect(),
        };
        event("config_changed", actor, write(&stored))
    }
}
