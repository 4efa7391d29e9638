//! Claim-governed tasks that wait for their dependencies, and the events that block and unblock these tasks.

use crate::claim::holding::follows;
use crate::projections::task::UnmetDeps;
use crate::projections::task::event::TaskBlocked;
use crate::task::approval;
use crate::task::prelude::*;

pub(crate) use crate::claim::holding::block;

/// Maximum number of tasks that one event unblocks. The limit keeps the group of events below its maximum size. `tick` unblocks the
/// remaining tasks. Agents can claim the remaining tasks even before the tick.
const AT_ONCE_MAX: usize = 2_000;

/// Returns the dependencies of a blocked task that failed, were canceled or do not exist. The result is empty if the task
/// is not blocked.
pub fn unmet_dependencies(live: &Live, task: &Task) -> Result<UnmetDeps> {
    let waits = [Status::Pending, Status::Assigned, Status::Blocked];
    match waits.contains(&task.status) {
        true => Ok(live.unmet_deps(&task.deps)?),
        false => Ok(UnmetDeps::default()),
    }
}

/// Unmet dependencies per task. A task without unmet dependencies has no entry.
#[derive(Debug, Default)]
pub(crate) struct UnmetByTask {
    pub failed: BTreeMap<String, Vec<String>>,
    pub unknown: BTreeMap<String, Vec<String>>,
}

/// Finds the unmet dependencies of each of the tasks.
pub(crate) fn unmet_by_task(live: &Live, tasks: &[Task]) -> Result<UnmetByTask> {
    let mut unmet = UnmetByTask::default();
    for task in tasks {
        let UnmetDeps { failed, unknown } = unmet_dependencies(live, task)?;
        if !failed.is_empty() {
            unmet.failed.insert(task.task_id.clone(), failed);
        }
        if !unknown.is_empty() {
            unmet.unknown.insert(task.task_id.clone(), unknown);
        }
    }
    Ok(unmet)
}

/// Change of a message-governed task by a message that will be recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turn {
    /// The task becomes completed.
    Completed,
    /// The task is no longer completed.
    Resumed,
}

pub(crate) fn turned_by<'a>(live: &Live, message: &'a Message) -> Result<Option<(&'a str, Turn)>> {
    let (Some(id), Some(status)) = (&message.task_id, message.reported_status()) else {
        return Ok(None);
    };
    let task = live.task(id)?;
    let follows = |task: &Task| {
        let last = (task.last_message_created_at, task.last_message_id.as_str());
        !task.claim_governed && (message.created_at, message.id.as_str()) > last
    };
    if !task.as_ref().is_none_or(follows) || approval::withheld(live, message)?.is_some() {
        return Ok(None);
    }
    let was = task.is_some_and(|task| task.status == Status::Completed);
    Ok(match (was, status == Status::Completed) {
        (false, true) => Some((id, Turn::Completed)),
        (true, false) => Some((id, Turn::Resumed)),
        _ => None,
    })
}

/// Blocks the pending tasks that depend on `resumed`, because that task is no longer completed. `cause` is the index of the event
/// that resumed that task.
pub(crate) fn reblock(
    live: &Live,
    resumed: &str,
    cause: usize,
    actor: &str,
    events: &mut Vec<NewEvent>,
) -> Result<()> {
    let most = events.len() + AT_ONCE_MAX;
    for task in live.dependents(resumed) {
        let task = task?;
        if !task.claim_governed || task.status != Status::Pending {
            continue;
        }
        let waits_for = vec![resumed.to_owned()];
        let act = TaskAct::Blocked(TaskBlocked { waits_for });
        events.push(follows(&task, act, actor, Some(cause)));
        if events.len() == most {
            break;
        }
    }
    Ok(())
}

/// Unblocks the tasks that depend on `completed` and have no other open dependency. `cause` is the index of the event that
/// completed that task.
pub(crate) fn unblock(
    live: &Live,
    completed: &str,
    cause: usize,
    actor: &str,
    events: &mut Vec<NewEvent>,
) -> Result<()> {
    let most = events.len() + AT_ONCE_MAX;
    for task in live.dependents(completed) {
        let task = task?;
        if !task.claim_governed || task.status != Status::Blocked {
            continue;
        }
        let others = task.deps.iter().filter(|dep| *dep != completed);
        let others: Vec<String> = others.cloned().collect();
        if live.open_deps(&others)?.is_empty() {
            events.push(follows(&task, TaskAct::Unblocked, actor, Some(cause)));
        }
        if events.len() == most {
            break;
        }
    }
    Ok(())
}
