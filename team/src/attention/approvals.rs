//! Attention items about approvals: rejected approvals, and missing approvals of tasks in progress.

use super::{AttentionItem, AttentionKind, AttentionScan};
use crate::operation::prelude::*;
use crate::projections::worker::ApprovalShown;
use crate::task::approval;

/// Finds tasks with a rejected approval, unless the task failed or was canceled. Then finds tasks in progress that cannot be
/// completed because a required decision is missing.
pub(super) fn approvals(look: &mut AttentionScan<'_>) -> Result<()> {
    let rejected = look.live.rejected_tasks(look.asked())?;
    for id in look.bounded(rejected) {
        let (task, last) = (look.live.task(&id)?, approval::last(look.live, &id)?);
        let Some((task, last)) = task.zip(last) else {
            continue;
        };
        if !matches!(task.status, Status::Failed | Status::Canceled) {
            look.items.push(rejection(look.team, &task, &last));
        }
    }
    let filter = TaskFilter {
        status: Some(Status::InProgress),
        ..TaskFilter::default()
    };
    let page = look.live.tasks(&filter, None, look.most)?;
    for task in look.page(page) {
        if !approval::is_missing(look.live, &task)? {
            continue;
        }
        let last = look.live.approval(&task.task_id)?;
        if !last.is_some_and(|last| last.what.is_rejected()) {
            let text = format!(
                "approval missing: {} cannot be completed without one",
                task.task_id
            );
            let command = show(look.team, &task);
            look.items.push(AttentionItem {
                since: Some(task.updated_at),
                ..AttentionItem::of_task(AttentionKind::ApprovalMissing, &task, text, command)
            });
        }
    }
    Ok(())
}

fn rejection(team: &str, task: &Task, last: &ApprovalShown) -> AttentionItem {
    let text = format!("{} was {}", task.task_id, approval::words(last));
    AttentionItem {
        since: Timestamp::parse(&last.decided_at).ok(),
        ..AttentionItem::of_task(
            AttentionKind::ApprovalRejected,
            task,
            text,
            show(team, task),
        )
    }
}

/// Returns the command that shows a task with the decision on it.
fn show(team: &str, task: &Task) -> String {
    format!("teamlog task show {team} {}", task.task_id)
}
