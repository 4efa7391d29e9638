//! The fold of task messages.

use super::row::{COUNTS, NUMBERED, SUPERSEDED, TaskRow, natural_key, owned_key, task_key};
use super::{NUMBER_DIGITS_MAX, Status, TaskCounts, commanded, deps, held, ready};
use crate::error::Result;
use crate::fact::{Fact, Sent, TaskChange};
use crate::message::{MessageType, Priority};
use crate::task::event::TaskAct;
use crate::task::imported::TaskImported;
use crate::tx::{Recorded, Tx, numbered};

/// The fold.
pub(crate) fn apply(tx: &mut Tx<'_>, recorded: Recorded<'_>) -> Result<()> {
    match recorded.fact {
        Fact::Task(task) => match &task.act {
            TaskAct::Imported(task) => imported(tx, recorded.event.seq, task),
            _ => commanded::apply(tx, recorded.event, task),
        },
        fact => match fact.sent() {
            Some(sent) => message(tx, recorded.event.seq, sent),
            None => Ok(()),
        },
    }
}

fn message(tx: &mut Tx<'_>, seq: u64, sent: &Sent) -> Result<()> {
    let (Some(id), Some(change)) = (&sent.task_id, &sent.change) else {
        return Ok(());
    };
    let old: Option<TaskRow> = tx.get(&task_key(id))?;
    if old.as_ref().is_some_and(|old| !is_newer(sent, old)) {
        tx.mark(&numbered(SUPERSEDED, "", seq));
        return Ok(());
    }
    let mut new = old
        .clone()
        .unwrap_or_else(|| unborn(sent.created_at.micros()));
    match new.claim_governed {
        true => report(&mut new, sent, change),
        false => {
            if let Some(wanted) = &change.deps {
                (new.deps, new.ignored_deps) = deps::split(tx, id, wanted)?;
            }
            govern(&mut new, sent, change);
        }
    }
    new.last_message_id.clone_from(&sent.id);
    new.last_message_created_at = sent.created_at.micros();
    new.seq = seq;
    store(tx, id, old.as_ref(), &new)
}

/// A snapshot without messages becomes a message-governed task as it stood; of a known task it says nothing.
fn imported(tx: &mut Tx<'_>, seq: u64, task: &TaskImported) -> Result<()> {
    if tx.has(&task_key(&task.task_id))? {
        return Ok(());
    }
    let last = task.last_message_created_at.unwrap_or(task.updated_at);
    let new = TaskRow {
        updated_at: task.updated_at.micros(),
        owner: task.owner.clone(),
        assigned_by: task.assigned_by.clone(),
        subject: task.subject.clone(),
        details: task.details.clone(),
        status: task.status as u8,
        progress: task.progress.clone(),
        eta: task.eta.clone(),
        blocked: task.blocked,
        note: task.note.clone(),
        trace_id: task.trace_id.clone(),
        last_update_from: task.last_update_from.clone(),
        snapshot_version: task.snapshot_version,
        version: task.snapshot_version.max(1),
        last_message_id: task.last_message_id.clone().unwrap_or_default(),
        last_message_created_at: last.micros(),
        seq,
        ..unborn(task.created_at.micros())
    };
    store(tx, &task.task_id, None, &new)
}

/// Stores a task that was `old` before, and brings all that is kept about it in line.
pub(super) fn store(tx: &mut Tx<'_>, id: &str, old: Option<&TaskRow>, new: &TaskRow) -> Result<()> {
    let natural = natural_key(id);
    if old.is_none() {
        number(tx, id)?;
    }
    reindex(tx, &natural, old, new)?;
    count(tx, old, new)?;
    tx.put(&task_key(id), new);
    held::follow(tx, &natural, old, new);
    ready::follow(tx, id, &natural, old, new)
}

/// Keeps in mind the largest number among the ids, so that the next task gets a new one.
fn number(tx: &mut Tx<'_>, id: &str) -> Result<()> {
    let Some(number) = whole_number(id) else {
        return Ok(());
    };
    let largest: u64 = tx.get(&[NUMBERED])?.unwrap_or_default();
    if number > largest {
        tx.put(&[NUMBERED], &number);
    }
    Ok(())
}

/// The number that an id is. Larger ones than anybody counts to are names like others.
fn whole_number(id: &str) -> Option<u64> {
    let digits = id.len() <= NUMBER_DIGITS_MAX && id.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| id.parse().ok()).flatten()
}

/// The monotonic guard: strictly newer by `(created_at, id)`.
fn is_newer(sent: &Sent, old: &TaskRow) -> bool {
    (sent.created_at.micros(), sent.id.as_str())
        > (old.last_message_created_at, old.last_message_id.as_str())
}

/// A task of which nothing is known but when it came to be: pending, until something says otherwise.
pub(super) fn unborn(created_at: i64) -> TaskRow {
    TaskRow {
        created_at,
        updated_at: created_at,
        status: Status::Pending as u8,
        priority: Priority::Normal as u8,
        ..TaskRow::default()
    }
}

/// A message-governed task follows the message.
fn govern(task: &mut TaskRow, sent: &Sent, change: &TaskChange) {
    if sent.kind == MessageType::TaskAssign {
        task.status = Status::Assigned as u8;
        task.owner = Some(sent.to.clone());
        task.assigned_by = Some(sent.from.clone());
        task.priority = sent.priority as u8;
    } else {
        if let Some(status) = change.status {
            task.status = status as u8;
        }
        task.last_update_from = Some(sent.from.clone());
        task.owner.get_or_insert_with(|| sent.to.clone());
    }
    describe(task, change);
    if task.trace_id.is_none() {
        task.trace_id.clone_from(&sent.trace_id);
    }
    task.updated_at = sent.created_at.micros();
    task.snapshot_version += 1;
    task.version += 1;
}

/// What a message sets beside status and owner.
fn describe(task: &mut TaskRow, change: &TaskChange) {
    set(&mut task.subject, &change.subject);
    set(&mut task.details, &change.details);
    set(&mut task.progress, &change.progress);
    set(&mut task.eta, &change.eta);
    set(&mut task.note, &change.note);
    task.blocked = change.blocked.unwrap_or(task.blocked);
}

fn set(field: &mut Option<String>, value: &Option<String>) {
    if value.is_some() {
        field.clone_from(value);
    }
}

/// Of a claim-governed task a message only reports; neither version counts it.
fn report(task: &mut TaskRow, sent: &Sent, change: &TaskChange) {
    if sent.kind == MessageType::TaskAssign {
        task.reported_status = Some(Status::Assigned as u8);
        task.reported_owner = Some(sent.to.clone());
    } else if let Some(status) = change.status {
        task.reported_status = Some(status as u8);
    }
    let reported = task.reported.get_or_insert_default();
    set(&mut reported.progress, &change.progress);
    set(&mut reported.eta, &change.eta);
    set(&mut reported.note, &change.note);
    reported.blocked = change.blocked.unwrap_or(reported.blocked);
    reported.by.clone_from(&sent.from);
    reported.at = sent.created_at.micros();
}

/// Brings the indexes from the old row to the new one.
fn reindex(tx: &mut Tx<'_>, natural: &[u8], old: Option<&TaskRow>, new: &TaskRow) -> Result<()> {
    let before = old.map(|old| old.index_keys(natural)).unwrap_or_default();
    let after = new.index_keys(natural);
    for key in &before {
        if !after.contains(key) {
            tx.delete(key);
        }
    }
    for key in after {
        if !before.contains(&key) {
            tx.mark(&key);
        }
    }
    Ok(())
}

/// Counts tasks by status, in the team and for their owner.
fn count(tx: &mut Tx<'_>, old: Option<&TaskRow>, new: &TaskRow) -> Result<()> {
    let same_status = old.map(|old| old.status) == Some(new.status);
    if !same_status {
        recount(tx, &[COUNTS], old.map(|old| old.status), Some(new.status))?;
    }
    let was = old.and_then(|old| old.owner.as_ref());
    match (was, &new.owner) {
        (Some(one), Some(same)) if one == same && same_status => Ok(()),
        (Some(one), Some(same)) if one == same => {
            let before = old.map(|old| old.status);
            recount(tx, &owned_key(same), before, Some(new.status))
        }
        (was, is) => {
            if let Some(was) = was {
                recount(tx, &owned_key(was), old.map(|old| old.status), None)?;
            }
            match is {
                Some(is) => recount(tx, &owned_key(is), None, Some(new.status)),
                None => Ok(()),
            }
        }
    }
}

fn recount(tx: &mut Tx<'_>, key: &[u8], from: Option<u8>, to: Option<u8>) -> Result<()> {
    let mut counts: TaskCounts = tx.get(key)?.unwrap_or_default();
    if let Some(count) = from.and_then(|from| counts.by_status.get_mut(usize::from(from))) {
        *count = count.saturating_sub(1);
    }
    if let Some(count) = to.and_then(|to| counts.by_status.get_mut(usize::from(to))) {
        *count += 1;
    }
    tx.put(key, &counts);
    Ok(())
}
