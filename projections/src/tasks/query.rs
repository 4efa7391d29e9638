//! Questions about tasks. Each costs as much as what it answers.

use super::row::{
    BLOCKED, BY_STATUS, COUNTS, CountsRow, OPEN, SUPERSEDED, TASK, TaskRow, natural_key,
    owner_prefix, task_key,
};
use super::{Status, Task, TaskCounts, TaskFilter, TaskPage};
use crate::error::Result;
use crate::natural;
use crate::tx::{Rows, end_of, key_of, numbered};
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
        (None, None) => return page(rows, vec![key_of(TASK, b"")], after, limit),
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
    page(rows, prefixes, after, limit)
}

/// Tasks in state `blocked` or reported blocked.
pub(crate) fn blocked(rows: Rows<'_>, after: Option<&str>, limit: usize) -> Result<TaskPage> {
    page(rows, vec![key_of(BLOCKED, b"")], after, limit)
}

/// The tasks that stand behind `after` under any of the prefixes, whose keys all go on with the natural key. No more than a
/// page is read under each.
fn page(
    rows: Rows<'_>,
    prefixes: Vec<Vec<u8>>,
    after: Option<&str>,
    limit: usize,
) -> Result<TaskPage> {
    let mut found: Vec<Vec<u8>> = Vec::new();
    for prefix in &prefixes {
        let mut from = prefix.clone();
        if let Some(after) = after {
            from.extend(natural_key(after));
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
    for natural in found {
        tasks.extend(by_natural(rows, &natural)?);
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

/// Whether all dependencies of a task are completed; one that is not known is not.
pub(crate) fn ready(rows: Rows<'_>, task: &Task) -> Result<bool> {
    for dep in &task.deps {
        let row: Option<TaskRow> = rows.get(&task_key(dep))?;
        if row.is_none_or(|row| row.status != Status::Completed as u8) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// How many tasks are in each state.
pub(crate) fn counts(rows: Rows<'_>) -> Result<TaskCounts> {
    let row: CountsRow = rows.get(&[COUNTS])?.unwrap_or_default();
    Ok(TaskCounts { by_status: row.0 })
}

/// Unfinished tasks last updated before `before`, longest untouched first.
pub(crate) fn stale(rows: Rows<'_>, before: Timestamp, limit: usize) -> Result<Vec<Task>> {
    let end = key_of(OPEN, &before.micros().to_be_bytes());
    let mut tasks = Vec::new();
    for entry in rows.walk(&[OPEN], &end, false).take(limit) {
        tasks.extend(by_natural(rows, entry?.behind(9))?);
    }
    Ok(tasks)
}

/// Whether the message recorded by that event came too late.
pub(crate) fn superseded(rows: Rows<'_>, seq: u64) -> Result<bool> {
    rows.has(&numbered(SUPERSEDED, "", seq))
}
