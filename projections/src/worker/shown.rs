//! Presentation of workers, in view files and in answers.

use super::LastKnown;
use crate::event::supervision::{Approval, ApprovalStatus};
use crate::event::worker::{
    AckStatus, Heartbeat, Identity, ShutdownAck, ShutdownRequest, StatusChange, WorkerState,
};
use crate::prelude::*;

/// Name and identity of a worker
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorkerShown {
    /// Name
    pub name: String,
    /// Identity
    #[serde(flatten)]
    pub identity: Identity,
}

/// Last heartbeat of a worker
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HeartbeatShown {
    /// Process id
    pub pid: u32,
    /// Time of the heartbeat
    pub last_turn_at: String,
    /// Number of turns so far
    pub turn_count: u32,
    /// True if the worker's process is alive
    pub alive: bool,
}

/// Status of a worker
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StatusShown {
    /// State; `unknown` if the worker never reported one
    pub state: WorkerState,
    /// Current task, if any
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current_task_id: Option<String>,
    /// Reason
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Time of the report; 1970-01-01 if there is none
    pub updated_at: String,
}

/// A shutdown request to a worker
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ShutdownRequestShown {
    /// Time of the request
    pub requested_at: String,
    /// Agent that asked
    pub requested_by: String,
}

/// A worker's answer to a shutdown request
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ShutdownAckShown {
    /// Accepted or rejected
    pub status: AckStatus,
    /// Reason
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Time of the answer
    pub updated_at: String,
}

/// A reviewer's decision on a task
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ApprovalShown {
    /// Id of the task
    pub task_id: String,
    /// True if the task needs the approval
    pub required: bool,
    /// Decision
    pub status: ApprovalStatus,
    /// Reviewer
    pub reviewer: String,
    /// Reason of the decision
    pub decision_reason: String,
    /// Time of the decision
    pub decided_at: String,
}

impl StatusShown {
    /// Returns the status of a worker that never reported its status.
    pub fn unknown() -> StatusShown {
        StatusShown {
            state: WorkerState::Unknown,
            current_task_id: None,
            reason: None,
            updated_at: Timestamp::default().to_string(),
        }
    }
}

impl From<LastKnown<Heartbeat>> for HeartbeatShown {
    fn from(noted: LastKnown<Heartbeat>) -> HeartbeatShown {
        HeartbeatShown {
            pid: noted.what.pid,
            last_turn_at: noted.at.to_string(),
            turn_count: noted.what.turn_count,
            alive: noted.what.alive,
        }
    }
}

impl From<LastKnown<StatusChange>> for StatusShown {
    fn from(noted: LastKnown<StatusChange>) -> StatusShown {
        StatusShown {
            state: noted.what.state,
            current_task_id: noted.what.current_task_id,
            reason: noted.what.reason,
            updated_at: noted.at.to_string(),
        }
    }
}

impl From<LastKnown<ShutdownRequest>> for ShutdownRequestShown {
    fn from(noted: LastKnown<ShutdownRequest>) -> ShutdownRequestShown {
        ShutdownRequestShown {
            requested_at: noted.at.to_string(),
            requested_by: noted.what.requested_by,
        }
    }
}

impl From<LastKnown<ShutdownAck>> for ShutdownAckShown {
    fn from(noted: LastKnown<ShutdownAck>) -> ShutdownAckShown {
        ShutdownAckShown {
            status: noted.what.status,
            reason: noted.what.reason,
            updated_at: noted.at.to_string(),
        }
    }
}

impl From<LastKnown<Approval>> for ApprovalShown {
    fn from(noted: LastKnown<Approval>) -> ApprovalShown {
        let Approval {
            task_id,
            required,
            status,
            reviewer,
            decision_reason,
        } = noted.what;
        ApprovalShown {
            task_id,
            required,
            status,
            reviewer,
            decision_reason,
            decided_at: noted.at.to_string(),
        }
    }
}
