//! What is known of the team as a whole: approvals, snapshots of its monitor, the baseline of its summary, its phase,
//! what workers reported; and the JSON of those payloads.
//!
//! | kind | payload |
//! |---|---|
//! | `approval_recorded` | `{task_id, required, status, reviewer, decision_reason}` |
//! | `leader_attention_set` | `{source, leader_session_active, …}`: what was seen of the leader, which stays in the event |
//! | `monitor_snapshot_written` | `{snapshot:{…}}` |
//! | `summary_snapshot_written` | `{workers:{name:{turn_count, task_id?}}}`: what changed since the one before |
//! | `phase_changed` | `{from, to}` |
//! | `shutdown_gated` | `{forced, allowed, pending, assigned, blocked, in_progress, failed}` |
//! | `worker_event_reported` | `{type, worker, state?, …}`; whatever else it says moves nothing |

use super::event::{WorkerFact, WorkerState};
use crate::error::{Error, Result};
use crate::fact::event;
use crate::fact::stored::{Decoded, id, name, read, write};
use crate::task::{Status, TaskCounts};
use crate::words;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use teamlog_engine::{Event, Json, JsonError, NewEvent, RefKind};

/// What a reviewer decided on a task.
#[derive(
    Debug,
    Clone,
    PartialEq,
    Eq,
    Serialize,
    Deserialize,
    rkyv::Archive,
    rkyv::Serialize,
    rkyv::Deserialize,
)]
pub struct Approval {
    /// The task.
    pub task_id: String,
    /// Whether the task needs it.
    pub required: bool,
    /// The decision.
    pub status: ApprovalStatus,
    /// Who decided.
    pub reviewer: String,
    /// Why.
    pub decision_reason: String,
}

words! {
    /// A reviewer's decision.
    #[derive(
        Debug,
        Clone,
        Copy,
        PartialEq,
        Eq,
        Serialize,
        Deserialize,
        rkyv::Archive,
        rkyv::Serialize,
        rkyv::Deserialize,
    )]
    #[serde(rename_all = "snake_case")]
    pub enum ApprovalStatus {
        /// None yet.
        Pending = "pending",
        /// Yes.
        Approved = "approved",
        /// No.
        Rejected = "rejected",
    }
}

/// What a worker's progress is measured from.
#[derive(
    Debug,
    Clone,
    Default,
    PartialEq,
    Eq,
    Serialize,
    Deserialize,
    rkyv::Archive,
    rkyv::Serialize,
    rkyv::Deserialize,
)]
pub struct Baseline {
    /// Turns that it had taken.
    pub turn_count: u32,
    /// The task that it was at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
}

/// `summary_snapshot_written`: the baselines that moved.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Baselines {
    /// By worker.
    pub workers: BTreeMap<String, Baseline>,
}

/// `phase_changed`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhaseChanged {
    /// The phase before.
    pub from: String,
    /// The phase now.
    pub to: String,
}

/// `shutdown_gated`: the gate let the team be closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShutdownGated {
    /// Whether nobody looked at what is left over.
    pub forced: bool,
    /// What was left over.
    pub counts: TaskCounts,
}

/// `worker_event_reported`: what of it counts here. It comes from outside, so that a field of another sort than it should
/// be is taken as missing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reported {
    /// The type.
    pub kind: String,
    /// Who reported it.
    pub worker: String,
    /// The state that it reports.
    pub state: Option<WorkerState>,
}

#[derive(Serialize)]
struct StoredGate {
    forced: bool,
    allowed: bool,
    pending: u64,
    assigned: u64,
    blocked: u64,
    in_progress: u64,
    failed: u64,
}

#[derive(Deserialize)]
struct StoredSnapshot<'a> {
    #[serde(borrow)]
    snapshot: &'a RawValue,
}

#[derive(Serialize)]
struct NewSnapshot<'a> {
    snapshot: &'a RawValue,
}

/// The part of `leader_attention_set` that every one has.
#[derive(Deserialize)]
#[expect(dead_code, reason = "it is there to be checked")]
struct StoredAttention {
    source: String,
    leader_session_active: bool,
}

pub(crate) fn parse(kind: &str, payload: &str) -> Decoded<WorkerFact> {
    match kind {
        "approval_recorded" => {
            let approval: Approval = read(payload)?;
            name("task_id", &approval.task_id)?;
            Ok(WorkerFact::Approval(approval))
        }
        "monitor_snapshot_written" => {
            read(payload).map(|StoredSnapshot { .. }| WorkerFact::Snapshot)
        }
        "leader_attention_set" => read(payload).map(|StoredAttention { .. }| WorkerFact::Attention),
        "summary_snapshot_written" => {
            let baselines: Baselines = read(payload)?;
            for worker in baselines.workers.keys() {
                name("workers", worker)?;
            }
            Ok(WorkerFact::Baselines(baselines))
        }
        "phase_changed" => {
            let phase: PhaseChanged = read(payload)?;
            id("to", &phase.to)?;
            Ok(WorkerFact::Phase(phase))
        }
        "worker_event_reported" => reported(payload).map(WorkerFact::Reported),
        _ => Err(format!("{kind} is not known")),
    }
}

fn reported(payload: &str) -> Decoded<Reported> {
    let value: serde_json::Value = read(payload)?;
    let text = |field: &str| value.get(field).and_then(serde_json::Value::as_str);
    // What is no name can be nobody's key either.
    let worker = text("worker").filter(|worker| name("worker", worker).is_ok());
    Ok(Reported {
        kind: text("type").unwrap_or_default().to_owned(),
        worker: worker.unwrap_or_default().to_owned(),
        state: text("state").and_then(WorkerState::from_name),
    })
}

impl Approval {
    /// The event that records it; `trace` is that of the task.
    pub fn event(&self, trace: Option<&str>) -> NewEvent {
        let mut event = event("approval_recorded", &self.reviewer, write(self));
        event.refs.set(RefKind::Task, self.task_id.clone());
        if let Some(trace) = trace {
            event.refs.set(RefKind::Trace, trace.to_owned());
        }
        event
    }
}

impl Baselines {
    /// The event that records it.
    pub fn event(&self, actor: &str) -> NewEvent {
        event("summary_snapshot_written", actor, write(self))
    }
}

impl PhaseChanged {
    /// The event that records it.
    pub fn event(&self, actor: &str) -> NewEvent {
        event("phase_changed", actor, write(self))
    }
}

impl ShutdownGated {
    /// The event that records it.
    pub fn event(&self, actor: &str) -> NewEvent {
        let of = |status: Status| self.counts.by_status[status as usize];
        let stored = StoredGate {
            forced: self.forced,
            allowed: true,
            pending: of(Status::Pending),
            assigned: of(Status::Assigned),
            blocked: of(Status::Blocked),
            in_progress: of(Status::InProgress),
            failed: of(Status::Failed),
        };
        event("shutdown_gated", actor, write(&stored))
    }
}

/// The event that records a monitor's snapshot, a JSON object as text.
///
/// # Errors
/// Where the text is no JSON, or too deep for an event.
pub fn snapshot_written(actor: &str, snapshot: &str) -> Result<NewEvent, JsonError> {
    let snapshot = Json::parse(snapshot)?;
    let raw: Result<&RawValue, _> = serde_json::from_str(snapshot.as_str());
    let payload = match raw {
        Ok(snapshot) => Json::of(&NewSnapshot { snapshot })?,
        Err(error) => {
            return Err(JsonError {
                message: error.to_string(),
                offset: 0,
            });
        }
    };
    Ok(event("monitor_snapshot_written", actor, payload))
}

/// The snapshot that an event recorded, as JSON text.
///
/// # Errors
/// `Undecodable` where it recorded none.
pub fn snapshot<'a>(event: &'a Event<'_>) -> Result<&'a str> {
    let stored: Decoded<StoredSnapshot<'_>> = read(&event.payload);
    match stored {
        Ok(stored) => Ok(stored.snapshot.get()),
        Err(why) => Err(Error::Undecodable {
            seq: event.seq,
            kind: event.kind.clone().into_owned(),
            why,
        }),
    }
}

/// The event that records what was seen of the leader.
///
/// # Errors
/// Where it is too deep for an event.
pub fn attention_set(actor: &str, said: &impl Serialize) -> Result<NewEvent, JsonError> {
    Ok(event("leader_attention_set", actor, Json::of(said)?))
}

/// What an event recorded of the leader.
///
/// # Errors
/// `Undecodable` where it recorded nothing of the sort.
pub fn attention<T: DeserializeOwned>(event: &Event<'_>) -> Result<T> {
    serde_json::from_str(&event.payload).map_err(|error| Error::Undecodable {
        seq: event.seq,
        kind: event.kind.clone().into_owned(),
        why: error.to_string(),
    })
}
