//! Questions about workers.

use super::ATTENTION;
use super::row::{
    APPROVAL, BASELINE, HEARTBEAT, IDENTITY, INBOX, LAST_IDLE, Noted, PHASE, REPORTED,
    SHUTDOWN_ACK, SHUTDOWN_REQUEST, SNAPSHOT, STATUS, WorkerPart,
};
use crate::prelude::*;
use crate::worker::event::{Heartbeat, Identity, ShutdownAck, ShutdownRequest, StatusChange};
use crate::worker::supervision::{Approval, Baseline};

fn noted<T>(rows: Rows<'_>, namespace: u8, name: &str) -> Result<Option<Noted<T>>>
where
    Noted<T>: Row,
{
    rows.get(&key_of(namespace, name.as_bytes()))
}

impl TeamState {
    /// Who a worker is; `None` for one that never registered.
    pub fn identity(&self, worker: &str) -> Result<Option<Noted<Identity>>> {
        noted(self.rows(), IDENTITY, worker)
    }
    /// A worker's last sign of life.
    pub fn heartbeat(&self, worker: &str) -> Result<Option<Noted<Heartbeat>>> {
        noted(self.rows(), HEARTBEAT, worker)
    }
    /// What a worker last said that it does.
    pub fn worker_status(&self, worker: &str) -> Result<Option<Noted<StatusChange>>> {
        noted(self.rows(), STATUS, worker)
    }
    /// The event that holds a worker's instructions.
    pub fn worker_inbox(&self, worker: &str) -> Result<Option<u64>> {
        self.rows().get(&key_of(INBOX, worker.as_bytes()))
    }
    /// Who last asked a worker to stop.
    pub fn shutdown_request(&self, worker: &str) -> Result<Option<Noted<ShutdownRequest>>> {
        noted(self.rows(), SHUTDOWN_REQUEST, worker)
    }
    /// What a worker last said to that.
    pub fn shutdown_ack(&self, worker: &str) -> Result<Option<Noted<ShutdownAck>>> {
        noted(self.rows(), SHUTDOWN_ACK, worker)
    }
    /// The event that told of a worker's last becoming idle.
    pub fn last_idle(&self, worker: &str) -> Result<Option<u64>> {
        self.rows().get(&key_of(LAST_IDLE, worker.as_bytes()))
    }
    /// What a worker's progress is measured from.
    pub fn baseline(&self, worker: &str) -> Result<Option<Noted<Baseline>>> {
        noted(self.rows(), BASELINE, worker)
    }
    /// What a reviewer last decided on a task.
    pub fn approval(&self, task: &str) -> Result<Option<Noted<Approval>>> {
        noted(self.rows(), APPROVAL, task)
    }
    /// The event that holds the monitor's snapshot.
    pub fn monitor_snapshot(&self) -> Result<Option<u64>> {
        self.rows().get(&[SNAPSHOT])
    }
    /// The last reported event of that type, which is one of [`TEAM_WIDE`](super::TEAM_WIDE).
    pub fn last_reported(&self, kind: &str) -> Result<Option<u64>> {
        self.rows().get(&key_of(REPORTED, kind.as_bytes()))
    }
    /// The event that tells what was last seen of the leader.
    pub fn leader_attention(&self) -> Result<Option<u64>> {
        self.last_reported(ATTENTION)
    }
    /// How far the team is; `None` where nobody said.
    pub fn phase(&self) -> Result<Option<Noted<String>>> {
        noted(self.rows(), PHASE, "")
    }
}

/// Everybody of whom a part is known, sorted.
pub(crate) fn workers(rows: Rows<'_>) -> Result<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    for part in WorkerPart::ALL {
        for entry in rows.prefix(&[part.namespace()], false) {
            names.insert(entry?.name(1));
        }
    }
    Ok(names)
}

/// Which parts are known of a worker.
pub(crate) fn parts(rows: Rows<'_>, worker: &str) -> Result<Vec<WorkerPart>> {
    let mut parts = Vec::new();
    for part in WorkerPart::ALL {
        if rows.has(&key_of(part.namespace(), worker.as_bytes()))? {
            parts.push(part);
        }
    }
    Ok(parts)
}
