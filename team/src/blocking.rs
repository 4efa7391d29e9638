//! Which claim-governed tasks wait for others, and the events by which they begin and cease to.

use crate::failure::Result;
use crate::holding::event;
use crate::projections::fact::TaskAct;
use crate::projections::{Live, Message, MessageType, Status, Task};
use serde::Deserialize;
use std::borrow::Cow;
use teamlog_engine::{Cause, NewEvent};

/// Most tasks that the event which frees them frees at once, so that it fits into a group with them; `tick` sees to the
/// others, which can be claimed meanwhile.
const AT_ONCE_MAX: usize = 2_000;

/// Records that a pending task has to wait, if it has to. Its cause is the last event so far.
pub(crate) fn block(
    live: &Live,
    task: &mut Task,
    actor: &str,
    events: &mut Vec<NewEvent>,
) -> Result<()> {
    let open = live.open_deps(&task.deps)?;
    if task.status != Status::Pending || open.is_empty() {
        return Ok(());
    }
    let mut blocked = event(task, TaskAct::Blocked(open), actor, task.owner.as_deref());
    blocked.cause = events.len().checked_sub(1).map(Cause::Earlier);
    events.push(blocked);
    task.status = Status::Blocked;
    Ok(())
}

/// The task that a message which is about to be recorded completes, as its fold will.
pub(crate) fn completed_by<'a>(live: &Live, message: &'a Message) -> Result<Option<&'a str>> {
    #[derive(Deserialize)]
    struct Reported<'a> {
        #[serde(borrow)]
        status: Option<Cow<'a, str>>,
    }
    let (MessageType::TaskUpdate, Some(id)) = (message.kind, &message.task_id) else {
        return Ok(None);
    };
    let reported: Option<Reported<'_>> = serde_json::from_str(message.payload.as_str()).ok();
    let status = reported.and_then(|reported| reported.status);
    if status.and_then(|name| Status::from_name(&name)) != Some(Status::Completed) {
        return Ok(None);
    }
    let follows = |task: &Task| {
        let last = (task.last_message_created_at, task.last_message_id.as_str());
        !task.claim_governed
            && task.status != Status::Completed
            && (message.created_at, message.id.as_str()) > last
    };
    let completes = live.task(id)?.as_ref().is_none_or(follows);
    Ok(completes.then_some(id))
}

/// Records which tasks wait for nothing any more once the task `completed` is completed, by the event at `cause`.
pub(crate) fn unblock(
    live: &Live,
    completed: &str,
    cause: usize,
    actor: &str,
    events: &mut Vec<NewEvent>,
) -> Result<()> {
    let mut freed = 0;
    for task in live.dependents(completed)? {
        if !task.claim_governed || task.status != Status::Blocked {
            continue;
        }
        let others: Vec<String> = task
            .deps
            .iter()
            .filter(|dep| *dep != completed)
            .cloned()
            .collect();
        if live.open_deps(&others)?.is_empty() {
            let mut unblocked = event(&task, TaskAct::Unblocked, actor, task.owner.as_deref());
            unblocked.cause = Some(Cause::Earlier(cause));
            events.push(unblocked);
            freed += 1;
        }
        if freed == AT_ONCE_MAX {
            break;
        }
    }
    Ok(())
}
