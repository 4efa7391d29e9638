//! Attention items about agents: open questions, spent budgets, unknown owners, and stopped agents.

use super::{AttentionItem, AttentionKind, AttentionScan};
use crate::doubts;
use crate::operation::prelude::*;
use crate::shell::quoted;

/// Maximum number of task ids in the text of an item.
const LISTED_MAX: usize = 8;

/// Finds a spent budget of the team or of an agent.
pub(super) fn budget_used(look: &mut AttentionScan<'_>) -> Result<()> {
    for over in budget::spent(look.live, look.asked())? {
        let text = format!("budget used up: {}", over.message());
        let command = format!("teamlog usage {} --set{}", look.team, over.raise());
        look.items.push(AttentionItem {
            agent: over.agent,
            ..AttentionItem::new(AttentionKind::BudgetUsed, text, command)
        });
    }
    Ok(())
}

/// Finds unanswered questions. Skips questions about a finished task.
pub(super) fn questions(look: &mut AttentionScan<'_>) -> Result<()> {
    let open = look.live.open_questions(look.asked())?;
    for question in look.bounded(open) {
        let (from, to, task_id) = (question.from, question.to, question.task_id);
        let task = match &task_id {
            Some(id) => look.live.task(id)?,
            None => None,
        };
        if task.as_ref().is_some_and(|task| task.status.is_final()) {
            continue;
        }
        let about = task_id.as_ref().map(|id| format!(" on {id}"));
        let about = about.unwrap_or_default();
        let text = format!("question: {from} waits for an answer from {to}{about}");
        let command = format!(
            "teamlog reply {} 'TEXT' --message-id {}",
            look.team, question.message_id
        );
        look.items.push(AttentionItem {
            task_id,
            title: task.and_then(|task| task.subject),
            agent: Some(to),
            message_id: Some(question.message_id),
            seq: Some(question.seq),
            since: Some(question.at),
            ..AttentionItem::new(AttentionKind::QuestionOpen, text, command)
        });
    }
    Ok(())
}

/// Finds owners of unfinished tasks that never acted in the team.
pub(super) fn unknown_owners(look: &mut AttentionScan<'_>) -> Result<()> {
    for (owner, _) in look.live.owners()? {
        let tasks = open_tasks(look.live, &owner)?;
        if tasks.count == 0 {
            continue;
        }
        let Some(said) = doubts::never_acted(look.live, &owner, "")? else {
            continue;
        };
        let text = format!("unknown owner: {said}; owns {}", tasks.words());
        let command = format!("teamlog tasks {} --owner {}", look.team, quoted(&owner));
        look.items.push(AttentionItem {
            task_id: tasks.only(),
            agent: Some(owner),
            since: tasks.since,
            ..AttentionItem::new(AttentionKind::UnknownOwner, text, command)
        });
    }
    Ok(())
}

/// Finds stopped agents with unread messages or unfinished tasks.
pub(super) fn gone(look: &mut AttentionScan<'_>) -> Result<()> {
    for agent in membership::workers(look.live)? {
        let Some(at) = doubts::gone_since(look.live, &agent)? else {
            continue;
        };
        let unread = look.live.agent(&agent)?.unread;
        let tasks = open_tasks(look.live, &agent)?;
        let mut left = Vec::new();
        if tasks.count > 0 {
            left.push(format!("tasks {}", tasks.words()));
        }
        if unread > 0 {
            let noun = if unread == 1 { "message" } else { "messages" };
            left.push(format!("{unread} unread {noun}"));
        }
        if left.is_empty() {
            continue;
        }
        let text = format!("stopped: {agent} left {}", left.join(", "));
        let (team, name) = (look.team, quoted(&agent));
        let command = match tasks.count {
            0 => format!("teamlog read {team} --agent {name} --unread"),
            _ => format!("teamlog tasks {team} --owner {name}"),
        };
        look.items.push(AttentionItem {
            task_id: tasks.only(),
            agent: Some(agent),
            since: Some(at),
            ..AttentionItem::new(AttentionKind::AgentGone, text, command)
        });
    }
    Ok(())
}

/// Finds unread mail of retired agents. No agent will read this mail.
pub(super) fn mail_of_retired(look: &mut AttentionScan<'_>) -> Result<()> {
    for agent in look.live.retired_agents()? {
        let unread = look.live.agent(&agent)?.unread;
        if unread == 0 {
            continue;
        }
        let noun = if unread == 1 { "message" } else { "messages" };
        let text = format!("retired: {agent} left {unread} unread {noun}");
        let command = format!("teamlog inbox {} --agent {}", look.team, quoted(&agent));
        look.items.push(AttentionItem {
            agent: Some(agent),
            ..AttentionItem::new(AttentionKind::AgentGone, text, command)
        });
    }
    Ok(())
}

/// The unfinished tasks of an agent.
struct OpenTasks {
    count: u64,
    /// Ids of the first tasks.
    ids: Vec<String>,
    /// Time of the earliest update of these tasks.
    since: Option<Timestamp>,
}

impl OpenTasks {
    fn words(&self) -> String {
        let listed = self.ids.join(", ");
        match self.count - self.ids.len() as u64 {
            0 => listed,
            more => format!("{listed} and {more} more"),
        }
    }

    fn only(&self) -> Option<String> {
        self.ids.first().filter(|_| self.count == 1).cloned()
    }
}

fn open_tasks(live: &Live, owner: &str) -> Result<OpenTasks> {
    let counts = live.owned_counts(owner)?;
    let mut found = OpenTasks {
        count: 0,
        ids: Vec::new(),
        since: None,
    };
    for status in Status::ALL {
        let count = counts.by_status[status as usize];
        if status.is_final() || count == 0 {
            continue;
        }
        found.count += count;
        let filter = TaskFilter {
            status: Some(status),
            owner: Some(owner.to_owned()),
            ..TaskFilter::default()
        };
        let left = LISTED_MAX - found.ids.len();
        for task in live.tasks(&filter, None, left)?.tasks {
            found.since = found.since.into_iter().chain([task.updated_at]).min();
            found.ids.push(task.task_id);
        }
    }
    Ok(found)
}
