//! Team events: what happens to a team, as brokers read it. Each is another look at one event of the log, whether it was
//! reported as such or says the same in the log's own words.
//!
//! In canonical form a reported `worker_idle` is a changed state, and fields of the wrong sort are left out.

use crate::log::event_type::{self, EventType};
use crate::operation::prelude::*;
use crate::projections::thread::post_id;
use crate::projections::worker::event::WorkerState;

pub(crate) const REPORTED: &str = "worker_event_reported";

/// `{event_id, team, type, worker, task_id?, message_id, …, created_at}` and whatever else was reported.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TeamEvent {
    /// The id of the log's event
    pub event_id: String,
    /// The team
    pub team: String,
    /// The type; one from elsewhere is passed on as it is
    #[serde(rename = "type")]
    pub kind: String,
    /// The worker concerned; of messages their recipient
    pub worker: String,
    /// The task concerned
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
    /// The message concerned
    #[serde(default)]
    pub message_id: Option<String>,
    /// Why
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What somebody is to do about it
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intent: Option<String>,
    /// The worker's state
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// Its state before
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prev_state: Option<String>,
    /// How many workers there are
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker_count: Option<u64>,
    /// Another worker concerned
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_worker: Option<String>,
    /// The type as it was reported, where it reads as another one
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_type: Option<String>,
    /// More, as it was reported
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Map<String, Value>>,
    /// When it was recorded
    pub created_at: String,
    /// Whatever else was reported
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

impl TeamEvent {
    /// What an event of the log says to brokers, as it was reported; `None` where it says nothing to them.
    pub fn of(event: &Event<'_>, team: &str) -> Option<TeamEvent> {
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

    /// The same in canonical form.
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

    /// Whether it only repeats, as a report that a worker is idle, what the one right before it says.
    pub fn repeats(&self, before: &TeamEvent) -> bool {
        self.is_source(EventType::WorkerIdle)
            && before.kind == EventType::WorkerStateChanged.name()
            && (&self.team, &self.worker, &self.task_id)
                == (&before.team, &before.worker, &before.task_id)
            && (&self.state, &self.prev_state) == (&before.state, &before.prev_state)
    }

    /// Whether it is of that type, or was reported as such.
    pub fn is(&self, kind: EventType) -> bool {
        self.kind == kind.name() || (kind == EventType::WorkerIdle && self.is_source(kind))
    }

    /// Returns true if it is about that worker, as the agent concerned or as a recipient.
    pub fn concerns(&self, worker: &str) -> bool {
        let recipients = self.extra.get(TO_WORKERS).and_then(Value::as_array);
        let mut recipients = recipients.into_iter().flatten();
        self.worker == worker || recipients.any(|one| one == worker)
    }

    /// Whether it wakes whoever waits.
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

/// What was reported: known fields if they are of their sort, all others as they are.
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
            // The log's own.
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

/// The recipients of a post, among what a team event has beside its own fields.
const TO_WORKERS: &str = "to_workers";

/// A post in a thread, as received by each agent that it is addressed to; `None` if it is addressed to none.
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
