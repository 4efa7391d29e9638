//! Searches for attention items. Each search uses an index of open entries and does not read the log's history.

use super::approvals::approvals;
use super::{
    AttentionItem, AttentionKind, AttentionScan, AttentionWaitsFor, agents, subscriptions, tasks,
};
use crate::handle::next;
use crate::operation::prelude::*;
use crate::projections::task::ClaimState;
use crate::resource::refused;
use crate::shell::quoted;
use crate::task::blocking;

/// The searches, one function per kind. A new kind needs a function here.
pub(super) const FINDERS: &[fn(&mut AttentionScan<'_>) -> Result<()>] = &[
    waits_in_vain,
    tasks::failed,
    dead_letters,
    bootstrap_breached,
    approvals,
    agents::budget_used,
    agents::questions,
    tasks::reported_blocked,
    tasks::not_applied,
    tasks::superseded,
    tasks::unknown_dependencies,
    agents::unknown_owners,
    agents::gone,
    agents::mail_of_retired,
    leases_expired,
    tasks::overdue,
    overdue_acks,
    subscriptions::parked,
    writes_refused,
    stale_tasks,
];

/// Time for which a refused write is listed.
const REFUSED_MICROS: i64 = 24 * 60 * 60 * 1_000_000;
/// Number of refused writes to request: one more than the list shows, to learn if there are further refused writes.
const REFUSED_ASKED: usize = 101;

/// Finds tasks with a failed or canceled dependency. Searches blocked tasks, and unfinished tasks of the workers.
fn waits_in_vain(look: &mut AttentionScan<'_>) -> Result<()> {
    let asked = look.asked();
    let mut waiting = look.live.blocked_tasks(None, asked)?.tasks;
    let mut known: BTreeSet<String> = waiting.iter().map(|task| task.task_id.clone()).collect();
    for owner in membership::workers(look.live)? {
        if waiting.len() > look.most {
            break;
        }
        let left = asked.saturating_sub(waiting.len());
        let mut own = look.live.waiting_tasks(&owner, None, asked)?.tasks;
        own.retain(|task| known.insert(task.task_id.clone()));
        own.truncate(left);
        waiting.extend(own);
    }
    for task in look.bounded(waiting) {
        let lost = blocking::unmet_dependencies(look.live, &task)?.failed;
        if lost.is_empty() {
            continue;
        }
        let mut waits_for = Vec::with_capacity(lost.len());
        for id in &lost {
            let status = look.live.task(id)?.map(|task| task.status);
            waits_for.extend(status.map(|status| AttentionWaitsFor {
                task_id: id.clone(),
                status,
            }));
        }
        let dependencies: Vec<String> = waits_for.iter().map(in_words).collect();
        let text = format!(
            "dependency failed: {} waits for {}",
            task.task_id,
            dependencies.join(", ")
        );
        let command = match &*waits_for {
            [one] if one.status == Status::Failed => {
                format!("teamlog task reopen {} {}", look.team, one.task_id)
            }
            _ => without(look.team, &task, &lost),
        };
        look.items.push(AttentionItem {
            waits_for,
            ..AttentionItem::of_task(AttentionKind::WaitsInVain, &task, text, command)
        });
    }
    Ok(())
}

fn in_words(dependency: &AttentionWaitsFor) -> String {
    format!("{} ({})", dependency.task_id, dependency.status.name())
}

/// Returns the command that removes the failed and canceled dependencies from a task.
pub(super) fn without(team: &str, task: &Task, lost: &[String]) -> String {
    let others = task.deps.iter().filter(|dep| !lost.contains(dep));
    let others: Vec<&str> = others.map(String::as_str).collect();
    let left = match others.is_empty() {
        true => "--unblocked".to_owned(),
        false => format!("--after {}", quoted(&others.join(","))),
    };
    format!("teamlog edit {team} {} {left}", quoted(&task.task_id))
}

/// Finds the newest dead letters that were neither requeued nor acknowledged.
fn dead_letters(look: &mut AttentionScan<'_>) -> Result<()> {
    let page = look.live.dead_letters(None, None, look.most)?;
    look.more |= page.older;
    for seq in page.seqs {
        let Some(letter) = look.live.dead_letter_at(seq)? else {
            continue;
        };
        let is_settled = letter.acked.is_some() || letter.requeued.is_some();
        if is_settled || look.reader_of(&letter.to)?.is_none() {
            continue;
        }
        let text = format!("dead letter: {} to {}", letter.message_id, letter.to);
        let (team, id) = (look.team, quoted(&letter.message_id));
        let command = format!("teamlog dead-letter requeue {team} --message-id {id}");
        look.items.push(AttentionItem {
            task_id: letter.task_id,
            agent: Some(letter.to),
            message_id: Some(letter.message_id),
            seq: Some(seq),
            since: Some(letter.created_at),
            ..AttentionItem::new(AttentionKind::DeadLetter, text, command)
        });
    }
    Ok(())
}

/// Finds the newest run if its last change was a breach of the contract.
fn bootstrap_breached(look: &mut AttentionScan<'_>) -> Result<()> {
    let Some(run) = look.live.newest_bootstrap_runs(1)?.pop() else {
        return Ok(());
    };
    let Some(breach) = run.last_breach.filter(|breach| breach.seq == run.seq) else {
        return Ok(());
    };
    let (name, why) = (&run.run, &breach.why);
    let text = format!("bootstrap breached: run {name}: {why}");
    let mut command = format!("teamlog bootstrap start {}", look.team);
    if !run.selected.is_empty() {
        let domains = quoted(&run.selected.join(","));
        command.push_str(&format!(" --domains {domains}"));
    }
    look.items.push(AttentionItem {
        seq: Some(breach.seq),
        since: Timestamp::from_micros(run.updated_at),
        ..AttentionItem::new(AttentionKind::BootstrapBreached, text, command)
    });
    Ok(())
}

/// Finds tasks whose lease has expired and that no agent has claimed since. Includes tasks without
/// a recorded expiry event.
fn leases_expired(look: &mut AttentionScan<'_>) -> Result<()> {
    let mut tasks = look.live.expired_tasks(look.now, look.asked())?;
    let left = look.asked().saturating_sub(tasks.len());
    tasks.extend(look.live.ready_tasks(None, None, left)?.tasks);
    for task in look.bounded(tasks) {
        let claim = task.governed.claim.as_ref();
        let Some(claim) = claim.filter(|claim| claim.state != ClaimState::Ended) else {
            continue;
        };
        let text = format!(
            "lease expired: {}, last claimed by {}",
            task.task_id, claim.owner
        );
        // The command only shows the task, because the former holder may still continue.
        let command = next::show(look.team, &task.task_id);
        look.items.push(AttentionItem {
            agent: Some(claim.owner.clone()),
            since: Some(claim.leased_until),
            ..AttentionItem::of_task(AttentionKind::LeaseExpired, &task, text, command)
        });
    }
    Ok(())
}

/// Finds deliveries whose first attempt ended without an ack.
fn overdue_acks(look: &mut AttentionScan<'_>) -> Result<()> {
    let open = look.live.open_deliveries(look.asked())?;
    for delivery in look.bounded(open) {
        let due = delivery.first_due_at();
        if due > look.now {
            continue;
        }
        let id = &delivery.message_id;
        let Some(to) = look.reader_of(&delivery.to)? else {
            continue;
        };
        let text = format!("ack overdue: {to} has not acknowledged {id}");
        // Only the recipient can acknowledge the message, but other agents can wake the recipient.
        let command = format!("teamlog nudge {}", look.team);
        look.items.push(AttentionItem {
            agent: Some(to),
            message_id: Some(id.clone()),
            seq: Some(delivery.required),
            since: Some(due),
            ..AttentionItem::new(AttentionKind::OverdueAck, text, command)
        });
    }
    Ok(())
}

/// Finds the newest write per agent and path that the guard refused in the last day. The item's command shows if the write would still be
/// refused.
fn writes_refused(look: &mut AttentionScan<'_>) -> Result<()> {
    let since = look.now.plus_micros(-REFUSED_MICROS);
    let newest = refused::newest(look.live, look.reader, REFUSED_ASKED)?;
    let all_are_read = newest.len() < REFUSED_ASKED;
    let mut shown = BTreeSet::new();
    let mut past_the_day = false;
    for write in newest.into_iter().take(REFUSED_ASKED - 1) {
        let (agent, path) = (write.agent, write.refused.path);
        if write.refused.refused_at < since {
            past_the_day = true;
            break;
        }
        if !shown.insert((agent.clone(), path.clone())) {
            continue;
        }
        let holder = write.refused.holder;
        let held = holder.map_or_else(String::new, |holder| format!(", held by {holder}"));
        let text = format!("write refused: {agent} may not write {path}{held}");
        let (team, quoted) = (look.team, quoted(&path));
        let command = format!("teamlog can-write {team} {quoted} --agent {agent}");
        look.items.push(AttentionItem {
            agent: Some(agent),
            path: Some(path),
            seq: Some(write.seq),
            since: Some(write.refused.refused_at),
            ..AttentionItem::new(AttentionKind::WriteRefused, text, command)
        });
    }
    look.more |= !all_are_read && !past_the_day;
    Ok(())
}

/// Finds ready tasks that are in progress or assigned, and that had no update or report for a long time.
fn stale_tasks(look: &mut AttentionScan<'_>) -> Result<()> {
    for status in [Status::InProgress, Status::Assigned] {
        let filter = TaskFilter {
            status: Some(status),
            ..TaskFilter::default()
        };
        let page = look.live.tasks(&filter, None, look.most)?;
        for task in look.page(page) {
            let heard = task.reported.at.unwrap_or_default().max(task.updated_at);
            let silent = heard < look.stale_before;
            if !silent || task.lease_expired(look.now) || !look.live.ready(&task)? {
                continue;
            }
            let Some(owner) = &task.owner else {
                continue;
            };
            let text = format!("stale: no report on {} from {owner}", task.task_id);
            let command = next::show(look.team, &task.task_id);
            look.items.push(AttentionItem {
                since: Some(heard),
                ..AttentionItem::of_task(AttentionKind::StaleTask, &task, text, command)
            });
        }
    }
    Ok(())
}
