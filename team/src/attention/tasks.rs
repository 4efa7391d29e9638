//! Attention items about tasks: failed tasks, unknown dependencies, and reports that were not applied. Each search uses an
//! index.

use super::found::without;
use super::{AttentionItem, AttentionKind, AttentionScan};
use crate::operation::prelude::*;
use crate::projections::task::Concern;

/// Time for which a superseded message is listed. If its task changes, the message is listed no longer.
const SUPERSEDED_MICROS: i64 = 24 * 60 * 60 * 1_000_000;
/// Number of superseded messages to request: one more than the list shows, to learn if there are further superseded messages.
const SUPERSEDED_ASKED: usize = 101;

/// Returns the command that shows a task.
fn show(team: &str, task: &str) -> String {
    format!("teamlog task show {team} {task}")
}

/// Finds failed tasks, except tasks that an earlier item names in `waits_for`.
pub(super) fn failed(look: &mut AttentionScan<'_>) -> Result<()> {
    let waited_for = look.items.iter().flat_map(|item| &item.waits_for);
    let waited_for: BTreeSet<String> = waited_for.map(|one| one.task_id.clone()).collect();
    let filter = TaskFilter {
        status: Some(Status::Failed),
        ..TaskFilter::default()
    };
    let page = look.live.tasks(&filter, None, look.most)?;
    for task in look.page(page) {
        if waited_for.contains(&task.task_id) {
            continue;
        }
        let why = task.governed.error.as_ref().or(task.note.as_ref());
        let why = why.map_or_else(String::new, |why| format!(" ({why})"));
        let text = format!("failed: {}{why}", task.task_id);
        let command = format!("teamlog task reopen {} {}", look.team, task.task_id);
        look.items.push(AttentionItem {
            since: Some(task.governed.completed_at.unwrap_or(task.updated_at)),
            ..AttentionItem::of_task(AttentionKind::TaskFailed, &task, text, command)
        });
    }
    Ok(())
}

/// Finds unfinished tasks whose deadline (`due_at`) has passed.
pub(super) fn overdue(look: &mut AttentionScan<'_>) -> Result<()> {
    let tasks = look.live.overdue_tasks(look.now, look.asked())?;
    for task in look.bounded(tasks) {
        let Some(due) = task.governed.plan.due_at else {
            continue;
        };
        let owner = task.owner.as_ref();
        let owner = owner.map_or_else(String::new, |owner| format!(", owned by {owner}"));
        let text = format!("overdue: {} was due by {due}{owner}", task.task_id);
        let command = show(look.team, &task.task_id);
        look.items.push(AttentionItem {
            agent: task.owner.clone(),
            since: Some(due),
            ..AttentionItem::of_task(AttentionKind::Overdue, &task, text, command)
        });
    }
    Ok(())
}

/// Finds tasks that a message reported blocked.
pub(super) fn reported_blocked(look: &mut AttentionScan<'_>) -> Result<()> {
    for task in concerning(look, Concern::ReportedBlocked)? {
        let (by, at, note) = match task.claim_governed {
            true => {
                let reported = &task.reported;
                (&reported.by, reported.at, &reported.note)
            }
            false => (&task.last_update_from, Some(task.updated_at), &task.note),
        };
        let by = by.as_ref().or(task.owner.as_ref());
        let who = by.map_or_else(String::new, |by| format!(" by {by}"));
        let why = note.as_ref().map(|note| format!(" ({note})"));
        let why = why.unwrap_or_default();
        let text = format!("reported blocked: {}{who}{why}", task.task_id);
        let command = show(look.team, &task.task_id);
        look.items.push(AttentionItem {
            agent: by.cloned(),
            since: at,
            ..AttentionItem::of_task(AttentionKind::ReportedBlocked, &task, text, command)
        });
    }
    Ok(())
}

/// Finds reports that did not change a claimed task, and dependencies that were ignored because they would form a cycle.
pub(super) fn not_applied(look: &mut AttentionScan<'_>) -> Result<()> {
    for task in concerning(look, Concern::Unapplied)? {
        let (id, status, reported) = (&task.task_id, task.status.name(), &task.reported);
        let other = reported.status_by.as_ref();
        let by = other.or(reported.by.as_ref());
        let reporter = by.map_or("", String::as_str);
        let said = match (task.reported_status, &task.reported_owner) {
            (Some(Status::Assigned), Some(owner)) => format!("assigned to {owner}"),
            (said, _) => said.map(Status::name).unwrap_or_default().to_owned(),
        };
        let claim = task.claim();
        let stays = match claim {
            Some(claim) => format!("claimed by {} and stays {status}", claim.owner),
            None => format!("changed by claims only and stays {status}"),
        };
        let text = format!("not applied: {reporter} reported {id} {said}, but it is {stays}");
        let command = show(look.team, id);
        look.items.push(AttentionItem {
            agent: by.cloned(),
            seq: reported.unapplied,
            since: reported.status_at.or(reported.at),
            ..AttentionItem::of_task(AttentionKind::NotApplied, &task, text, command)
        });
    }
    for task in concerning(look, Concern::IgnoredDeps)? {
        let (id, ignored) = (&task.task_id, task.ignored_deps.join(", "));
        let text =
            format!("not applied: {id} cannot wait for {ignored}, because they would form a cycle");
        let command = without(look.team, &task, &[]);
        look.items.push(AttentionItem {
            since: Some(task.updated_at),
            ..AttentionItem::of_task(AttentionKind::NotApplied, &task, text, command)
        });
    }
    Ok(())
}

/// Finds the newest messages of the last day that were older than the last message applied to their task. Skips a message if its task has
/// changed since.
pub(super) fn superseded(look: &mut AttentionScan<'_>) -> Result<()> {
    let since = look.now.plus_micros(-SUPERSEDED_MICROS);
    let newest = look.live.newest_superseded(SUPERSEDED_ASKED)?.seqs;
    let all_are_read = newest.len() < SUPERSEDED_ASKED;
    let mut past_the_day = false;
    for seq in newest.into_iter().rev().take(SUPERSEDED_ASKED - 1) {
        let event = page::event(look.live, look.reader, seq)?;
        if event.created_at < since {
            past_the_day = true;
            break;
        }
        let id = event.refs.get(RefKind::Task).unwrap_or_default();
        let Some(task) = look.live.task(id)?.filter(|task| task.seq < seq) else {
            continue;
        };
        let message = page::sent(look.live, look.reader, seq)?;
        let (kind, from) = (message.kind.name(), message.from);
        let text = format!(
            "not applied: {kind} about {id} from {from} is older than the last applied one"
        );
        look.items.push(AttentionItem {
            agent: Some(from),
            message_id: Some(message.id),
            seq: Some(seq),
            since: Some(event.created_at),
            ..AttentionItem::of_task(AttentionKind::NotApplied, &task, text, show(look.team, id))
        });
    }
    look.more |= !all_are_read && !past_the_day;
    Ok(())
}

/// Finds unfinished tasks that wait for tasks that do not exist.
pub(super) fn unknown_dependencies(look: &mut AttentionScan<'_>) -> Result<()> {
    let found = look.live.unknown_deps(look.asked())?;
    let mut unknown: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for one in look.bounded(found) {
        unknown.entry(one.task_id).or_default().push(one.dep);
    }
    for (id, deps) in unknown {
        let Some(task) = look.live.task(&id)? else {
            continue;
        };
        let text = format!("unknown dependency: {id} waits for {}", deps.join(", "));
        let command = without(look.team, &task, &deps);
        look.items.push(AttentionItem {
            since: Some(task.updated_at),
            ..AttentionItem::of_task(AttentionKind::UnknownDependency, &task, text, command)
        });
    }
    Ok(())
}

fn concerning(look: &mut AttentionScan<'_>, concern: Concern) -> Result<Vec<Task>> {
    let page = look.live.concerning_tasks(concern, look.most)?;
    Ok(look.page(page))
}
