//! What workers are known by: who they are, what they last said of themselves, what they were told; and the JSON of those
//! payloads. When each was written is the time of its event.

use super::*;

events! {
    /// What is known of a worker.
    #[derive(Serialize)]
    #[serde(untagged)]
    pub enum WorkerAct of WorkerFact { worker } {
        /// A worker registered.
        "worker_identity_written" by "teamlog api write-worker-identity" => Identity(Identity),
        /// A worker gave a sign of life.
        "worker_heartbeat_updated" by "teamlog api update-worker-heartbeat" => Heartbeat:
        #[derive(Copy, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
        Heartbeat {
            /// Its process.
            pub pid: u32,
            /// Turns it took so far.
            pub turn_count: u32,
            /// Whether it lives.
            pub alive: bool,
        },
        /// A worker's state changed.
        "worker_status_changed" by "teamlog api write-worker-status" => Status:
        #[derive(rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
        StatusChange [id current_task_id] {
            /// What it does now.
            pub state: WorkerState,
            /// What it did before.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub prev_state: Option<WorkerState>,
            /// The task that it is at.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub current_task_id: Option<String>,
            /// Why.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub reason: Option<String>,
        },
        /// A worker's instructions were replaced.
        "worker_inbox_written" by "teamlog api write-worker-inbox" => Inbox:
        /// What a worker is to do. It stays in the event.
        Instructions {
            /// The text.
            pub content: String,
        },
        /// A worker was asked to stop.
        "shutdown_requested" by "teamlog api write-shutdown-request" => ShutdownRequested:
        #[derive(rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
        ShutdownRequest {
            /// Who asked.
            pub requested_by: String,
        },
        /// A worker accepted or rejected its shutdown.
        "shutdown_acked" by "teamlog api write-shutdown-ack" => ShutdownAcked:
        /// What a worker says to its shutdown.
        #[derive(rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
        ShutdownAck {
            /// Yes or no.
            pub status: AckStatus,
            /// Why.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub reason: Option<String>,
        },
    }
}

#[derive(rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
/// Who a worker is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Identity {
    /// Its place among the workers, from 1
    pub index: u32,
    /// What it is there for
    pub role: String,
    /// The tasks that it was given
    #[serde(default)]
    pub assigned_tasks: Vec<String>,
    /// Its process
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// Its place in a terminal multiplexer
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pane_id: Option<String>,
    /// Where it works
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub working_dir: Option<String>,
    /// Its worktree
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worktree_path: Option<String>,
    /// The branch of its worktree
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worktree_branch: Option<String>,
    /// Whether its worktree is on no branch
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worktree_detached: Option<bool>,
    /// Where it takes the team's state to lie
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub team_state_root: Option<String>,
    /// The language model that it is
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

/// The role of an agent that never registered.
pub const UNREGISTERED_ROLE: &str = "worker";

impl Identity {
    /// A worker that never registered: its place, and its assumed role.
    pub fn unregistered(index: u32, role: &str) -> Identity {
        Identity {
            index,
            role: role.to_owned(),
            ..Identity::default()
        }
    }
}

words! {
    /// What a worker does.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    #[derive(rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
    pub enum WorkerState {
        /// Nothing.
        Idle = "idle",
        /// Its task.
        Working = "working",
        /// It waits for something.
        Blocked = "blocked",
        /// It is through.
        Done = "done",
        /// It gave up.
        Failed = "failed",
        /// It finishes what it has, and takes nothing new.
        Draining = "draining",
        /// Nobody knows.
        Unknown = "unknown",
    }
}

words! {
    /// Whether a worker agrees to its shutdown.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    #[derive(rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
    pub enum AckStatus {
        /// It stops.
        Accept = "accept",
        /// It does not.
        Reject = "reject",
    }
}

checks! {
    Identity {}
}

impl WorkerAct {
    /// The event that records it of a worker.
    pub fn event(self, actor: &str, worker: &str) -> NewEvent {
        let worker = worker.to_owned();
        let fact = WorkerFact { worker, act: self };
        let refs = [(RefKind::Agent, Some(&*fact.worker))];
        event(fact.act.kind(), actor, write(&fact), refs)
    }
}

impl StatusChange {
    /// The event that records it; `trace` is that of the task.
    pub fn event(self, worker: &str, trace: Option<&str>) -> NewEvent {
        let task = self.current_task_id.clone();
        let mut event = WorkerAct::Status(self).event(worker, worker);
        event
            .refs
            .set_given([(RefKind::Task, task.as_deref()), (RefKind::Trace, trace)]);
        event
    }
}

/// The instructions that an event recorded.
pub fn inbox_content(event: &Event<'_>) -> Result<String> {
    let stored: Decoded<Instructions> = read(&event.payload);
    Ok(stored.map_err(undecodable(event))?.content)
}
