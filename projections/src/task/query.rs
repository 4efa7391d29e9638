//! Queries over tasks. A query reads about as many rows as it returns.

use super::row::{
    BLOCKED, BY_LABEL, BY_PARENT, BY_STATUS, COMPLETED, COUNTS, DUE, LEASES, NUMBERED, OPEN,
    SUPERSEDED, TASK, owned_key, owner_prefix,
};
use super::{Status, Task, TaskCounts, TaskFilter, TaskPage, UnmetDeps, ready};
use crate::natural;
use crate::prelude::*;

impl TeamState {
    /// Returns the task with this id.
    pub fn task(&self, id: &str) -> Result<Option<Task>> {
        by_natural(self.rows(), &natural::key(id))
    }
    /// Returns the tasks after the id `after` (which need not exist), in natural order.
    pub fn tasks(
        &self,
        filter: &TaskFilter,
        after: Option<&str>,
        limit: usize,
    ) -> Result<TaskPage> {
        if filter.is_of_plan() {
            return self.planned(filter, after, limit);
        }
        let prefixes: Vec<Vec<u8>> = match (&filter.owner, filter.status) {
            (None, None) => vec![key_of(TASK, b"")],
            (None, Some(status)) => vec![key_of(BY_STATUS, &[status as u8])],
            (Some(owner), status) => {
                let of = |status| [owner_prefix(owner), vec![status as u8]].concat();
                match status {
                    Some(status) => vec![of(status)],
                    None => Status::ALL.map(of).to_vec(),
                }
            }
        };
        page(self.rows(), prefixes, 0, after.map(natural::key), limit)
    }
    /// Returns a page of tasks with a parent or a label. Reads all tasks with that parent, or that label.
    fn planned(&self, filter: &TaskFilter, after: Option<&str>, limit: usize) -> Result<TaskPage> {
        let list = match (&filter.parent, &filter.label) {
            (Some(parent), _) => named(BY_PARENT, parent),
            (None, label) => named(BY_LABEL, label.as_deref().unwrap_or_default()),
        };
        let mut from = list.clone();
        if let Some(after) = after {
            from.extend_from_slice(&natural::key(after));
            from.push(0);
        }
        let mut tasks = Vec::new();
        for entry in self.rows().walk(&from, &end_of(&list), false) {
            let task = by_natural(self.rows(), entry?.behind(list.len()))?;
            tasks.extend(task.filter(|task| filter.passes(task)));
            if tasks.len() > limit {
                break;
            }
        }
        let more = tasks.len() > limit;
        tasks.truncate(limit);
        Ok(TaskPage { tasks, more })
    }
    /// Returns the unfinished tasks that were due by `now`, the earliest first.
    pub fn overdue_tasks(&self, now: Timestamp, limit: usize) -> Result<Vec<Task>> {
        let end = end_of(&timed(DUE, now.micros(), b""));
        first_timed(self.rows(), &[DUE], &end, limit)
    }
    /// Returns the deferred tasks whose time `defer_until` is over at `now`, the earliest first. If an agent is named, leaves out tasks of
    /// other owners. [`Self::ready_tasks`] does not return deferred tasks.
    pub fn undeferred_tasks(&self, agent: Option<&str>, now: Timestamp) -> Result<Vec<Task>> {
        let list = ready::deferred();
        let end = end_of(&timed(list, now.micros(), b""));
        let mut tasks = first_timed(self.rows(), &[list], &end, usize::MAX)?;
        if agent.is_some() {
            tasks.retain(|task| task.owner.is_none() || task.owner.as_deref() == agent);
        }
        Ok(tasks)
    }
    /// Returns the tasks that are `blocked` or were reported blocked, in natural order.
    pub fn blocked_tasks(&self, after: Option<&str>, limit: usize) -> Result<TaskPage> {
        let lists = vec![vec![BLOCKED]];
        page(self.rows(), lists, 0, after.map(natural::key), limit)
    }
    /// Returns the tasks after `after` that can be taken up: most urgent first, then oldest, then by id. If an agent is named,
    /// these are the tasks for any agent and the tasks that are assigned to the named agent.
    pub fn ready_tasks(
        &self,
        agent: Option<&str>,
        after: Option<&Task>,
        limit: usize,
    ) -> Result<TaskPage> {
        let after = after.map(|task| {
            let natural = natural::key(&task.task_id);
            ready::rank(task.priority, task.created_at, &natural)
        });
        let lists = ready_lists(agent);
        page(self.rows(), lists, ready::RANK_BYTES, after, limit)
    }
    /// Counts the tasks that can be taken up. If an agent is named, counts only the tasks that this agent can take up.
    pub fn ready_count(&self, agent: Option<&str>) -> Result<u64> {
        let lists = ready_lists(agent).into_iter();
        lists.map(|list| listed(self.rows(), &list)).sum()
    }
    /// Returns the unfinished tasks that an owner cannot continue, because they are blocked or have a dependency that is not
    /// completed. The order is natural.
    pub fn waiting_tasks(
        &self,
        owner: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<TaskPage> {
        let lists = vec![ready::waiting_of(owner)];
        page(self.rows(), lists, 0, after.map(natural::key), limit)
    }
    /// Counts the unfinished tasks that an owner cannot continue.
    pub fn waiting_count(&self, owner: &str) -> Result<u64> {
        listed(self.rows(), &ready::waiting_of(owner))
    }
    /// Counts the tasks of an owner, by status.
    pub fn owned_counts(&self, owner: &str) -> Result<TaskCounts> {
        Ok(self.rows().get(&owned_key(owner))?.unwrap_or_default())
    }
    /// Returns the agents that ever owned a task, sorted by name.
    pub fn task_owners(&self) -> Result<Vec<String>> {
        let owners = self.rows().prefix(&owned_key(""), false);
        owners.map(|entry| Ok(entry?.name(1))).collect()
    }
    /// Returns the dependencies that are not completed, in order. An unknown dependency is not completed.
    pub fn open_deps(&self, deps: &[String]) -> Result<Vec<String>> {
        self.deps_with(deps, |status| status != Some(Status::Completed))
    }
    /// Returns the dependencies that failed or were canceled, and the dependencies that do not exist, each in order.
    pub fn unmet_deps(&self, deps: &[String]) -> Result<UnmetDeps> {
        let mut unmet = UnmetDeps::default();
        for dep in deps {
            match self.task(dep)?.map(|task| task.status) {
                Some(Status::Failed | Status::Canceled) => unmet.failed.push(dep.clone()),
                None => unmet.unknown.push(dep.clone()),
                Some(_) => {}
            }
        }
        Ok(unmet)
    }
    fn deps_with(
        &self,
        deps: &[String],
        wanted: impl Fn(Option<Status>) -> bool,
    ) -> Result<Vec<String>> {
        let mut found = Vec::new();
        for dep in deps {
            let task = self.task(dep)?;
            if wanted(task.map(|task| task.status)) {
                found.push(dep.clone());
            }
        }
        Ok(found)
    }
    /// Returns the tasks that name the task `id` as a dependency, in the order in which they first named it. A task is read when
    /// the iterator reaches it.
    pub fn dependents<'a>(&'a self, id: &'a str) -> impl Iterator<Item = Result<Task>> + 'a {
        let waiters = ready::waiting_for(self.rows(), id);
        let tasks = waiters.map(|waiter| self.task(&waiter?));
        tasks.filter_map(Result::transpose).filter(move |task| {
            let waits = |task: &Task| task.deps.iter().any(|dep| dep == id);
            task.as_ref().map_or(true, waits)
        })
    }
    /// Returns the tasks after the id `after` that are stored as blocked although their dependencies are completed, in natural
    /// order.
    pub fn freed_tasks(&self, after: Option<&str>, limit: usize) -> Result<Vec<Task>> {
        let after = after.map(natural::key);
        Ok(page(self.rows(), vec![ready::freed()], 0, after, limit)?.tasks)
    }
    /// Returns the claimed tasks whose lease ran out by `now`, the earliest first.
    pub fn expired_tasks(&self, now: Timestamp, limit: usize) -> Result<Vec<Task>> {
        let end = end_of(&timed(LEASES, now.micros(), b""));
        first_timed(self.rows(), &[LEASES], &end, limit)
    }
    /// Returns the ids of the tasks that holders of claims completed after `since`, in natural order. Reads no rows of other
    /// tasks.
    pub fn completed_since(&self, since: Option<Timestamp>) -> Result<Vec<String>> {
        let from = match since {
            None => vec![COMPLETED],
            Some(since) => end_of(&timed(COMPLETED, since.micros(), b"")),
        };
        let mut found = Vec::new();
        for entry in self.rows().walk(&from, &end_of(&[COMPLETED]), false) {
            found.push(entry?.behind(TIMED_BYTES).to_vec());
        }
        found.sort_unstable();
        let ids = found.iter().filter_map(|natural| natural::decode(natural));
        Ok(ids.collect())
    }
    /// Counts the leases that run at `now`. Reads one entry per lease.
    pub fn lease_count(&self, now: Timestamp) -> Result<u64> {
        let from = end_of(&timed(LEASES, now.micros(), b""));
        let leases = self.rows().walk(&from, &end_of(&[LEASES]), false);
        leases.map(|entry| entry.map(|_| 1)).sum()
    }
    /// Returns the holders of the leases that run at `now`. Reads one task per lease.
    pub fn lease_holders(&self, now: Timestamp) -> Result<BTreeSet<String>> {
        let from = end_of(&timed(LEASES, now.micros(), b""));
        let held = first_timed(self.rows(), &from, &end_of(&[LEASES]), usize::MAX)?;
        let claims = held.iter().filter_map(Task::claim);
        Ok(claims.map(|claim| claim.owner.clone()).collect())
    }
    /// Returns the time at which the next lease runs out.
    pub fn next_lease(&self) -> Result<Option<Timestamp>> {
        self.rows().first_time(LEASES)
    }
    /// Returns a number that is larger than every number that is the id of a task.
    pub fn next_task_number(&self) -> Result<u64> {
        self.rows().next_number(&[NUMBERED])
    }
    /// Returns true if all dependencies of a task are completed. An unknown dependency is not completed.
    pub fn ready(&self, task: &Task) -> Result<bool> {
        Ok(self.open_deps(&task.deps)?.is_empty())
    }
    /// Counts the tasks by status.
    pub fn task_counts(&self) -> Result<TaskCounts> {
        Ok(self.rows().get(&[COUNTS])?.unwrap_or_default())
    }
    /// Returns the unfinished tasks that were last updated before `before`, the oldest update first.
    pub fn stale_tasks(&self, before: Timestamp, limit: usize) -> Result<Vec<Task>> {
        let end = timed(OPEN, before.micros(), b"");
        first_timed(self.rows(), &[OPEN], &end, limit)
    }
    /// Returns the newest `limit` superseded messages, oldest first.
    pub fn newest_superseded(&self, limit: usize) -> Result<SeqPage> {
        let series = key::series(SUPERSEDED, b"");
        self.rows().page(&series, None, limit)
    }
    /// Returns the agents that ever owned a task, by name, with the number of their tasks by status.
    pub fn owners(&self) -> Result<Vec<(String, TaskCounts)>> {
        let owners = self.rows().prefix(&owned_key(""), false);
        owners
            .map(|entry| {
                let entry = entry?;
                Ok((entry.name(1), entry.row()?))
            })
            .collect()
    }
    /// Returns true if the message that the event `seq` recorded was superseded: the message came too late and changed nothing.
    pub fn superseded(&self, seq: u64) -> Result<bool> {
        self.rows().has(&numbered(SUPERSEDED, "", seq))
    }
}

fn ready_lists(agent: Option<&str>) -> Vec<Vec<u8>> {
    match agent {
        None => vec![ready::ready_all()],
        agent => vec![ready::ready_for(None), ready::ready_for(agent)],
    }
}

fn listed(rows: Rows<'_>, list: &[u8]) -> Result<u64> {
    Ok(rows.get(&ready::count_key(list))?.unwrap_or_default())
}

/// Returns the tasks after `after` under any of the prefixes. A key consists of a prefix, `ranked` bytes and the natural key.
/// Reads at most a page under each prefix.
pub(super) fn page(
    rows: Rows<'_>,
    prefixes: Vec<Vec<u8>>,
    ranked: usize,
    after: Option<Vec<u8>>,
    limit: usize,
) -> Result<TaskPage> {
    let mut found: Vec<Vec<u8>> = Vec::new();
    for prefix in &prefixes {
        let mut from = prefix.clone();
        if let Some(after) = &after {
            from.extend_from_slice(after);
            from.push(0);
        }
        let entries = rows.walk(&from, &end_of(prefix), false);
        for entry in entries.take(limit.saturating_add(1)) {
            found.push(entry?.behind(prefix.len()).to_vec());
        }
    }
    found.sort_unstable();
    let more = found.len() > limit;
    found.truncate(limit);
    let mut tasks = Vec::with_capacity(found.len());
    for rank in found {
        tasks.extend(by_natural(rows, rank.get(ranked..).unwrap_or_default())?);
    }
    Ok(TaskPage { tasks, more })
}

/// Returns the first tasks of an index by time.
fn first_timed(rows: Rows<'_>, from: &[u8], end: &[u8], limit: usize) -> Result<Vec<Task>> {
    let mut tasks = Vec::new();
    for entry in rows.walk(from, end, false).take(limit) {
        tasks.extend(by_natural(rows, entry?.behind(TIMED_BYTES))?);
    }
    Ok(tasks)
}

fn by_natural(rows: Rows<'_>, natural: &[u8]) -> Result<Option<Task>> {
    let task: Option<Task> = rows.get(&key_of(TASK, natural))?;
    let task = task.zip(natural::decode(natural));
    Ok(task.map(|(task, task_id)| Task { task_id, ..task }))
}

/// Returns all tasks in natural order.
pub(crate) fn all<'a>(rows: Rows<'a>) -> impl Iterator<Item = Result<Task>> + use<'a> {
    rows.prefix(&[TASK], false).map(|entry| {
        let entry = entry?;
        let task_id = natural::decode(entry.behind(1)).unwrap_or_default();
        Ok(Task {
            task_id,
            ..entry.row()?
        })
    })
}
