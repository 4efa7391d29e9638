//! News about tasks for their owners, and the ends of tasks. Entries are events of the log.

use super::Task;
use super::row::task_key;
use crate::event::supervision::{Approval, ApprovalStatus, SupervisionFact};
use crate::event::task::{TaskAct, TaskFact};
use crate::prelude::*;

/// Series of the news of tasks, by agent.
const NEWS: u8 = 0x91;
/// Single series of the events by which a task was completed, failed or canceled, each with the id of the task.
const ENDED: u8 = 0x92;
/// Namespace of agents that gave a task to another agent; key: agent.
const GAVE: u8 = 0x93;

/// Returns the series of an agent's news.
pub(crate) fn news_of(agent: &str) -> Vec<u8> {
    key::series(NEWS, agent.as_bytes())
}

/// Adds the news that a command on a task brings to its owner.
pub(super) fn of_command(tx: &mut Tx<'_>, event: &Event<'_>, fact: &TaskFact) {
    let to = match &fact.act {
        TaskAct::Created(created) => created.owner.as_deref(),
        TaskAct::Assigned(assigned) => assigned.owner.as_deref(),
        TaskAct::Unblocked | TaskAct::Canceled(_) => event.refs.get(RefKind::Agent),
        TaskAct::LeaseExpired(lease) => Some(&*lease.held.worker),
        _ => None,
    };
    if let Some(to) = to {
        tx.mark(&numbered(NEWS, to, event.seq));
    }
    if let TaskAct::Created(_) | TaskAct::Assigned(_) = &fact.act {
        gave(tx, &event.actor, to);
    }
}

/// Records that an agent gave a task to another agent.
pub(super) fn gave(tx: &mut Tx<'_>, from: &str, to: Option<&str>) {
    if to.is_some_and(|to| to != from) {
        tx.mark(&key_of(GAVE, from.as_bytes()));
    }
}

/// Adds the news of a change for an owner other than `by`: another agent got the task, or the task ended.
pub(super) fn of_change(
    tx: &mut Tx<'_>,
    (id, seq): (&str, u64),
    by: &str,
    old: Option<&Task>,
    new: &Task,
) {
    let was_open = old.is_none_or(|old| !old.status.is_final());
    let before = old.and_then(|old| old.owner.as_deref());
    let before = before.filter(|owner| *owner != by && was_open);
    let is_other = |owner: &&str| new.owner.as_deref().is_some_and(|new| new != *owner);
    if let Some(owner) = before.filter(is_other) {
        tx.mark(&numbered(NEWS, owner, seq));
    }
    if was_open && new.status.is_final() {
        tx.put(&numbered(ENDED, "", seq), &id.to_owned());
    }
}

/// Adds a reviewer's decision to the news of the task's owner.
pub(super) fn of_approval(tx: &mut Tx<'_>, seq: u64, fact: &SupervisionFact) -> Result<()> {
    let SupervisionFact::Approval(approval) = fact else {
        return Ok(());
    };
    let Approval {
        task_id,
        status,
        reviewer,
        ..
    } = approval;
    if *status == ApprovalStatus::Pending {
        return Ok(());
    }
    let task: Option<Task> = tx.get(&task_key(task_id))?;
    let owner = task.and_then(|task| task.owner);
    if let Some(owner) = owner.filter(|owner| owner != reviewer) {
        tx.mark(&numbered(NEWS, &owner, seq));
    }
    Ok(())
}

impl TeamState {
    /// Returns the ids of at most `limit` tasks that ended by an event after `since`, the newest first. A task that ended twice
    /// occurs twice.
    pub fn ended_since(&self, since: u64, limit: usize) -> Result<Vec<String>> {
        let entries = self.rows().prefix(&key::series(ENDED, b""), true);
        let mut ended = Vec::new();
        for entry in entries.take(limit) {
            let entry = entry?;
            if entry.seq() <= since {
                break;
            }
            ended.push(entry.row()?);
        }
        Ok(ended)
    }
    /// Returns true if an agent ever gave a task to another agent: by an assignment, or by naming an owner for a task that the
    /// first agent created.
    pub fn gave_work(&self, agent: &str) -> Result<bool> {
        self.rows().has(&key_of(GAVE, agent.as_bytes()))
    }
}
