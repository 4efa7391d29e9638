//! The fold of task messages.

use super::row::{COUNTS, NUMBERED, SUPERSEDED, owned_key, task_key};
use super::{Status, Task, TaskCounts, commanded, concern, deps, held, news, plan, ready, terms};
use crate::event::TaskChange;
use crate::event::TaskImported;
use crate::event::message::MessageType;
use crate::event::task::TaskAct;
use crate::loss;
use crate::natural;
use crate::prelude::*;

pub(crate) fn apply(tx: &mut Tx<'_>, recorded: Recorded<'_>) -> Result<()> {
    match recorded.fact {
        Fact::Task(task) => match &task.act {
            TaskAct::Imported(task) => imported(tx, recorded.event.seq, task),
            _ => commanded::apply(tx, recorded.event, task),
        },
        Fact::Loss(lost) => loss::apply(tx, lost),
        Fact::Supervision(fact) => news::of_approval(tx, recorded.event.seq, fact),
        fact => match fact.sent() {
            Some(sent) => message(tx, recorded.event.seq, sent),
            None => Ok(()),
        },
    }
}

fn message(tx: &mut Tx<'_>, seq: u64, sent: &MessageSent) -> Result<()> {
    let (Some(id), Some(change)) = (&sent.task_id, &sent.change) else {
        return Ok(());
    };
    let old: Option<Task> = tx.get(&task_key(id))?;
    if old.as_ref().is_some_and(|old| !is_newer(sent, old)) {
        tx.mark(&numbered(SUPERSEDED, "", seq));
        return Ok(());
    }
    let mut new = old.clone().unwrap_or_else(|| unborn(sent.created_at));
    match new.claim_governed {
        true => report(&mut new, seq, sent, change),
        false => {
            if let Some(wanted) = &change.deps {
                (new.deps, new.ignored_deps) = deps::split(tx, id, wanted)?;
            }
            govern(&mut new, sent, change);
        }
    }
    new.last_message_id.clone_from(&sent.id);
    new.last_message_created_at = sent.created_at;
    new.seq = seq;
    if sent.kind == MessageType::TaskAssign {
        news::gave(tx, &sent.from, Some(&sent.to));
    }
    news::of_change(tx, (id, seq), &sent.from, old.as_ref(), &new);
    if old.is_none() {
        terms::creator(tx, &sent.from, seq);
    }
    store(tx, id, old.as_ref(), &new)
}

/// Stores a snapshot without messages as a message-governed task. A known task stays unchanged.
fn imported(tx: &mut Tx<'_>, seq: u64, task: &TaskImported) -> Result<()> {
    if tx.has(&task_key(&task.task_id))? {
        return Ok(());
    }
    let last = task.last_message_created_at.unwrap_or(task.updated_at);
    let new = Task {
        updated_at: task.updated_at,
        owner: task.owner.clone(),
        assigned_by: task.assigned_by.clone(),
        subject: task.subject.clone(),
        details: task.details.clone(),
        status: task.status,
        progress: task.progress.clone(),
        eta: task.eta.clone(),
        blocked: task.blocked,
        note: task.note.clone(),
        trace_id: task.trace_id.clone(),
        last_update_from: task.last_update_from.clone(),
        snapshot_version: task.snapshot_version,
        version: task.snapshot_version.max(1),
        last_message_id: task.last_message_id.clone().unwrap_or_default(),
        last_message_created_at: last,
        seq,
        ..unborn(task.created_at)
    };
    if let Some(agent) = &task.assigned_by {
        terms::creator(tx, agent, seq);
    }
    store(tx, &task.task_id, None, &new)
}

/// Stores a task whose row was `old`, and updates the indexes, counts and lists about the task.
pub(super) fn store(tx: &mut Tx<'_>, id: &str, old: Option<&Task>, new: &Task) -> Result<()> {
    let natural = natural::key(id);
    let new = match old {
        None => &*plan::with_children(tx, id, new)?,
        Some(_) => new,
    };
    if let Some(number) = natural::number(id).filter(|_| old.is_none()) {
        // The next task gets a higher number.
        tx.raise(&[NUMBERED], number)?;
    }
    reindex(tx, &natural, old, new)?;
    count(tx, old, new)?;
    tx.put(&task_key(id), new);
    held::follow(tx, &natural, old, new);
    concern::follow(tx, id, old, new)?;
    ready::follow(tx, id, &natural, old, new)?;
    terms::follow(tx, id, old, new)?;
    plan::follow(tx, id, old, new)
}

/// Returns true if the message is newer than the last applied message, by `(created_at, id)`.
fn is_newer(sent: &MessageSent, old: &Task) -> bool {
    (sent.created_at, sent.id.as_str())
        > (old.last_message_created_at, old.last_message_id.as_str())
}

/// Returns a new pending task, with no other field set.
pub(super) fn unborn(created_at: Timestamp) -> Task {
    Task {
        created_at,
        updated_at: created_at,
        ..Task::default()
    }
}

/// Applies a message to a message-governed task.
fn govern(task: &mut Task, sent: &MessageSent, change: &TaskChange) {
    if sent.kind == MessageType::TaskAssign {
        task.status = Status::Assigned;
        task.owner = Some(sent.to.clone());
        task.assigned_by = Some(sent.from.clone());
        task.priority = sent.priority;
    } else {
        if let Some(status) = change.status {
            task.status = status;
        }
        task.last_update_from = Some(sent.from.clone());
        task.owner.get_or_insert_with(|| sent.to.clone());
    }
    describe(task, change);
    if task.trace_id.is_none() {
        task.trace_id.clone_from(&sent.trace_id);
    }
    task.updated_at = sent.created_at;
    task.snapshot_version += 1;
    task.version += 1;
}

/// Applies the fields of a message other than status and owner.
fn describe(task: &mut Task, change: &TaskChange) {
    set(&mut task.subject, &change.subject);
    set(&mut task.details, &change.details);
    set(&mut task.progress, &change.progress);
    set(&mut task.eta, &change.eta);
    set(&mut task.note, &change.note);
    task.blocked = change.blocked.unwrap_or(task.blocked);
}

fn set<T: Clone>(field: &mut Option<T>, value: &Option<T>) {
    if value.is_some() {
        field.clone_from(value);
    }
}

/// Keeps a message about a claim-governed task as a report. Neither `version` nor `snapshot_version` counts it. While an agent holds
/// the task, other agents report only a status.
fn report(task: &mut Task, seq: u64, sent: &MessageSent, change: &TaskChange) {
    let is_other = task.claim().is_some_and(|claim| claim.owner != sent.from);
    if sent.kind == MessageType::TaskAssign {
        let differs = task.owner.as_ref() != Some(&sent.to);
        task.reported.unapplied = differs.then_some(seq);
        task.reported_status = Some(Status::Assigned);
        task.reported_owner = Some(sent.to.clone());
    } else if let Some(status) = change.status {
        task.reported.unapplied = (task.status != status).then_some(seq);
        task.reported_status = Some(status);
    }
    let reported = &mut task.reported;
    if sent.kind == MessageType::TaskAssign || change.status.is_some() {
        reported.status_by = is_other.then(|| sent.from.clone());
        reported.status_at = is_other.then_some(sent.created_at);
    }
    if is_other {
        return;
    }
    set(&mut reported.progress, &change.progress);
    set(&mut reported.eta, &change.eta);
    set(&mut reported.note, &change.note);
    reported.blocked = change.blocked.unwrap_or(reported.blocked);
    reported.by = Some(sent.from.clone());
    reported.at = Some(sent.created_at);
}

/// Replaces the index keys of the old row by the index keys of the new row.
fn reindex(tx: &mut Tx<'_>, natural: &[u8], old: Option<&Task>, new: &Task) -> Result<()> {
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
fn count(tx: &mut Tx<'_>, old: Option<&Task>, new: &Task) -> Result<()> {
    let (before, after) = (old.map(|old| old.status), Some(new.status));
    if before != after {
        recount(tx, &[COUNTS], before, after)?;
    }
    let was = old.and_then(|old| old.owner.as_ref());
    match (was, &new.owner) {
        (Some(one), Some(same)) if one == same => match before == after {
            true => Ok(()),
            false => recount(tx, &owned_key(same), before, after),
        },
        (was, is) => {
            let mut was = was.iter();
            was.try_for_each(|was| recount(tx, &owned_key(was), before, None))?;
            let mut is = is.iter();
            is.try_for_each(|is| recount(tx, &owned_key(is), None, after))
        }
    }
}

fn recount(tx: &mut Tx<'_>, key: &[u8], from: Option<Status>, to: Option<Status>) -> Result<()> {
    tx.change(key, |counts: &mut TaskCounts| {
        if let Some(from) = from {
            let count = &mut counts.by_status[from as usize];
            *count = count.saturating_sub(1);
        }
        if let Some(to) = to {
            counts.by_status[to as usize] += 1;
        }
    })
}
