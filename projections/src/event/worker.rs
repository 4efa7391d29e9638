//! Events of workers (identity, heartbeat, status, instructions, shutdown), and the JSON of their payloads. The time of each is
//! the time of its event.

use super::*;

events! {
    /// An event of a worker.
    #[derive(Serialize)]
    #[serde(untagged)]
    pub enum WorkerAct of WorkerFact { worker } {
        /// A worker registered.
        "worker_identity_written" by "teamlog api write-worker-identity" => Identity(Identity),
        /// A worker gave a sign of life.
        "worker_heartbeat_updated" by "teamlog api update-worker-heartbeat" => Heartbeat:
        #[derive(Copy, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
        Heartbeat {
            /// Process id.
            pub pid: u32,
            /// Number of turns so far.
            pub turn_count: u32,
            /// True if the worker's process is alive.
            pub alive: bool,
        },
        /// A worker's state changed.
        "worker_status_changed" by "teamlog api write-worker-status" => Status:
        #[derive(rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
        StatusChange [id current_task_id] {
            /// New state.
            pub state: WorkerState,
            /// State before.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub prev_state: Option<WorkerState>,
            /// Current task, if any.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub current_task_id: Option<String>,
            /// Reason.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub reason: Option<String>,
        },
        /// A worker's instructions were replaced.
        "worker_inbox_written" by "teamlog api write-worker-inbox" => Inbox:
        /// Instructions for a worker. The text is stored only in the event.
        Instructions {
            /// The text.
            pub content: String,
        },
        /// A worker was asked to stop.
        "shutdown_requested" by "teamlog api write-shutdown-request" => ShutdownRequested:
        #[derive(rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
        ShutdownRequest {
            /// Agent that asked.
            pub requested_by: String,
        },
        /// A worker accepted or rejected its shutdown.
        "shutdown_acked" by "teamlog api write-shutdown-ack" => ShutdownAcked:
        /// A worker's answer to a shutdown request.
        #[derive(rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
        ShutdownAck {
            /// Accepted or rejected.
            pub status: AckStatus,
            /// Reason.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub reason: Option<String>,
        },
    }
}

#[derive(rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
/// Identity of a worker.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Identity {
    /// Number of the worker, from 1
    pub index: u32,
    /// Role of the worker
    pub role: String,
    /// Ids of the worker's tasks
    #[serde(default)]
    pub assigned_tasks: Vec<String>,
    /// Process id
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// Pane of the terminal multiplexer
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pane_id: Option<String>,
    /// Working directory
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub working_dir: Option<String>,
    /// Path of the worktree
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worktree_path: Option<String>,
    /// Branch of the worktree
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worktree_branch: Option<String>,
    /// True if the worktree is on no branch
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worktree_detached: Option<bool>,
    /// Directory of the team's state, as the worker knows it
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub team_state_root: Option<String>,
    /// Language model
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

/// Role of an agent that never registered.
pub const UNREGISTERED_ROLE: &str = "worker";

impl Identity {
    /// Returns the identity of a worker that never registered: its number and its assumed role.
    pub fn unregistered(index: u32, role: &str) -> Identity {
        Identity {
            index,
            role: role.to_owned(),
            ..Identity::default()
        }
    }
}

words! {
    /// State of a worker.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    #[derive(rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
    pub enum WorkerState {
        /// Has nothing to do.
        Idle = "idle",
        /// Works on its task.
        Working = "working",
        /// Waits for something.
        Blocked = "blocked",
        /// Has finished.
        Done = "done",
        /// Gave up.
        Failed = "failed",
        /// Finishes its current work and takes no new work.
        Draining = "draining",
        /// Not known.
        Unknown = "unknown",
    }
}

words! {
    /// Answer to a shutdown request.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    #[derive(rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
    pub enum AckStatus {
        /// The worker stops.
        Accept = "accept",
        /// The worker does not stop.
        Reject = "reject",
    }
}

checks! {
    Identity {}
}

impl WorkerAct {
    /// Builds the event of a worker.
    pub fn event(self, actor: &str, worker: &str) -> NewEvent {
        let worker = worker.to_owned();
        let fact = WorkerFact { worker, act: self };
        let refs = [(RefKind::Agent, Some(&*fact.worker))];
        event(fact.act.kind(), actor, write(&fact), refs)
    }
}

impl StatusChange {
    /// Builds the event; `trace` is the trace id of the task.
    pub fn event(self, worker: &str, trace: Option<&str>) -> NewEvent {
        let task = self.current_task_id.clone();
        let mut event = WorkerAct::Status(self).event(worker, worker);
        event
            .refs
            .set_given([(RefKind::Task, task.as_deref()), (RefKind::Trace, trace)]);
        event
    }
}

/// Returns the instructions that an event recorded.
pub fn inbox_content(event: &Event<'_>) -> Result<String> {
    let stored: Decoded<Instructions> = read(&event.payload);
    Ok(stored.map_err(undecodable(event))?.content)
}
