//! Workers: who they are, what they last said of themselves, what they were told; and the JSON of those payloads.
//!
//! | kind | payload |
//! |---|---|
//! | `worker_identity_written` | `{worker, index, role, assigned_tasks[], pid?, pane_id?, working_dir?, worktree_path?, worktree_branch?, worktree_detached?, team_state_root?, model?}` |
//! | `worker_heartbeat_updated` | `{worker, pid, turn_count, alive}` |
//! | `worker_status_changed` | `{worker, state, prev_state?, current_task_id?, reason?}` |
//! | `worker_inbox_written` | `{worker, content}` |
//! | `shutdown_requested` | `{worker, requested_by}` |
//! | `shutdown_acked` | `{worker, status, reason?}` |
//!
//! When each was written is the time of its event. The kinds about the team as a whole are in [`super::supervision`].

use super::supervision::{self, Approval, Baselines, PhaseChanged, Reported};
use crate::error::{Error, Result};
use crate::fact::stored::{Decoded, name, read, write};
use crate::fact::{event, stored};
use crate::words;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use teamlog_engine::{Event, NewEvent, RefKind};

/// The kinds that [`parse`] knows.
pub(crate) const KINDS: &[&str] = &[
    "worker_identity_written",
    "worker_heartbeat_updated",
    "worker_status_changed",
    "worker_inbox_written",
    "worker_event_reported",
    "shutdown_requested",
    "shutdown_acked",
    "approval_recorded",
    "leader_attention_set",
    "monitor_snapshot_written",
    "summary_snapshot_written",
    "phase_changed",
];

/// What is known of a worker, or of the team's supervision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorkerFact {
    /// `worker_identity_written`: who it is.
    Identity(String, Identity),
    /// `worker_heartbeat_updated`: a sign of life.
    Heartbeat(String, Heartbeat),
    /// `worker_status_changed`: what it does.
    Status(String, StatusChange),
    /// `worker_inbox_written`: its instructions, which stay in the event.
    Inbox(String),
    /// `shutdown_requested`: it was asked to stop.
    ShutdownRequested(String, ShutdownRequest),
    /// `shutdown_acked`: what it says to that.
    ShutdownAcked(String, ShutdownAck),
    /// `worker_event_reported`: the parts that tell of idleness and of the leader.
    Reported(Reported),
    /// `approval_recorded`: what a reviewer decided.
    Approval(Approval),
    /// `leader_attention_set`: what was seen stays in the event.
    Attention,
    /// `monitor_snapshot_written`: the snapshot stays in the event.
    Snapshot,
    /// `summary_snapshot_written`: what progress is measured from.
    Baselines(Baselines),
    /// `phase_changed`: how far the team is.
    Phase(PhaseChanged),
}

/// Who a worker is.
#[derive(
    Debug,
    Clone,
    PartialEq,
    Eq,
    Serialize,
    Deserialize,
    JsonSchema,
    rkyv::Archive,
    rkyv::Serialize,
    rkyv::Deserialize,
)]
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

/// What an agent is there for that never said.
pub const UNREGISTERED_ROLE: &str = "worker";

impl Identity {
    /// A worker that never said anything of itself: its place, and what it is taken to be there for.
    pub fn unregistered(index: u32, role: &str) -> Identity {
        Identity {
            index,
            role: role.to_owned(),
            assigned_tasks: Vec::new(),
            pid: None,
            pane_id: None,
            working_dir: None,
            worktree_path: None,
            worktree_branch: None,
            worktree_detached: None,
            team_state_root: None,
            model: None,
        }
    }
}

/// A sign of life.
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
pub struct Heartbeat {
    /// Its process.
    pub pid: u32,
    /// Turns it took so far.
    pub turn_count: u32,
    /// Whether it lives.
    pub alive: bool,
}

words! {
    /// What a worker does.
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

/// A worker's state changed.
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
pub struct StatusChange {
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
}

/// A worker was asked to stop.
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
pub struct ShutdownRequest {
    /// Who asked.
    pub requested_by: String,
}

/// What a worker says to its shutdown.
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
pub struct ShutdownAck {
    /// Yes or no.
    pub status: AckStatus,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

words! {
    /// Whether a worker agrees to its shutdown.
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
    pub enum AckStatus {
        /// It stops.
        Accept = "accept",
        /// It does not.
        Reject = "reject",
    }
}

/// What a payload says, beside the worker it is about.
#[derive(Serialize, Deserialize)]
struct Of<T> {
    worker: String,
    #[serde(flatten)]
    said: T,
}

#[derive(Serialize, Deserialize)]
struct StoredInbox<'a> {
    #[serde(borrow)]
    worker: Cow<'a, str>,
    #[serde(borrow)]
    content: Cow<'a, str>,
}

pub(crate) fn parse(kind: &str, payload: &str) -> Decoded<WorkerFact> {
    use WorkerFact as Fact;
    match kind {
        "worker_identity_written" => of(payload, Fact::Identity),
        "worker_heartbeat_updated" => of(payload, Fact::Heartbeat),
        "worker_status_changed" => {
            let Of::<StatusChange> { worker, said } = read(payload)?;
            name("worker", &worker)?;
            if let Some(task) = &said.current_task_id {
                stored::id("current_task_id", task)?;
            }
            Ok(Fact::Status(worker, said))
        }
        "worker_inbox_written" => {
            let StoredInbox { worker, .. } = read(payload)?;
            name("worker", &worker)?;
            Ok(Fact::Inbox(worker.into_owned()))
        }
        "shutdown_requested" => of(payload, Fact::ShutdownRequested),
        "shutdown_acked" => of(payload, Fact::ShutdownAcked),
        kind => supervision::parse(kind, payload),
    }
}

fn of<T: for<'a> Deserialize<'a>>(
    payload: &str,
    fact: fn(String, T) -> WorkerFact,
) -> Decoded<WorkerFact> {
    let Of { worker, said } = read(payload)?;
    name("worker", &worker)?;
    Ok(fact(worker, said))
}

/// An event about a worker.
fn about(kind: &'static str, actor: &str, worker: &str, said: impl Serialize) -> NewEvent {
    let payload = write(&Of {
        worker: worker.to_owned(),
        said,
    });
    let mut event = event(kind, actor, payload);
    event.refs.set(RefKind::Agent, worker.to_owned());
    event
}

impl Identity {
    /// The event that records it.
    pub fn event(&self, worker: &str) -> NewEvent {
        about("worker_identity_written", worker, worker, self)
    }
}

impl Heartbeat {
    /// The event that records it.
    pub fn event(&self, worker: &str) -> NewEvent {
        about("worker_heartbeat_updated", worker, worker, self)
    }
}

impl StatusChange {
    /// The event that records it; `trace` is that of the task.
    pub fn event(&self, worker: &str, trace: Option<&str>) -> NewEvent {
        let mut event = about("worker_status_changed", worker, worker, self);
        event.refs.set_given([
            (RefKind::Task, self.current_task_id.as_deref()),
            (RefKind::Trace, trace),
        ]);
        event
    }
}

impl ShutdownRequest {
    /// The event that records it.
    pub fn event(&self, worker: &str) -> NewEvent {
        about("shutdown_requested", &self.requested_by, worker, self)
    }
}

impl ShutdownAck {
    /// The event that records it.
    pub fn event(&self, worker: &str) -> NewEvent {
        about("shutdown_acked", worker, worker, self)
    }
}

/// The event that records a worker's new instructions.
pub fn inbox_written(actor: &str, worker: &str, content: &str) -> NewEvent {
    let payload = write(&StoredInbox {
        worker: worker.into(),
        content: content.into(),
    });
    let mut event = event("worker_inbox_written", actor, payload);
    event.refs.set(RefKind::Agent, worker.to_owned());
    event
}

/// The instructions that an event recorded.
///
/// # Errors
/// `Undecodable` where it recorded none.
pub fn inbox_content(event: &Event<'_>) -> Result<String> {
    let stored: Decoded<StoredInbox<'_>> = read(&event.payload);
    match stored {
        Ok(stored) => Ok(stored.content.into_owned()),
        Err(why) => Err(Error::Undecodable {
            seq: event.seq,
            kind: event.kind.clone().into_owned(),
            why,
        }),
    }
}
