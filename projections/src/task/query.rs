//! Questions about tasks. Each costs as much as what it answers.

use super::row::{
    BLOCKED, BY_STATUS, COMPLETED, COUNTS, CountsRow, LEASES, NUMBERED, OPEN, SUPERSEDED, TASK,
    TIMED_BYTES, TaskRow, natural_key, owned_key, owner_prefix, task_key, timed_key,
};
use super::{Status, Task, TaskCounts, TaskFilter, TaskPage, ready};
use crate::error::Result;
use crate::natural;
use crate::tx::{Rows, end_of, key_of, numbered};
use std::collections::BTreeSet;
use teamlog_engine::Timestamp;

/// A task by its id.
pub(crate) fn task(rows: Rows<'_>, id: &str) -> Result<Option<Task>> {
    let row: Option<TaskRow> = rows.get(&task_key(id))?;
    Ok(row.map(|row| row.into_task(id.to_owned())))
}

/// Tasks in natural order behind `after`.
pub(crate) fn list(
    rows: Rows<'_>,
    filter: &TaskFilter,
    after: Option<&str>,
    limit: usize,
) -> Result<TaskPage> {
    let prefixes: Vec<Vec<u8>> = match (&filter.owner, filter.status) {
        (None, None) => vec![key_of(TASK, b"")],
        (None, Some(status)) => vec![key_of(BY_STATUS, &[status as u8])],
        (Some(owner), status) => {
            let wanted = Status::ALL
                .into_iter()
                .filter(|one| status.is_none_or(|only| only == *one));
            wanted
                .map(|status| [owner_prefix(owner), vec![status as u8]].concat())
                .collect()
        }
    };
    page(rows, prefixes, 0, after.map(natural_key), limit)
}

/// Tasks in state `blocked` or reported blocked.
pub(crate) fn blocked(rows: Rows<'_>, after: Option<&str>, limit: usize) -> Result<TaskPage> {
    page(
        rows,
        vec![key_of(BLOCKED, b"")],
        0,
        after.map(natural_key),
        limit,
    )
}

/// What can be taken up, by `agent` if one is named, in the order of urgency, age and id, behind the task `after`.
pub(crate) fn can_start(
    rows: Rows<'_>,
    agent: Option<&str>,
    after: Option<&Task>,
    limit: usize,
) -> Result<TaskPage> {
    let after = after.map(|task| {
        let natural = natural_key(&task.task_id);
        ready::rank(task.priority as u8, task.created_at.micros(), &natural)
    });
    page(rows, ready_lists(agent), ready::RANK_BYTES, after, limit)
}

/// How many tasks can be taken up, by `agent` if one is named.
pub(crate) fn ready_count(rows: Rows<'_>, agent: Option<&str>) -> Result<u64> {
    let counts = ready_lists(agent)
        .into_iter()
        .map(|list| listed(rows, &list));
    counts.sum()
}

fn ready_lists(agent: Option<&str>) -> Vec<Vec<u8>> {
    match agent {
        None => vec![ready::ready_all()],
        agent => vec![ready::ready_for(None), ready::ready_for(agent)],
    }
}

/// Unfinished tasks of an owner that it cannot go on with, in natural order.
pub(crate) fn waiting(
    rows: Rows<'_>,
    owner: &str,
    after: Option<&str>,
    limit: usize,
) -> Result<TaskPage> {
    let lists = vec![ready::waiting_of(owner)];
    page(rows, lists, 0, after.map(natural_key), limit)
}

/// How many those are.
pub(crate) fn waiting_count(rows: Rows<'_>, owner: &str) -> Result<u64> {
    listed(rows, &ready::waiting_of(owner))
}

fn listed(rows: Rows<'_>, list: &[u8]) -> Result<u64> {
    Ok(rows.get(&ready::count_key(list))?.unwrap_or_default())
}

/// How many tasks of an owner are in each state.
pub(crate) fn owned(rows: Rows<'_>, owner: &str) -> Result<TaskCounts> {
    let row: CountsRow = rows.get(&owned_key(owner))?.unwrap_or_default();
    Ok(TaskCounts { by_status: row.0 })
}

/// The tasks that stand behind `after` under any of the prefixes, whose keys all go on with `ranked` bytes and the natural
/// key. No more than a page is read under each.
fn page(
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
        for entry in rows
            .walk(&from, &end_of(prefix), false)
            .take(limit.saturating_add(1))
        {
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

fn by_natural(rows: Rows<'_>, natural: &[u8]) -> Result<Option<Task>> {
    let row: Option<TaskRow> = rows.get(&key_of(TASK, natural))?;
    Ok(row
        .zip(natural::decode(natural))
        .map(|(row, id)| row.into_task(id)))
}

/// Every task in natural order.
pub(crate) fn all<'a>(rows: Rows<'a>) -> impl Iterator<Item = Result<Task>> + use<'a> {
    rows.prefix(&[TASK], false).map(|entry| {
        let entry = entry?;
        let row: TaskRow = entry.row()?;
        Ok(row.into_task(natural::decode(entry.behind(1)).unwrap_or_default()))
    })
}

/// Those of the dependencies that are not completed, in order; one that is not known is not.
pub(crate) fn open_deps(rows: Rows<'_>, deps: &[String]) -> Result<Vec<String>> {
    let mut open = Vec::new();
    for dep in deps {
        let row: Option<TaskRow> = rows.get(&task_key(dep))?;
        if row.is_none_or(|row| row.status != Status::Completed as u8) {
            open.push(dep.clone());
        }
    }
    Ok(open)
}

/// Those of these dependencies that failed or were canceled, in order: nothing completes them unless somebody steps in.
pub(crate) fn lost_deps(rows: Rows<'_>, deps: &[String]) -> Result<Vec<String>> {
    let mut lost = Vec::new();
    for dep in deps {
        let row: Option<TaskRow> = rows.get(&task_key(dep))?;
        let ended = [Status::Failed as u8, Status::Canceled as u8];
        if row.is_some_and(|row| ended.contains(&row.status)) {
            lost.push(dep.clone());
        }
    }
    Ok(lost)
}

/// Tasks that have the task `id` among their dependencies, in the order of their first doing so.
pub(crate) fn dependents(rows: Rows<'_>, id: &str) -> Result<Vec<Task>> {
    let mut tasks = Vec::new();
    for waiter in ready::waiting_for(rows, id) {
        let task = task(rows, &waiter?)?;
        tasks.extend(task.filter(|task| task.deps.iter().any(|dep| dep == id)));
    }
    Ok(tasks)
}

/// Blocked tasks whose dependencies are completed, which an event has yet to say, in natural order.
pub(crate) fn freed(rows: Rows<'_>, limit: usize) -> Result<Vec<Task>> {
    Ok(page(rows, vec![ready::freed()], 0, None, limit)?.tasks)
}

/// Claimed tasks whose lease ran out by `now`, the earliest first.
pub(crate) fn leases_until(rows: Rows<'_>, now: Timestamp, limit: usize) -> Result<Vec<Task>> {
    let end = timed_key(LEASES, now.micros().saturating_add(1), b"");
    let mut tasks = Vec::new();
    for entry in rows.walk(&[LEASES], &end, false).take(limit) {
        tasks.extend(by_natural(rows, entry?.behind(TIMED_BYTES))?);
    }
    Ok(tasks)
}

/// The ids of the tasks that holders of claims completed after `since`, in natural order. No more is read than that.
pub(crate) fn completed_since(rows: Rows<'_>, since: Option<Timestamp>) -> Result<Vec<String>> {
    let from = since.map_or(0, |since| since.micros().saturating_add(1));
    let from = timed_key(COMPLETED, from, b"");
    let mut found = Vec::new();
    for entry in rows.walk(&from, &end_of(&[COMPLETED]), false) {
        found.push(entry?.behind(TIMED_BYTES).to_vec());
    }
    found.sort_unstable();
    let ids = found.iter().filter_map(|natural| natural::decode(natural));
    Ok(ids.collect())
}

/// How many leases run at `now`, counted one by one.
pub(crate) fn lease_count(rows: Rows<'_>, now: Timestamp) -> Result<u64> {
    let from = timed_key(LEASES, now.micros().saturating_add(1), b"");
    let leases = rows.walk(&from, &end_of(&[LEASES]), false);
    leases.map(|entry| entry.map(|_| 1)).sum()
}

/// Who holds a lease that runs at `now`. Reads as many tasks.
pub(crate) fn lease_holders(rows: Rows<'_>, now: Timestamp) -> Result<BTreeSet<String>> {
    let from = timed_key(LEASES, now.micros().saturating_add(1), b"");
    let mut holders = BTreeSet::new();
    for entry in rows.walk(&from, &end_of(&[LEASES]), false) {
        let found = by_natural(rows, entry?.behind(TIMED_BYTES))?;
        holders.extend(found.and_then(|task| Some(task.claim()?.owner.clone())));
    }
    Ok(holders)
}

/// When the next lease runs out.
pub(crate) fn next_lease(rows: Rows<'_>) -> Result<Option<Timestamp>> {
    let Some(entry) = rows.prefix(&[LEASES], false).next() else {
        return Ok(None);
    };
    let entry = entry?;
    let micros = entry.behind(1).first_chunk::<8>();
    Ok(micros.and_then(|bytes| Timestamp::from_micros(i64::from_be_bytes(*bytes))))
}

/// A number that is the id of no task, larger than all that are.
pub(crate) fn next_number(rows: Rows<'_>) -> Result<u64> {
    let largest: u64 = rows.get(&[NUMBERED])?.unwrap_or_default();
    Ok(largest.saturating_add(1))
}

/// Whether all dependencies of a task are completed; one that is not known is not.
pub(crate) fn deps_completed(rows: Rows<'_>, task: &Task) -> Result<bool> {
    Ok(open_deps(rows, &task.deps)?.is_empty())
}

/// How many tasks are in each state.
pub(crate) fn counts(rows: Rows<'_>) -> Result<TaskCounts> {
    let row: CountsRow = rows.get(&[COUNTS])?.unwrap_or_default();
    Ok(TaskCounts { by_status: row.0 })
}

/// Unfinished tasks last updated before `before`, longest untouched first.
pub(crate) fn stale(rows: Rows<'_>, before: Timestamp, limit: usize) -> Result<Vec<Task>> {
    let end = timed_key(OPEN, before.micros(), b"");
    let mut tasks = Vec::new();
    for entry in rows.walk(&[OPEN], &end, false).take(limit) {
        tasks.extend(by_natural(rows, entry?.behind(TIMED_BYTES))?);
    }
    Ok(tasks)
}

/// Whether the message recorded by that event came too late.
pub(crate) fn superseded(rows: Rows<'_>, seq: u64) -> Result<bool> {
    rows.has(&numbered(SUPERSEDED, "", seq))
}
