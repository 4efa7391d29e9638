//! What is known of the team as a whole: approvals, snapshots of its monitor, the baseline of its summary, its phase,
//! what workers reported; and the JSON of those payloads.

use super::stored::name;
use super::task::{Status, TaskCounts};
use super::worker::WorkerState;
use super::*;
use serde::de::DeserializeOwned;

/// The kind of what was seen of the leader.
pub(crate) const ATTENTION: &str = "leader_attention_set";

events! {
    /// What is known of the team's supervision.
    pub enum SupervisionFact {
        /// A reviewer decided on a task.
        "approval_recorded" by "teamlog api write-task-approval" => Approval:
        #[derive(rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
        Approval [name task_id] {
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
        },
        /// The leader's attention state changed.
        "leader_attention_set" by "teamlog api write-leader-attention" => Attention:
        /// The part that every one has; the rest stays in the event.
        AttentionSet {
            /// Who saw the leader.
            pub source: String,
            /// Whether its session goes on.
            pub leader_session_active: bool,
        },
        /// A monitor's snapshot was stored.
        "monitor_snapshot_written" by "teamlog api write-monitor-snapshot" => Snapshot(SnapshotWritten),
        /// The baseline of the team's summary was moved.
        "summary_snapshot_written" by "teamlog api get-summary" => Baselines:
        #[derive(Default)]
        Baselines [name workers] {
            /// By worker.
            pub workers: BTreeMap<String, Baseline>,
        },
        /// The team's phase changed.
        "phase_changed" by "teamlog api cleanup" => Phase: PhaseChanged [id to] {
            /// The phase before.
            pub from: String,
            /// The phase now.
            pub to: String,
        },
        /// The gate before a cleanup was evaluated or forced.
        "shutdown_gated" by "teamlog api cleanup" => Gated,
        /// A worker reported something; its type is the payload's.
        "worker_event_reported" by "teamlog api append-event" => Reported(Reported),
    }
}

words! {
    /// A reviewer's decision.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    #[derive(rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
    pub enum ApprovalStatus {
        /// None yet.
        Pending = "pending",
        /// Yes.
        Approved = "approved",
        /// No.
        Rejected = "rejected",
    }
}

#[derive(rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
/// What a worker's progress is measured from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Baseline {
    /// Turns that it had taken.
    pub turn_count: u32,
    /// The task that it was at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
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

/// `monitor_snapshot_written`: that there is one; it stays in the event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SnapshotWritten;

#[derive(Serialize, Deserialize)]
struct Snapshot<'a> {
    #[serde(borrow)]
    snapshot: &'a RawValue,
}

impl Decode for SnapshotWritten {
    fn decode(text: &str) -> Decoded<SnapshotWritten> {
        read(text).map(|Snapshot { .. }| SnapshotWritten)
    }
}

impl Decode for Reported {
    fn decode(text: &str) -> Decoded<Reported> {
        let value: serde_json::Value = read(text)?;
        let text = |field: &str| value.get(field).and_then(serde_json::Value::as_str);
        // What is no name can be nobody's key either.
        let worker = text("worker").filter(|worker| name("worker", *worker).is_ok());
        Ok(Reported {
            kind: text("type").unwrap_or_default().to_owned(),
            worker: worker.unwrap_or_default().to_owned(),
            state: text("state").and_then(WorkerState::from_name),
        })
    }
}

impl Approval {
    /// Returns whether the task needs the approval and the reviewer said no.
    pub fn is_rejected(&self) -> bool {
        self.required && self.status == ApprovalStatus::Rejected
    }

    /// The event that records it; `trace` is that of the task.
    pub fn event(&self, trace: Option<&str>) -> NewEvent {
        let kind = SupervisionFact::Approval(self.clone()).kind();
        let refs = [
            (RefKind::Task, Some(&*self.task_id)),
            (RefKind::Trace, trace),
        ];
        event(kind, &self.reviewer, write(self), refs)
    }
}

impl Baselines {
    /// The event that records it.
    pub fn event(self, actor: &str) -> NewEvent {
        let payload = write(&self);
        event(SupervisionFact::Baselines(self).kind(), actor, payload, [])
    }
}

impl PhaseChanged {
    /// The event that records it.
    pub fn event(self, actor: &str) -> NewEvent {
        let payload = write(&self);
        event(SupervisionFact::Phase(self).kind(), actor, payload, [])
    }
}

impl ShutdownGated {
    /// The event that records it.
    pub fn event(&self, actor: &str) -> NewEvent {
        #[derive(Serialize)]
        struct Gate {
            forced: bool,
            allowed: bool,
            pending: u64,
            assigned: u64,
            blocked: u64,
            in_progress: u64,
            failed: u64,
        }
        let of = |status: Status| self.counts.by_status[status as usize];
        let gate = Gate {
            forced: self.forced,
            allowed: true,
            pending: of(Status::Pending),
            assigned: of(Status::Assigned),
            blocked: of(Status::Blocked),
            in_progress: of(Status::InProgress),
            failed: of(Status::Failed),
        };
        event(SupervisionFact::Gated.kind(), actor, write(&gate), [])
    }
}

/// The event that records a monitor's snapshot, a JSON object as text.
///
/// # Errors
/// Where the text is no JSON, or too deep for an event.
pub fn snapshot_written(actor: &str, snapshot: &str) -> Result<NewEvent, JsonError> {
    let snapshot = Json::parse(snapshot)?;
    let raw = serde_json::from_str(snapshot.as_str()).map_err(|error| JsonError {
        message: error.to_string(),
        offset: 0,
    })?;
    let kind = SupervisionFact::Snapshot(SnapshotWritten).kind();
    let payload = Json::from_value(&Snapshot { snapshot: raw })?;
    Ok(event(kind, actor, payload, []))
}

/// The snapshot that an event recorded, as JSON text.
pub fn snapshot<'a>(event: &'a Event<'_>) -> Result<&'a str> {
    let stored: Decoded<Snapshot<'_>> = read(&event.payload);
    Ok(stored.map_err(undecodable(event))?.snapshot.get())
}

/// The event that records what was seen of the leader.
pub fn attention_set(actor: &str, said: &impl Serialize) -> Result<NewEvent, JsonError> {
    Ok(event(ATTENTION, actor, Json::from_value(said)?, []))
}

/// What an event recorded of the leader.
pub fn attention<T: DeserializeOwned>(event: &Event<'_>) -> Result<T> {
    read(&event.payload).map_err(undecodable(event))
}
