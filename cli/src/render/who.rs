//! Renders the current work of each agent: a line for each claimed task, and a line for each agent without a task.

use crate::render::prelude::*;
use teamlog_team::worker::who::{WhoAgent, WhoAnswer, WhoTask};

/// Renders rows of `agent task status lease last event subject`.
pub fn who(answer: &WhoAnswer, view: &View) -> Vec<String> {
    let agents = time::plural(answer.count as u64, "agent");
    let claims = time::plural(answer.live_claims, "live claim");
    let rest = format!(": {agents}, {claims}");
    let mut shown = vec![heading(view, &answer.team, &rest)];
    if !answer.agents.is_empty() {
        let rows = answer
            .agents
            .iter()
            .flat_map(|agent| agent_rows(agent, view));
        let titles = titles(["agent", "task", "status", "lease", "last event", "about"]);
        push_below(
            &mut shown,
            lines(std::iter::once(titles).chain(rows), 2, view),
        );
    }
    shown.extend(more_below("more", &answer.next_cursor));
    shown
}

fn agent_rows(agent: &WhoAgent, view: &View) -> Vec<Vec<Cell>> {
    let last = match &agent.last_event {
        Some(last) => format!("{} {}", last.kind, view.ago(last.at)),
        None => "none".to_owned(),
    };
    let tasks: Vec<&WhoTask> = agent.working_on.iter().chain(&agent.waiting).collect();
    let mut rows: Vec<Vec<Cell>> = tasks.iter().map(|task| task_row(task)).collect();
    if rows.is_empty() {
        rows.push(vec![plain("-"), plain("-"), plain("-"), plain(said(agent))]);
    }
    let left_out = (agent.working_on_total + agent.waiting_total) as usize;
    let left_out = left_out.saturating_sub(tasks.len());
    if left_out > 0 {
        let more = format!("{} more", time::count(left_out as u64));
        rows.push(vec![plain(more), plain(""), plain(""), plain("")]);
    }
    for (number, row) in rows.iter_mut().enumerate() {
        let (name, last) = match number {
            0 => (&*agent.agent, &*last),
            _ => ("", ""),
        };
        row.insert(0, styled(Style::Bold, name));
        row.insert(4, styled(Style::Dim, last).optional());
    }
    rows
}

/// Describes an agent without a task.
fn said(agent: &WhoAgent) -> String {
    let state = agent.state;
    let state = state.map(|state| format!("says that it is {}", state.name()));
    let unread = (agent.unread > 0).then(|| time::plural(agent.unread, "unread message"));
    let posts = agent.unread_posts;
    let posts = (posts > 0).then(|| time::plural(posts, "unread post"));
    let said: Vec<String> = state.into_iter().chain(unread).chain(posts).collect();
    said.join(", ")
}

fn task_row(task: &WhoTask) -> Vec<Cell> {
    let lease = match task.lease_left_ms {
        None => plain("-"),
        Some(0) => styled(Style::Warn, "ran out"),
        Some(left) => {
            let millis = i64::try_from(left).unwrap_or(i64::MAX);
            plain(format!(
                "{} left",
                time::about(millis.saturating_mul(1_000))
            ))
        }
    };
    let mut about = vec![task.subject.clone().unwrap_or_default()];
    if let Some(reported) = &task.reported {
        let by = task.reported_by.as_ref();
        let by = by.map(|by| format!(" by {by}")).unwrap_or_default();
        about.push(format!("reported{by}: {reported}"));
    }
    if !task.waits_for.is_empty() {
        let waits = task.waits_for.iter().map(|dep| match &dep.owner {
            Some(owner) => format!("{} ({}, {owner})", dep.task_id, dep.status),
            None => format!("{} ({})", dep.task_id, dep.status),
        });
        let mut waits: Vec<String> = waits.collect();
        let more = task.waits_for_total.saturating_sub(waits.len());
        if more > 0 {
            waits.push(format!("{more} more"));
        }
        about.push(format!("waits for {}", waits.join(", ")));
    }
    about.retain(|part| !part.is_empty());
    vec![
        plain(&task.task_id),
        styled(Style::of_status(task.status), task.status.name()).optional(),
        lease,
        free_text(Style::Plain, about.join("; ")),
    ]
}
