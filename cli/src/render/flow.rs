//! Describes events of modes and bootstrap runs: first the mode or run, then the fields that are of interest.

use super::event::{said, word};
use serde_json::Value;

/// Fields that are not shown, because they repeat the kind of the event or are for programs only.
const UNSAID: [&str; 12] = [
    "active",
    "auto_completed_reason",
    "completed_at",
    "current_phase",
    "lifecycle_outcome",
    "max_iterations",
    "mode",
    "run_outcome",
    "session_id",
    "started_at",
    "transition_source",
    "updated_at",
];

/// Describes an event of a mode, such as `forge in session S executing iteration=2`.
pub fn mode(kind: &str, payload: &Value) -> String {
    match kind {
        "mode_transitioned" => transition(payload),
        "mode_prompt_decided" => prompt(payload),
        "mode_cleared" if payload["tombstone"] == true => {
            format!("{}  marked as cleared", whose(payload))
        }
        "mode_cleared" | "mode_input_locked" | "mode_session_seen" => whose(payload),
        "mode_input_unlocked" => {
            let reason = payload["input_lock"]["exit_reason"].as_str();
            joined(vec![whose(payload), reason.unwrap_or_default().to_owned()])
        }
        "mode_session_ended" => joined(vec![
            whose(payload),
            payload["reason"].as_str().unwrap_or_default().to_owned(),
            payload["note"].as_str().unwrap_or_default().to_owned(),
        ]),
        "mode_gate_bypassed" => joined(vec![
            payload["reason"].as_str().unwrap_or("-").to_owned(),
            format!("for {}", list(&payload["skills"])),
        ]),
        "mode_skills_synced" => joined(vec![whose(payload), list(&payload["skills"])]),
        _ => {
            let changed = match &payload["state"] {
                Value::Null => &payload["set"],
                state => state,
            };
            let mut words = vec![whose(payload)];
            words.extend(changed["current_phase"].as_str().map(str::to_owned));
            words.push(said(&told(changed)));
            words.push(said(&others(payload, &["state", "set", "unset"])));
            words.extend(removed(&payload["unset"]));
            joined(words)
        }
    }
}

/// Describes an event of a bootstrap run, such as `run 1 domain=physics`.
pub fn bootstrap(kind: &str, payload: &Value) -> String {
    let run = format!("run {}", word(&payload["run"]));
    let text = |name: &str| payload[name].as_str().unwrap_or("-").to_owned();
    match kind {
        "bootstrap_breached" => joined(vec![
            run,
            format!(
                "{} by {} in {}, back to {}: {}",
                text("code"),
                text("event"),
                text("at_state"),
                text("rolled_back_to"),
                text("why")
            ),
        ]),
        _ => joined(vec![run, said(&others(payload, &[]))]),
    }
}

/// Names the mode and its session: `forge` or `forge in session S`.
fn whose(payload: &Value) -> String {
    let mode = payload["mode"].as_str().map(str::to_owned);
    let session = payload["session_id"].as_str();
    let session = session.map(|session| format!("in session {session}"));
    let words: Vec<String> = mode.into_iter().chain(session).collect();
    match words.is_empty() {
        true => "root".to_owned(),
        false => words.join(" "),
    }
}

/// Describes a transition: `blueprint -> forge  auto-complete` or `team -> team + forge  overlap`.
fn transition(payload: &Value) -> String {
    let arrow = format!(
        "{} -> {}",
        list(&payload["current"]),
        list(&payload["resulting"])
    );
    let session = payload["session_id"].as_str();
    joined(vec![
        arrow,
        word(&payload["kind"]),
        session.map_or_else(String::new, |session| format!("in session {session}")),
    ])
}

/// Describes a prompt, such as `blueprint  deferred: team + forge`.
fn prompt(payload: &Value) -> String {
    let deferred = match list(&payload["deferred_skills"]) {
        none if none == "-" => String::new(),
        deferred => format!("deferred: {deferred}"),
    };
    joined(vec![
        format!("asked for {}", list(&payload["requested_skills"])),
        format!("active: {}", list(&payload["active_skills"])),
        deferred,
    ])
}

fn list(names: &Value) -> String {
    let names = names.as_array().into_iter().flatten();
    let names: Vec<&str> = names.filter_map(Value::as_str).collect();
    match names.is_empty() {
        true => "-".to_owned(),
        false => names.join(" + "),
    }
}

/// Returns the fields of a state that are of interest.
fn told(state: &Value) -> Value {
    let nothing = |value: &Value| value.is_null() || *value == 0;
    let fields = state.as_object().into_iter().flatten();
    let fields = fields.filter(|(name, value)| !UNSAID.contains(&&***name) && !nothing(value));
    let fields = fields.map(|(name, value)| (name.clone(), value.clone()));
    Value::Object(fields.collect())
}

/// Returns the payload without the fields `but`, which are shown elsewhere.
fn others(payload: &Value, but: &[&str]) -> Value {
    let said = |name: &str| matches!(name, "run" | "mode" | "session_id") || but.contains(&name);
    let fields = payload.as_object().into_iter().flatten();
    let fields = fields.filter(|(name, _)| !said(name));
    let fields = fields.map(|(name, value)| (name.clone(), value.clone()));
    Value::Object(fields.collect())
}

/// Describes removed fields, such as `without error`.
fn removed(unset: &Value) -> Option<String> {
    let names = unset.as_array().into_iter().flatten();
    let names: Vec<&str> = names.filter_map(Value::as_str).collect();
    (!names.is_empty()).then(|| format!("without {}", names.join(", ")))
}

fn joined(words: Vec<String>) -> String {
    let words: Vec<String> = words.into_iter().filter(|word| !word.is_empty()).collect();
    words.join("  ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_happens_to_a_mode_reads_as_words() {
        for (kind, payload, words) in [
            (
                "mode_started",
                json!({"mode": "forge", "session_id": "S", "state": {
                    "mode": "forge", "active": true, "current_phase": "starting", "iteration": 0,
                    "max_iterations": 50, "started_at": "2026-11-21T12:00:00Z", "task_description": "Fix it",
                }}),
                r#"forge in session S  starting  task_description="Fix it""#,
            ),
            (
                "mode_updated",
                json!({"mode": "forge", "set": {"current_phase": "executing", "iteration": 2}, "unset": ["error"]}),
                "forge  executing  iteration=2  without error",
            ),
            (
                "mode_failed",
                json!({"mode": "team", "set": {"active": false, "current_phase": "failed", "error": "no"}, "unset": []}),
                "team  failed  error=no",
            ),
            (
                "mode_cleared",
                json!({"mode": "team", "tombstone": false}),
                "team",
            ),
            (
                "mode_cleared",
                json!({"mode": "team", "session_id": "S", "tombstone": true}),
                "team in session S  marked as cleared",
            ),
            (
                "mode_transitioned",
                json!({"kind": "auto-complete", "current": ["blueprint"], "requested": "forge", "resulting": ["forge"]}),
                "blueprint -> forge  auto-complete",
            ),
            (
                "mode_skills_synced",
                json!({"skills": ["team", "forge"], "metadata": {"keyword": "x"}}),
                "root  team + forge",
            ),
            (
                "mode_prompt_decided",
                json!({"requested_skills": ["blueprint", "team"], "deferred_skills": ["team"], "active_skills": ["blueprint"]}),
                "asked for blueprint + team  active: blueprint  deferred: team",
            ),
            (
                "mode_input_unlocked",
                json!({"mode": "deep-interview", "input_lock": {"active": false, "exit_reason": "abort"}}),
                "deep-interview  abort",
            ),
            (
                "mode_gate_bypassed",
                json!({"reason": "force", "skills": ["team"]}),
                "force  for team",
            ),
            (
                "mode_session_ended",
                json!({"session_id": "S", "reason": "ended", "note": "closed"}),
                "in session S  ended  closed",
            ),
            ("mode_started", json!({}), "root"),
            ("mode_updated", json!([1]), "root"),
        ] {
            assert_eq!(mode(kind, &payload), words, "{kind} {payload}");
        }
    }

    #[test]
    fn what_happens_in_a_run_reads_as_words() {
        assert_eq!(
            bootstrap(
                "bootstrap_domain_started",
                &json!({"run": "1", "domain": "physics"})
            ),
            "run 1  domain=physics"
        );
        assert_eq!(
            bootstrap(
                "bootstrap_breached",
                &json!({"run": "1", "code": "C", "event": "e", "at_state": "A", "rolled_back_to": "B", "why": "w"})
            ),
            "run 1  C by e in A, back to B: w"
        );
    }
}
