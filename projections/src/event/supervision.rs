//! Events of the team as a whole (approvals, monitor snapshots, summary baselines, phases, reports of workers), and the JSON of
//! their payloads.

use super::stored::name;
use super::task::{Status, TaskCounts};
use super::worker::WorkerState;
use super::*;
use serde::de::DeserializeOwned;

/// Kind of the event that records the leader's attention state.
pub(crate) const ATTENTION: &str = "leader_attention_set";

events! {
    /// Events of the team's supervision.
    pub enum SupervisionFact {
        /// A reviewer decided on a task.
        "approval_recorded" by "teamlog api write-task-approval" => Approval:
        #[derive(rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
        Approval [name task_id] {
            /// Id of the task.
            pub task_id: String,
            /// True if the task needs the approval.
            pub required: bool,
            /// The decision.
            pub status: ApprovalStatus,
            /// Agent that decided.
            pub reviewer: String,
            /// Reason of the decision.
            pub decision_reason: String,
        },
        /// The leader's attention state changed.
        "leader_attention_set" by "teamlog api write-leader-attention" => Attention:
        /// The fields that every event of this kind has. Other fields stay in the event.
        AttentionSet {
            /// Source of the observation.
            pub source: String,
            /// True if the leader's session is running.
            pub leader_session_active: bool,
        },
        /// A monitor's snapshot was stored.
        "monitor_snapshot_written" by "teamlog api write-monitor-snapshot" => Snapshot(SnapshotWritten),
        /// The baseline of the team's summary was moved.
        "summary_snapshot_written" by "teamlog api get-summary" => Baselines:
        #[derive(Default)]
        Baselines [name workers] {
            /// Baseline of each worker.
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
        /// A worker reported an event; the payload holds its type.
        "worker_event_reported" by "teamlog api append-event" => Reported(Reported),
    }
}

words! {
    /// Decision of a reviewer.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    #[derive(rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
    pub enum ApprovalStatus {
        /// No decision yet.
        Pending = "pending",
        /// Approved.
        Approved = "approved",
        /// Rejected.
        Rejected = "rejected",
    }
}

#[derive(rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
/// Point from which a worker's progress is measured.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Baseline {
    /// Number of turns that the worker had made at this point.
    pub turn_count: u32,
    /// Task that the worker had at this point.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
}

/// `shutdown_gated`: the gate allowed closing the team.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShutdownGated {
    /// True if the gate was forced and unfinished work was not checked.
    pub forced: bool,
    /// Number of unfinished tasks.
    pub counts: TaskCounts,
}

/// `worker_event_reported`: the fields that teamlog uses. Reports come from other programs, so a field of the wrong type counts
/// as missing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reported {
    /// Type of the report.
    pub kind: String,
    /// Worker that reported.
    pub worker: String,
    /// Reported state, if any.
    pub state: Option<WorkerState>,
}

/// `monitor_snapshot_written`: a marker; the snapshot stays in the event.
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
        // Ignore a worker whose name is not valid, because the name would be a key.
        let worker = text("worker").filter(|worker| name("worker", *worker).is_ok());
        Ok(Reported {
            kind: text("type").unwrap_or_default().to_owned(),
            worker: worker.unwrap_or_default().to_owned(),
            state: text("state").and_then(WorkerState::from_name),
        })
    }
}

impl Approval {
    /// Returns true if the task needs the approval and the reviewer rejected it.
    pub fn is_rejected(&self) -> bool {
        self.required && self.status == ApprovalStatus::Rejected
    }

    /// Builds the event; `trace` is the trace id of the task.
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
    /// Builds the event.
    pub fn event(self, actor: &str) -> NewEvent {
        let payload = write(&self);
        event(SupervisionFact::Baselines(self).kind(), actor, payload, [])
    }
}

impl PhaseChanged {
    /// Builds the event.
    pub fn event(self, actor: &str) -> NewEvent {
        let payload = write(&self);
        event(SupervisionFact::Phase(self).kind(), actor, payload, [])
    }
}

impl ShutdownGated {
    /// Builds the event.
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

/// Builds the event that records a monitor's snapshot, a JSON object as text.
///
/// # Errors
/// If the text is no JSON, or nested too deep for an event.
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

/// Returns the snapshot that an event recorded, as JSON text.
pub fn snapshot<'a>(event: &'a Event<'_>) -> Result<&'a str> {
    let stored: Decoded<Snapshot<'_>> = read(&event.payload);
    Ok(stored.map_err(undecodable(event))?.snapshot.get())
}

/// Builds the event that records the leader's attention state.
pub fn attention_set(actor: &str, said: &impl Serialize) -> Result<NewEvent, JsonError> {
    Ok(event(ATTENTION, actor, Json::from_value(said)?, []))
}

/// Returns the leader's attention state that an event recorded.
pub fn attention<T: DeserializeOwned>(event: &Event<'_>) -> Result<T> {
    read(&event.payload).map_err(undecodable(event))
}
