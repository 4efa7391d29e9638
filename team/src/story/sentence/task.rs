//! Sentences of tasks and their paths.

use super::entry::{Entry, text_of, with, word};
use serde_json::Value;

pub(super) fn sentence(entry: &Entry<'_>) -> Option<String> {
    let (actor, task) = (entry.actor(), entry.task());
    Some(match &*entry.event.kind {
        "task_created" => created(entry),
        "task_imported" => with(
            format!(
                "{task} was imported as {}",
                entry.text("status").unwrap_or("pending")
            ),
            entry.text("subject").unwrap_or_default(),
        ),
        "task_updated" => with(
            format!("{actor} edited {task}{}", forced(entry)),
            &edits(&entry.payload),
        ),
        "task_assigned" => assigned(entry),
        "task_deps_changed" => match entry.list("depends_on").join(", ") {
            none if none.is_empty() => format!("{actor} removed the dependencies of {task}"),
            tasks => format!("{actor} set the dependencies of {task} to {tasks}"),
        },
        "resource_declared" => match entry.list("resources").join(", ") {
            none if none.is_empty() => format!("{actor} removed the paths of {task}"),
            paths => format!("{actor} set the paths of {task} to {paths}"),
        },
        "task_blocked" => match entry.list("waits_for").join(", ") {
            none if none.is_empty() => format!("{task} waits"),
            tasks => format!("{task} waits for {tasks}"),
        },
        "task_unblocked" => format!("{task} no longer waits"),
        "task_claimed" => by_holder(entry, "claimed", &entry.until("leased_until")),
        "task_renewed" => by_holder(entry, "renewed the lease on", &entry.until("leased_until")),
        "task_completed" => ended(entry, "completed", "result"),
        "task_failed" => ended(entry, "failed", "error"),
        "task_released" => by_holder(entry, "released", ""),
        "task_canceled" => with(
            format!("{actor} canceled {task}{}", forced(entry)),
            entry.text("reason").unwrap_or_default(),
        ),
        "task_reopened" => format!("{actor} reopened {task}"),
        "task_lease_expired" => format!("the lease of {} on {task} expired", entry.agent("worker")),
        "approval_recorded" => approval(entry),
        _ => return None,
    })
}

fn created(entry: &Entry<'_>) -> String {
    let mut text = format!("{} created {}", entry.actor(), entry.task());
    if let Some(owner) = entry.text("owner") {
        text.push_str(&format!(" for {owner}"));
    }
    if let Some(parent) = entry.text("parent") {
        text.push_str(&format!(" in {parent}"));
    }
    let after = entry.list("depends_on");
    if !after.is_empty() {
        text.push_str(&format!(", after {}", after.join(", ")));
    }
    with(text, entry.text("subject").unwrap_or_default())
}

fn assigned(entry: &Entry<'_>) -> String {
    let (actor, task) = (entry.actor(), entry.task());
    let mut text = match entry.text("owner") {
        None => format!("{actor} left {task} without an owner"),
        Some(owner) => format!("{actor} assigned {task} to {owner}"),
    };
    if let Some(holder) = text_of(&entry.payload["taken_from"], "worker") {
        text.push_str(&format!(", taken from {holder}"));
    }
    text
}

fn forced(entry: &Entry<'_>) -> &'static str {
    match entry.is("forced") {
        true => " by force",
        false => "",
    }
}

/// Formats an act on a claim. Names the holder if another agent acted.
fn by_holder(entry: &Entry<'_>, act: &str, rest: &str) -> String {
    let (actor, task) = (entry.actor(), entry.task());
    let holder = entry.text("worker").filter(|holder| *holder != actor);
    let holder = holder.map_or_else(String::new, |holder| format!(" for {holder}"));
    format!("{actor} {act} {task}{holder}{rest}{}", forced(entry))
}

fn ended(entry: &Entry<'_>, act: &str, why: &str) -> String {
    with(
        by_holder(entry, act, ""),
        entry.text(why).unwrap_or_default(),
    )
}

fn approval(entry: &Entry<'_>) -> String {
    let (actor, task) = (
        entry.text("reviewer").unwrap_or(entry.actor()),
        entry.task(),
    );
    let text = match entry.text("status") {
        Some("approved") => format!("{actor} approved {task}"),
        Some("rejected") => format!("{actor} rejected {task}"),
        _ => format!("{actor} put {task} up for review"),
    };
    with(text, entry.text("decision_reason").unwrap_or_default())
}

/// Formats the fields that an edit has set.
fn edits(payload: &Value) -> String {
    let edits = [
        ("subject", "subject"),
        ("description", "description"),
        ("labels", "labels"),
        ("parent", "parent"),
        ("due_at", "due time"),
        ("defer_until", "defer time"),
        ("priority", "priority"),
        ("requires_approval", "approval"),
        ("requires_code_change", "code change"),
    ];
    let edits = edits.iter().filter_map(|(field, name)| {
        let value = payload.get(field)?;
        Some(match (*field, value, word(value)) {
            ("subject", _, Some(text)) => format!("subject {text:?}"),
            ("description", ..) => "new description".to_owned(),
            (_, Value::Bool(true), _) => format!("{name} required"),
            (_, Value::Bool(false), _) => format!("{name} not required"),
            (_, _, Some(text)) => format!("{name} {text}"),
            (_, _, None) => format!("no {name}"),
        })
    });
    edits.collect::<Vec<_>>().join(", ")
}
