//! Sentences of bootstrap runs.

use super::entry::{Entry, with, words};
use serde_json::Value;

pub(super) fn sentence(entry: &Entry<'_>) -> Option<String> {
    let kind = entry.event.kind.strip_prefix("bootstrap_")?;
    let run = format!("bootstrap run {}", entry.word("run"));
    if kind == "breached" {
        let (code, event) = (entry.word("code"), entry.word("event"));
        let text = format!("{run}: {event} broke the rule {code}");
        return Some(with(text, entry.text("why").unwrap_or_default()));
    }
    let happened = match kind {
        "started" => "it started",
        "probed" => "an attempt to create the team returned",
        "branch_taken" => "a branch was taken",
        "fallback_entered" => "it ended in the fallback",
        "roster_built" => "the members were chosen",
        "team_launched" => "the team was launched",
        "blocked" => "the launch was blocked",
        "core_pinged" => "a core member was asked whether it is ready",
        "core_acked" => "a core member is ready",
        "handshake_timed_out" => "core members did not answer in time",
        "core_relaunched" => "core members were launched again",
        "running_entered" => "the team runs",
        "swarm_declared" => "the lead announced that the team works",
        "skeleton_sent" => "the skeleton went to all domains",
        "domain_started" => "a domain started",
        "mapping_delivered" => "a domain delivered its result",
        "delivery_acked" => "a result was confirmed",
        "delivery_timed_out" => "a result was not confirmed in time",
        "feedback_given" => "the reviewer gave a verdict",
        "revision_submitted" => "a domain began another round",
        "domain_excluded" => "a domain was left out",
        "round_completed" => "the reviewer finished a round",
        "gate_cleared" => "the reviewer cleared the final gate",
        "final_synthesis_requested" => "the final synthesis was requested",
        "final_synthesis_acked" => "the request for the final synthesis was accepted",
        "synthesis_delivered" => "the final synthesis was delivered",
        "member_added" => "a member joined",
        "signal_recorded" => "a signal was reported",
        _ => return None,
    };
    Some(with(format!("{run}: {happened}"), &details(&entry.payload)))
}

fn details(payload: &Value) -> String {
    let fields = payload.as_object().into_iter().flatten();
    let fields = fields.filter(|(name, _)| *name != "run" && *name != "due_at");
    let fields = fields.map(|(name, value)| (name.clone(), value.clone()));
    words(&Value::Object(fields.collect()))
}
