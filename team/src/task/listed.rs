//! A task of a list, with a mark if its lease has expired but no event records the expiry yet.

use crate::failure::Result;
use crate::names;
use crate::projections::task::ViewedTask;
use crate::projections::{Live, Task, TaskFilter, natural};
use crate::refusal::Refusal;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::cmp::Reverse;
use std::ops::Deref;
use teamlog_engine::Timestamp;

/// A task of a list, with a flag that is true if the lease of its claim has expired.
#[derive(Debug, Clone)]
pub struct Listed {
    task: Task,
    lease_expired: bool,
}

impl Listed {
    pub(crate) fn all(tasks: Vec<Task>, at: Timestamp) -> Vec<Listed> {
        let listed = tasks.into_iter().map(|task| Listed {
            lease_expired: task.lease_expired(at),
            task,
        });
        listed.collect()
    }

    /// Returns true if the lease of the claim has expired but no event records the expiry yet. In that case, other agents can claim
    /// the task.
    pub fn lease_expired(&self) -> bool {
        self.lease_expired
    }

    /// Returns the recorded task, without the mark.
    pub fn into_task(self) -> Task {
        self.task
    }
}

impl Deref for Listed {
    type Target = Task;
    fn deref(&self) -> &Task {
        &self.task
    }
}

impl Serialize for Listed {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let json = self.task.to_json_marked(self.lease_expired);
        crate::shapes::raw(json).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Listed {
    fn deserialize<D: Deserializer<'de>>(from: D) -> std::result::Result<Listed, D::Error> {
        let shown = ViewedTask::deserialize(from)?;
        Ok(Listed {
            lease_expired: shown.lease_expired,
            task: shown.task,
        })
    }
}

#[derive(Default)]
pub(crate) struct CanStart {
    pub tasks: Vec<Task>,
    /// True if more tasks follow.
    pub more: bool,
    pub total: u64,
}

/// Returns the tasks that `agent` can start at `now`; with `None`, the tasks that any agent can start. These are ready tasks, and claimed
/// tasks with an expired lease and without open dependencies. The list has the order of [`rank`] and begins after `after`. In a closed team
/// no task can be started.
pub(crate) fn can_start(
    live: &Live,
    agent: Option<&str>,
    after: Option<&Task>,
    limit: usize,
    now: Timestamp,
) -> Result<CanStart> {
    if live.is_closed()? {
        return Ok(CanStart::default());
    }
    let page = live.ready_tasks(agent, after, limit)?;
    let mut total = live.ready_count(agent)?;
    let mut tasks = page.tasks;
    for task in live.undeferred_tasks(agent, now)? {
        total += 1;
        if after.is_none_or(|after| rank(after) < rank(&task)) {
            tasks.push(task);
        }
    }
    for task in live.expired_tasks(now, usize::MAX)? {
        if !live.ready(&task)? || task.is_held_back(now) {
            continue;
        }
        total += 1;
        if after.is_none_or(|after| rank(after) < rank(&task)) {
            tasks.push(task);
        }
    }
    tasks.sort_by_cached_key(rank);
    let more = page.more || tasks.len() > limit;
    tasks.truncate(limit);
    Ok(CanStart { tasks, more, total })
}

/// Returns the tasks of [`can_start`] that pass a filter. Reads all tasks that can be started.
pub(crate) fn can_start_of(
    live: &Live,
    agent: Option<&str>,
    wanted: &TaskFilter,
    after: Option<&Task>,
    limit: usize,
    now: Timestamp,
) -> Result<CanStart> {
    let mut tasks = can_start(live, agent, None, usize::MAX, now)?.tasks;
    tasks.retain(|task| wanted.passes(task));
    let total = u64::try_from(tasks.len()).unwrap_or(u64::MAX);
    tasks.retain(|task| after.is_none_or(|after| rank(after) < rank(task)));
    let more = tasks.len() > limit;
    tasks.truncate(limit);
    Ok(CanStart { tasks, more, total })
}

/// Returns a filter for a label and a parent, after checking their names.
pub(crate) fn wanted(
    label: Option<&String>,
    parent: Option<&String>,
) -> Result<TaskFilter, Refusal> {
    if let Some(label) = label {
        names::check_known_free("label", label)?;
    }
    if let Some(parent) = parent {
        names::check_known("parent", parent)?;
    }
    Ok(TaskFilter {
        label: label.cloned(),
        parent: parent.cloned(),
        ..TaskFilter::default()
    })
}

/// Returns the sort key of a startable task: most urgent first, then oldest, then by id.
pub(crate) fn rank(task: &Task) -> (Reverse<u8>, Timestamp, Vec<u8>) {
    let id = natural::key(&task.task_id);
    (Reverse(task.priority as u8), task.created_at, id)
}
