//! Team events: the log's events in the form for brokers. Each team event shows one event of the log, which was either
//! reported with `append-event` or recorded by an operation.
//!
//! In canonical form, a reported `worker_idle` becomes a changed state, and fields of the wrong type are left out.

use crate::log::event_type::{self, EventType};
use crate::operation::prelude::*;
use crate::projections::thread::post_id;
use crate::projections::worker::event::WorkerState;

pub(crate) const REPORTED: &str = "worker_event_reported";

/// The JSON object `{event_id, team, type, worker, task_id?, message_id, …, created_at}` with further reported fields.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TeamEvent {
    /// Id of the log's event
    pub event_id: String,
    /// The team
    pub team: String,
    /// Type of the event; a foreign type is passed on unchanged
    #[serde(rename = "type")]
    pub kind: String,
    /// Worker that the event concerns; for messages the recipient
    pub worker: String,
    /// Task
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
    /// Message
    #[serde(default)]
    pub message_id: Option<String>,
    /// Reason
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Action that the reporter asks for
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intent: Option<String>,
    /// State of the worker
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// Previous state of the worker
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prev_state: Option<String>,
    /// Number of workers
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker_count: Option<u64>,
    /// Second worker that the event names, besides `worker`
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_worker: Option<String>,
    /// Reported type, if the canonical type differs
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_type: Option<String>,
    /// Further data, as reported
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Map<String, Value>>,
    /// Time when the event was recorded
    pub created_at: String,
    /// Further fields, as reported
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

impl TeamEvent {
    /// Returns a log event as a team event, in the reported form; `None` if brokers do not see the
    /// event.
    pub fn from_event(event: &Event<'_>, team: &str) -> Option<TeamEvent> {
        if event.foreign {
            return None;
        }
        let says = match &*event.kind {
            REPORTED => reported(&payload(event)),
            "message_sent" => of_message(event),
            "thread_message_posted" => of_post(event)?,
            "task_completed" => of_task(event, EventType::TaskCompleted),
            "task_failed" => of_task(event, EventType::TaskFailed),
            "approval_recorded" => of_approval(&payload(event)),
            "worker_status_changed" => of_status(&payload(event)),
            "shutdown_acked" => of_ack(&payload(event)),
            "shutdown_gated" => of_gate(payload(event)),
            _ => return None,
        };
        Some(TeamEvent {
            event_id: event.id.to_string(),
            team: team.to_owned(),
            created_at: event.created_at.to_string(),
            ..says
        })
    }

    /// Converts the event to canonical form.
    #[must_use]
    pub fn canonical(mut self) -> TeamEvent {
        let known = |state: &String| WorkerState::from_name(state).is_some();
        self.prev_state = self.prev_state.filter(known);
        if self.kind == EventType::WorkerIdle.name() {
            self.kind = EventType::WorkerStateChanged.name().to_owned();
            self.source_type = Some(EventType::WorkerIdle.name().to_owned());
            self.state = Some("idle".to_owned());
        }
        self.state = self.state.filter(known);
        self
    }

    /// Returns true if this event and the previous event both report the worker as idle.
    pub fn repeats(&self, before: &TeamEvent) -> bool {
        self.is_source(EventType::WorkerIdle)
            && before.kind == EventType::WorkerStateChanged.name()
            && (&self.team, &self.worker, &self.task_id)
                == (&before.team, &before.worker, &before.task_id)
            && (&self.state, &self.prev_state) == (&before.state, &before.prev_state)
    }

    /// Returns true if the event has this type, either in canonical form or as reported.
    pub fn is(&self, kind: EventType) -> bool {
        self.kind == kind.name() || (kind == EventType::WorkerIdle && self.is_source(kind))
    }

    /// Returns true if the event concerns the worker, as its agent or as one of its recipients.
    pub fn concerns(&self, worker: &str) -> bool {
        let recipients = self.extra.get(TO_WORKERS).and_then(Value::as_array);
        let mut recipients = recipients.into_iter().flatten();
        self.worker == worker || recipients.any(|one| one == worker)
    }

    /// Returns true if the event wakes waiting callers.
    pub fn is_wakeable(&self) -> bool {
        event_type::is_wakeable(&self.kind)
    }

    fn is_source(&self, kind: EventType) -> bool {
        self.source_type.as_deref() == Some(kind.name())
    }

    fn typed(kind: EventType, worker: impl Into<String>) -> TeamEvent {
        TeamEvent {
            kind: kind.name().to_owned(),
            worker: worker.into(),
            ..TeamEvent::default()
        }
    }
}

fn payload(event: &Event<'_>) -> Map<String, Value> {
    serde_json::from_str(&event.payload).unwrap_or_default()
}

fn text(payload: &Map<String, Value>, name: &str) -> Option<String> {
    payload.get(name).and_then(Value::as_str).map(str::to_owned)
}

fn worker(payload: &Map<String, Value>) -> String {
    text(payload, "worker").unwrap_or_default()
}

fn reference(event: &Event<'_>, kind: RefKind) -> Option<String> {
    event.refs.get(kind).map(str::to_owned)
}

/// Returns the team event of a report. Known fields of the right type become fields of the team event. All other fields go to `extra`
/// unchanged.
fn reported(payload: &Map<String, Value>) -> TeamEvent {
    let mut says = TeamEvent::default();
    for (name, value) in payload {
        let text = || value.as_str().map(str::to_owned);
        match name.as_str() {
            "type" => says.kind = text().unwrap_or_default(),
            "worker" => says.worker = text().unwrap_or_default(),
            "task_id" => says.task_id = text(),
            "message_id" => says.message_id = text(),
            "reason" => says.reason = text(),
            "intent" => says.intent = text(),
            "state" => says.state = text(),
            "prev_state" => says.prev_state = text(),
            "to_worker" => says.to_worker = text(),
            "source_type" => says.source_type = text(),
            "worker_count" => says.worker_count = value.as_u64(),
            "metadata" => says.metadata = value.as_object().cloned(),
            // Only the log sets these fields.
            "event_id" | "team" | "created_at" => {}
            _ => drop(says.extra.insert(name.clone(), value.clone())),
        }
    }
    says
}

fn of_message(event: &Event<'_>) -> TeamEvent {
    let recipient = reference(event, RefKind::Agent).unwrap_or_default();
    TeamEvent {
        task_id: reference(event, RefKind::Task),
        message_id: reference(event, RefKind::Message),
        ..TeamEvent::typed(EventType::MessageReceived, recipient)
    }
}

/// Extra field of a team event: the recipients of a post.
const TO_WORKERS: &str = "to_workers";

/// Returns the team event of a post in a thread, which each addressed agent receives. Returns `None` if the post addresses no
/// agent.
fn of_post(event: &Event<'_>) -> Option<TeamEvent> {
    let payload = payload(event);
    let recipients = payload.get("to").cloned()?;
    let first = recipients.as_array()?.first()?.as_str()?.to_owned();
    let mut extra = Map::new();
    extra.extend([(TO_WORKERS.to_owned(), recipients)]);
    let thread = reference(event, RefKind::Thread);
    extra.extend(thread.map(|thread| ("thread_id".to_owned(), thread.into())));
    Some(TeamEvent {
        task_id: reference(event, RefKind::Task),
        message_id: Some(post_id(event.id)),
        extra,
        ..TeamEvent::typed(EventType::MessageReceived, first)
    })
}

fn of_task(event: &Event<'_>, kind: EventType) -> TeamEvent {
    let worker = event.refs.get(RefKind::Agent).unwrap_or(&event.actor);
    let failed = kind == EventType::TaskFailed;
    let error = || text(&payload(event), "error").unwrap_or_else(|| kind.name().to_owned());
    TeamEvent {
        task_id: reference(event, RefKind::Task),
        reason: failed.then(error),
        ..TeamEvent::typed(kind, worker)
    }
}

fn of_approval(payload: &Map<String, Value>) -> TeamEvent {
    let status = text(payload, "status").unwrap_or_default();
    let why = text(payload, "decision_reason").unwrap_or_default();
    let reviewer = text(payload, "reviewer").unwrap_or_default();
    TeamEvent {
        task_id: text(payload, "task_id"),
        reason: Some(format!("{status}:{why}")),
        ..TeamEvent::typed(EventType::ApprovalDecision, reviewer)
    }
}

fn of_status(payload: &Map<String, Value>) -> TeamEvent {
    TeamEvent {
        task_id: text(payload, "current_task_id"),
        reason: text(payload, "reason"),
        state: text(payload, "state"),
        prev_state: text(payload, "prev_state"),
        ..TeamEvent::typed(EventType::WorkerStateChanged, worker(payload))
    }
}

fn of_ack(payload: &Map<String, Value>) -> TeamEvent {
    let status = text(payload, "status").unwrap_or_default();
    let reason = match text(payload, "reason") {
        Some(why) => format!("{status}:{why}"),
        None => status,
    };
    TeamEvent {
        reason: Some(reason),
        ..TeamEvent::typed(EventType::ShutdownAck, worker(payload))
    }
}

fn of_gate(payload: Map<String, Value>) -> TeamEvent {
    let forced = payload.get("forced") == Some(&Value::Bool(true));
    let kind = match forced {
        true => EventType::ShutdownGateForced,
        false => EventType::ShutdownGate,
    };
    TeamEvent {
        metadata: Some(payload),
        ..TeamEvent::typed(kind, LEADER)
    }
}
