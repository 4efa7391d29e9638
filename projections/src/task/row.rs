//! The row of a task in the derived store, and the keys of the indexes over it.

use super::{Concern, Status, Task, TaskCounts};
use crate::natural;
use crate::prelude::*;

/// Namespace of tasks; key: id, in natural order. The indexes have this order, too.
pub(super) const TASK: u8 = 0x30;
/// Namespace of the index by status.
pub(super) const BY_STATUS: u8 = 0x31;
/// Namespace of the index by owner and status.
pub(super) const BY_OWNER: u8 = 0x32;
/// Namespace of the index of tasks that are `blocked`, or were reported blocked.
pub(super) const BLOCKED: u8 = 0x33;
/// Namespace of the index of unfinished tasks, by the time of the last update.
pub(super) const OPEN: u8 = 0x34;
/// Namespace of the number of tasks by status.
pub(super) const COUNTS: u8 = 0x35;
/// Namespace of the index by label.
pub(super) const BY_LABEL: u8 = 0x94;
/// Namespace of the index by parent.
pub(super) const BY_PARENT: u8 = 0x95;
/// Namespace of the index of unfinished tasks, by due time.
pub(super) const DUE: u8 = 0x96;
/// Namespace of an owner's number of tasks by status; key: owner.
const OWNED: u8 = 0x3C;
/// Namespace of the index of live claims, by the end of their lease.
pub(super) const LEASES: u8 = 0x3D;
/// Namespace of the index of tasks completed by the holder of a claim, by the time of completion.
pub(super) const COMPLETED: u8 = 0x45;
/// Namespace of a single row: the largest number that is the id of a task.
pub(super) const NUMBERED: u8 = 0x3E;
/// Single series of superseded messages.
pub(super) const SUPERSEDED: u8 = 0x90;

row!(Task);
row!(TaskCounts);

impl Task {
    /// Returns true if the task belongs to the list of blocked tasks. A report by the task's holder is enough.
    fn is_blocked(&self) -> bool {
        let stuck = self.status == Status::InProgress && self.reported.blocked;
        self.blocked || stuck || self.status == Status::Blocked
    }

    /// Returns the index keys of a task with the natural key `natural`.
    pub fn index_keys(&self, natural: &[u8]) -> Vec<Vec<u8>> {
        let mut keys = vec![with_status(key_of(BY_STATUS, b""), self.status, natural)];
        if let Some(owner) = &self.owner {
            keys.push(with_status(owner_prefix(owner), self.status, natural));
        }
        if self.is_blocked() {
            keys.push(key_of(BLOCKED, natural));
        }
        for concern in Concern::ALL {
            if concern.is_of(self) {
                keys.push(concern.key(natural));
            }
        }
        if !self.status.is_final() {
            keys.push(timed(OPEN, self.updated_at.micros(), natural));
        }
        if let Some(claim) = self.claim() {
            keys.push(timed(LEASES, claim.leased_until.micros(), natural));
        }
        // Only completions by the holder of a claim are indexed.
        let completed = self.claim_governed && self.status == Status::Completed;
        if let Some(at) = self.governed.completed_at.filter(|_| completed) {
            keys.push(timed(COMPLETED, at.micros(), natural));
        }
        let plan = &self.governed.plan;
        for label in &plan.labels {
            keys.push([&*named(BY_LABEL, label), natural].concat());
        }
        if let Some(parent) = &plan.parent {
            keys.push([&*named(BY_PARENT, parent), natural].concat());
        }
        if let Some(at) = plan.due_at.filter(|_| !self.status.is_final()) {
            keys.push(timed(DUE, at.micros(), natural));
        }
        keys
    }
}

/// Returns the key of a task.
pub(super) fn task_key(id: &str) -> Vec<u8> {
    key_of(TASK, &natural::key(id))
}

/// Returns the key of an owner's task counts.
pub(super) fn owned_key(owner: &str) -> Vec<u8> {
    key_of(OWNED, owner.as_bytes())
}

/// Returns the prefix of the keys of an owner's tasks.
pub(super) fn owner_prefix(owner: &str) -> Vec<u8> {
    named(BY_OWNER, owner)
}

fn with_status(mut prefix: Vec<u8>, status: Status, natural: &[u8]) -> Vec<u8> {
    prefix.push(status as u8);
    prefix.extend_from_slice(natural);
    prefix
}

/// Returns the status of a task during a fold.
pub(crate) fn status_in(tx: &Tx<'_>, id: &str) -> Result<Option<Status>> {
    let task: Option<Task> = tx.get(&task_key(id))?;
    Ok(task.map(|task| task.status))
}
