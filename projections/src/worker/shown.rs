//! How what is known of a worker is shown: in view files and in answers.

use super::Noted;
use crate::event::supervision::{Approval, ApprovalStatus};
use crate::event::worker::{
    AckStatus, Heartbeat, Identity, ShutdownAck, ShutdownRequest, StatusChange, WorkerState,
};
use crate::prelude::*;

/// Who a worker is, with its name
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorkerShown {
    /// Its name
    pub name: String,
    /// The rest
    #[serde(flatten)]
    pub identity: Identity,
}

/// A worker's last sign of life
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HeartbeatShown {
    /// Its process
    pub pid: u32,
    /// When it was
    pub last_turn_at: String,
    /// Turns it took so far
    pub turn_count: u32,
    /// Whether it lives
    pub alive: bool,
}

/// What a worker does
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StatusShown {
    /// Its state; `unknown` where it never said
    pub state: WorkerState,
    /// The task that it is at
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current_task_id: Option<String>,
    /// Why
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Since when; the beginning of 1970 where it never said
    pub updated_at: String,
}

/// A worker was asked to stop
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ShutdownRequestShown {
    /// When
    pub requested_at: String,
    /// By whom
    pub requested_by: String,
}

/// What a worker says to its shutdown
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ShutdownAckShown {
    /// Yes or no
    pub status: AckStatus,
    /// Why
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// When
    pub updated_at: String,
}

/// What a reviewer decided on a task
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ApprovalShown {
    /// The task
    pub task_id: String,
    /// Whether the task needs it
    pub required: bool,
    /// The decision
    pub status: ApprovalStatus,
    /// Who decided
    pub reviewer: String,
    /// Why
    pub decision_reason: String,
    /// When
    pub decided_at: String,
}

impl StatusShown {
    /// Of a worker that never said anything.
    pub fn unknown() -> StatusShown {
        StatusShown {
            state: WorkerState::Unknown,
            current_task_id: None,
            reason: None,
            updated_at: Timestamp::default().to_string(),
        }
    }
}

impl From<Noted<Heartbeat>> for HeartbeatShown {
    fn from(noted: Noted<Heartbeat>) -> HeartbeatShown {
        HeartbeatShown {
            pid: noted.what.pid,
            last_turn_at: noted.at.to_string(),
            turn_count: noted.what.turn_count,
            alive: noted.what.alive,
        }
    }
}

impl From<Noted<StatusChange>> for StatusShown {
    fn from(noted: Noted<StatusChange>) -> StatusShown {
        StatusShown {
            state: noted.what.state,
            current_task_id: noted.what.current_task_id,
            reason: noted.what.reason,
            updated_at: noted.at.to_string(),
        }
    }
}

impl From<Noted<ShutdownRequest>> for ShutdownRequestShown {
    fn from(noted: Noted<ShutdownRequest>) -> ShutdownRequestShown {
        ShutdownRequestShown {
            requested_at: noted.at.to_string(),
            requested_by: noted.what.requested_by,
        }
    }
}

impl From<Noted<ShutdownAck>> for ShutdownAckShown {
    fn from(noted: Noted<ShutdownAck>) -> ShutdownAckShown {
        ShutdownAckShown {
            status: noted.what.status,
            reason: noted.what.reason,
            updated_at: noted.at.to_string(),
        }
    }
}

impl From<Noted<Approval>> for ApprovalShown {
    fn from(noted: Noted<Approval>) -> ApprovalShown {
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
