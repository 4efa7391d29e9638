//! Sentences of workers, usage and artifacts.

use super::entry::{Entry, with, word};

pub(super) fn sentence(entry: &Entry<'_>) -> Option<String> {
    let (actor, worker) = (entry.actor(), entry.agent("worker"));
    let text = |name: &str| entry.text(name).unwrap_or_default();
    Some(match &*entry.event.kind {
        "worker_identity_written" => format!(
            "{worker} registered as {}",
            entry.text("role").unwrap_or("worker")
        ),
        "worker_heartbeat_updated" => match entry.payload["alive"] == false {
            true => format!("the process of {worker} ended"),
            false => format!(
                "{worker} gave a sign of life at turn {}",
                entry.word("turn_count")
            ),
        },
        "worker_status_changed" => status(entry),
        "worker_inbox_written" => with(
            format!("{actor} wrote instructions for {worker}"),
            text("content"),
        ),
        "worker_event_reported" => reported(entry),
        "shutdown_requested" => {
            format!(
                "{} asked {worker} to stop",
                entry.text("requested_by").unwrap_or(actor)
            )
        }
        "shutdown_acked" => match entry.text("status") {
            Some("reject") => with(format!("{worker} refused to stop"), text("reason")),
            _ => with(format!("{worker} agreed to stop"), text("reason")),
        },
        "usage_reported" => match entry.text("task_id") {
            None => format!("{worker} used {} tokens", entry.word("tokens")),
            Some(task) => format!(
                "{worker} used {} tokens for task {task}",
                entry.word("tokens")
            ),
        },
        "budget_set" => with(format!("{actor} set the token budget"), &budget(entry)),
        "budget_soft_limit_reached" => format!(
            "the team reached its soft limit of {} tokens with {}",
            entry.word("limit"),
            entry.word("tokens")
        ),
        "artifact_stored" => artifact(entry),
        "write_refused" => with(
            format!("{} may not write {}", entry.agent(""), entry.word("path")),
            text("reason"),
        ),
        _ => return None,
    })
}

fn status(entry: &Entry<'_>) -> String {
    let worker = entry.agent("worker");
    let task = entry.text("current_task_id");
    let task = task.map_or_else(String::new, |task| format!(" on task {task}"));
    let text = format!("{worker} is {}{task}", entry.word("state"));
    with(text, entry.text("reason").unwrap_or_default())
}

fn reported(entry: &Entry<'_>) -> String {
    let kind = entry.text("type").unwrap_or("an event").replace('_', " ");
    let state = entry.text("state").map(|state| format!("state {state}"));
    let task = entry.text("task_id").map(|task| format!("task {task}"));
    let reason = entry.text("reason").map(str::to_owned);
    let said = [state, task, reason].into_iter().flatten();
    let said = said.collect::<Vec<_>>().join(", ");
    with(format!("{} reported {kind}", entry.agent("worker")), &said)
}

fn budget(entry: &Entry<'_>) -> String {
    let limits = [
        ("max_tokens", "in all"),
        ("soft_limit_tokens", "before a warning"),
        ("per_agent_tokens", "per agent"),
    ];
    let limits = limits.iter().filter_map(|(field, name)| {
        let tokens = word(&entry.payload[*field])?;
        Some(format!("{tokens} {name}"))
    });
    let mut limits: Vec<String> = limits.collect();
    if entry.is("hard_limit") {
        limits.push("hard limit".to_owned());
    }
    limits.join(", ")
}

fn artifact(entry: &Entry<'_>) -> String {
    let task = entry.text("task_id");
    let task = task.map_or_else(String::new, |task| format!(" for task {task}"));
    let (name, size) = (entry.word("name"), entry.word("size"));
    let actor = entry.text("worker").unwrap_or(entry.actor());
    format!("{actor} stored artifact {name}{task}, {size} bytes")
}
