//! Sentences of modes and their sessions.

use super::entry::{Entry, list_of, with, words};
use serde_json::Value;

/// Fields of a state that are not shown, because they repeat the kind of the event or are for programs only.
const NOT_SHOWN: [&str; 12] = [
    "active",
    "auto_completed_reason",
    "completed_at",
    "lifecycle_outcome",
    "max_iterations",
    "mode",
    "run_outcome",
    "schema_version",
    "session_id",
    "started_at",
    "transition_source",
    "updated_at",
];

pub(super) fn sentence(entry: &Entry<'_>) -> Option<String> {
    let (actor, mode, session) = (entry.actor(), mode(entry), session(entry));
    let act = |act: &str| format!("{actor} {act} {mode}{session}");
    let changed = |text: String| with(text, &changes(&entry.payload));
    let skills = |name: &str| names(&entry.payload, name);
    Some(match &*entry.event.kind {
        "mode_started" => changed(act("started")),
        "mode_updated" => changed(act("updated")),
        "mode_completed" => changed(act("completed")),
        "mode_failed" => changed(act("failed")),
        "mode_canceled" => changed(act("canceled")),
        "mode_auto_completed" => {
            format!("{mode}{session} was completed, because another mode took over")
        }
        "mode_cleared" => act("cleared"),
        "mode_input_locked" => format!("{mode}{session} locked the input"),
        "mode_input_unlocked" => with(
            format!("{mode}{session} unlocked the input"),
            entry.payload["input_lock"]["exit_reason"]
                .as_str()
                .unwrap_or_default(),
        ),
        "mode_skills_synced" => format!("the active modes{session} are {}", skills("skills")),
        "mode_session_seen" => format!("{actor} was active{session}"),
        "mode_session_ended" => with(
            format!("session {} ended", entry.word("session_id")),
            entry
                .text("note")
                .or(entry.text("reason").filter(|why| *why != "ended"))
                .unwrap_or_default(),
        ),
        "mode_transitioned" => with(
            format!(
                "modes{session} changed from {} to {}",
                skills("current"),
                skills("resulting")
            ),
            entry.text("kind").unwrap_or_default(),
        ),
        "mode_prompt_decided" => prompt(entry),
        "mode_gate_bypassed" => with(
            format!(
                "{actor} bypassed the gate before {}{session}",
                skills("skills")
            ),
            entry.text("reason").unwrap_or_default(),
        ),
        _ => return None,
    })
}

fn mode(entry: &Entry<'_>) -> String {
    entry
        .text("mode")
        .map_or_else(|| "a mode".to_owned(), |mode| format!("mode {mode}"))
}

fn session(entry: &Entry<'_>) -> String {
    let session = entry.text("session_id");
    session.map_or_else(String::new, |session| format!(" in session {session}"))
}

fn names(value: &Value, name: &str) -> String {
    match list_of(value, name).join(" + ") {
        none if none.is_empty() => "none".to_owned(),
        names => names,
    }
}

fn prompt(entry: &Entry<'_>) -> String {
    let (actor, payload) = (entry.actor(), &entry.payload);
    let asked = names(payload, "requested_skills");
    let active = names(payload, "active_skills");
    let text = format!(
        "{actor} asked for {asked}{}, active now: {active}",
        session(entry)
    );
    match &*names(payload, "deferred_skills") {
        "none" => text,
        deferred => format!("{text}, deferred: {deferred}"),
    }
}

/// Formats the fields that an event sets, and the fields that it removes.
fn changes(payload: &Value) -> String {
    let set = match payload.get("state") {
        Some(state) => state,
        None => &payload["set"],
    };
    let is_shown = |name: &str, value: &Value| !NOT_SHOWN.contains(&name) && *value != 0;
    let fields = set.as_object().into_iter().flatten();
    let fields = fields.filter(|(name, value)| is_shown(name, value));
    let fields = fields.map(|(name, value)| (name.clone(), value.clone()));
    let set = words(&Value::Object(fields.collect()));
    let removed = list_of(payload, "unset").join(", ");
    let removed = (!removed.is_empty()).then(|| format!("without {removed}"));
    let parts = std::iter::once(set)
        .filter(|set| !set.is_empty())
        .chain(removed);
    parts.collect::<Vec<_>>().join(", ")
}
