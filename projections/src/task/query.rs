//! Questions about tasks. Each costs as much as what it answers.

use super::row::{
    BLOCKED, BY_STATUS, COMPLETED, COUNTS, LEASES, NUMBERED, OPEN, SUPERSEDED, TASK, owned_key,
    owner_prefix,
};
use super::{Status, Task, TaskCounts, TaskFilter, TaskPage, UnmetDeps, ready};
use crate::natural;
use crate::prelude::*;

impl TeamState {
    /// A task by its id.
    pub fn task(&self, id: &str) -> Result<Option<Task>> {
        by_natural(self.rows(), &natural::key(id))
    }
    /// Tasks in natural order, behind the one with id `after` (which need not exist).
    pub fn tasks(
        &self,
        filter: &TaskFilter,
        after: Option<&str>,
        limit: usize,
    ) -> Result<TaskPage> {
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
    /// Tasks in state `blocked` or reported blocked, in natural order.
    pub fn blocked_tasks(&self, after: Option<&str>, limit: usize) -> Result<TaskPage> {
        let lists = vec![vec![BLOCKED]];
        page(self.rows(), lists, 0, after.map(natural::key), limit)
    }
    /// Tasks that can be taken up: most urgent first, then oldest, then by id, behind `after`. For an agent those are
    /// what is for anybody and what is assigned to it.
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
    /// How many tasks can be taken up, by that agent if one is named.
    pub fn ready_count(&self, agent: Option<&str>) -> Result<u64> {
        let lists = ready_lists(agent).into_iter();
        lists.map(|list| listed(self.rows(), &list)).sum()
    }
    /// Unfinished tasks of an owner that it cannot go on with, since they are blocked or a dependency is not completed;
    /// in natural order.
    pub fn waiting_tasks(
        &self,
        owner: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<TaskPage> {
        let lists = vec![ready::waiting_of(owner)];
        page(self.rows(), lists, 0, after.map(natural::key), limit)
    }
    /// How many those are.
    pub fn waiting_count(&self, owner: &str) -> Result<u64> {
        listed(self.rows(), &ready::waiting_of(owner))
    }
    /// How many tasks of an owner are in each state.
    pub fn owned_counts(&self, owner: &str) -> Result<TaskCounts> {
        Ok(self.rows().get(&owned_key(owner))?.unwrap_or_default())
    }
    /// All agents that ever owned a task, sorted by name.
    pub fn task_owners(&self) -> Result<Vec<String>> {
        let owners = self.rows().prefix(&owned_key(""), false);
        owners.map(|entry| Ok(entry?.name(1))).collect()
    }
    /// The dependencies that are not completed, in order; an unknown one counts as not completed.
    pub fn open_deps(&self, deps: &[String]) -> Result<Vec<String>> {
        self.deps_with(deps, |status| status != Some(Status::Completed))
    }
    /// The dependencies that failed or were canceled, and those that do not exist, each in order.
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
    /// Tasks that have the task `id` among their dependencies, in the order of their first doing so. Each is read when it
    /// is asked for.
    pub fn dependents<'a>(&'a self, id: &'a str) -> impl Iterator<Item = Result<Task>> + 'a {
        let waiters = ready::waiting_for(self.rows(), id);
        let tasks = waiters.map(|waiter| self.task(&waiter?));
        tasks.filter_map(Result::transpose).filter(move |task| {
            let waits = |task: &Task| task.deps.iter().any(|dep| dep == id);
            task.as_ref().map_or(true, waits)
        })
    }
    /// Blocked tasks whose dependencies are completed, which an event has yet to say, in natural order behind the one with
    /// id `after`.
    pub fn freed_tasks(&self, after: Option<&str>, limit: usize) -> Result<Vec<Task>> {
        let after = after.map(natural::key);
        Ok(page(self.rows(), vec![ready::freed()], 0, after, limit)?.tasks)
    }
    /// Claimed tasks whose lease ran out by `now`, the earliest first.
    pub fn expired_tasks(&self, now: Timestamp, limit: usize) -> Result<Vec<Task>> {
        let end = end_of(&timed(LEASES, now.micros(), b""));
        first_timed(self.rows(), &[LEASES], &end, limit)
    }
    /// The ids of the tasks that holders of claims completed after `since`, in natural order. No more is read than that.
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
    /// How many leases run at `now`. Reads as many entries.
    pub fn lease_count(&self, now: Timestamp) -> Result<u64> {
        let from = end_of(&timed(LEASES, now.micros(), b""));
        let leases = self.rows().walk(&from, &end_of(&[LEASES]), false);
        leases.map(|entry| entry.map(|_| 1)).sum()
    }
    /// Who holds a lease that runs at `now`. Reads as many tasks.
    pub fn lease_holders(&self, now: Timestamp) -> Result<BTreeSet<String>> {
        let from = end_of(&timed(LEASES, now.micros(), b""));
        let held = first_timed(self.rows(), &from, &end_of(&[LEASES]), usize::MAX)?;
        let claims = held.iter().filter_map(Task::claim);
        Ok(claims.map(|claim| claim.owner.clone()).collect())
    }
    /// When the next lease runs out.
    pub fn next_lease(&self) -> Result<Option<Timestamp>> {
        self.rows().first_time(LEASES)
    }
    /// A number that is the id of no task, larger than all that are.
    pub fn next_task_number(&self) -> Result<u64> {
        self.rows().next_number(&[NUMBERED])
    }
    /// Whether all dependencies of a task are completed; an unknown one is not.
    pub fn ready(&self, task: &Task) -> Result<bool> {
        Ok(self.open_deps(&task.deps)?.is_empty())
    }
    /// How many tasks are in each state.
    pub fn task_counts(&self) -> Result<TaskCounts> {
        Ok(self.rows().get(&[COUNTS])?.unwrap_or_default())
    }
    /// Unfinished tasks last updated before `before`, longest untouched first.
    pub fn stale_tasks(&self, before: Timestamp, limit: usize) -> Result<Vec<Task>> {
        let end = timed(OPEN, before.micros(), b"");
        first_timed(self.rows(), &[OPEN], &end, limit)
    }
    /// The newest `limit` messages that came too late and changed nothing, oldest first.
    pub fn newest_superseded(&self, limit: usize) -> Result<SeqPage> {
        let series = key::series(SUPERSEDED, b"");
        self.rows().page(&series, None, limit)
    }
    /// Every agent that ever owned a task, by name, with the number of its tasks in each state.
    pub fn owners(&self) -> Result<Vec<(String, TaskCounts)>> {
        let owners = self.rows().prefix(&owned_key(""), false);
        owners
            .map(|entry| {
                let entry = entry?;
                Ok((entry.name(1), entry.row()?))
            })
            .collect()
    }
    /// Whether the message recorded by that event came too late and changed nothing.
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

/// The tasks that stand behind `after` under any of the prefixes, whose keys all go on with `ranked` bytes and the natural
/// key. No more than a page is read under each.
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

/// The first tasks of an index by time.
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

/// Every task in natural order.
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
