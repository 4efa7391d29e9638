//! Sentences of the team, its settings, its supervision and its log.

use super::entry::{Entry, with, word};

pub(super) fn sentence(entry: &Entry<'_>) -> Option<String> {
    let actor = entry.actor();
    Some(match &*entry.event.kind {
        "team_created" => team_created(entry),
        "members_added" => format!("{actor} added {} to the team", members(entry)),
        "members_removed" => format!("{actor} removed {} from the team", members(entry)),
        "agent_retired" => format!("{actor} retired {}", entry.agent("agent")),
        "team_closed" => with(
            format!("{actor} closed the team"),
            entry
                .text("reason")
                .filter(|why| *why != "shutdown")
                .unwrap_or_default(),
        ),
        "config_changed" => config_changed(entry),
        "team_settings_changed" => format!("{actor} changed settings of the team"),
        "resource_policy_set" => format!("{actor} set the policy for overlapping paths"),
        "manifest_written" => format!("{actor} wrote the manifest of the team"),
        "agent_token_added" => {
            format!(
                "{actor} added a token for {}, scope {}",
                entry.agent("agent"),
                entry.word("scope")
            )
        }
        "agent_token_revoked" => {
            format!(
                "{actor} revoked token {} of {}",
                entry.word("token_id"),
                entry.agent("agent")
            )
        }
        "projection_declared" => {
            format!("{actor} declared the projection {}", entry.word("name"))
        }
        "projection_removed" => format!("{actor} removed the projection {}", entry.word("name")),
        "response_stored" => format!(
            "the answer to {} was stored for retries",
            entry.word("operation")
        ),
        kind if kind.starts_with("log_") => return log(entry),
        _ => return supervision(entry),
    })
}

fn members(entry: &Entry<'_>) -> String {
    let members = word(&entry.payload["members"]);
    members.unwrap_or_else(|| "no agents".to_owned())
}

fn team_created(entry: &Entry<'_>) -> String {
    let actor = entry.actor();
    match (word(&entry.payload["members"]), entry.is("open")) {
        (None, _) => format!("{actor} created the team, open to any agent"),
        (Some(names), true) => format!("{actor} created the team with {names}, open to more"),
        (Some(names), false) => format!("{actor} created the team with {names}"),
    }
}

fn config_changed(entry: &Entry<'_>) -> String {
    let changes = entry.payload["changes"].as_object().into_iter().flatten();
    let changes = changes.map(|(key, value)| match word(value) {
        None => format!("{key} to its default"),
        Some(value) => format!("{key} to {value}"),
    });
    match changes.collect::<Vec<_>>().join(", ") {
        none if none.is_empty() => format!("{} changed settings", entry.actor()),
        changes => format!("{} set {changes}", entry.actor()),
    }
}

fn supervision(entry: &Entry<'_>) -> Option<String> {
    let actor = entry.actor();
    Some(match &*entry.event.kind {
        "leader_attention_set" => {
            let state = if entry.is("leader_session_active") {
                "active"
            } else {
                "not active"
            };
            format!("{actor} reported that the leader's session is {state}")
        }
        "monitor_snapshot_written" => format!("{actor} stored a snapshot of the monitor"),
        "summary_snapshot_written" => format!("{actor} read the summary of the team"),
        "phase_changed" => {
            format!(
                "the team went from phase {} to {}",
                entry.word("from"),
                entry.word("to")
            )
        }
        "shutdown_gated" => {
            let open = ["pending", "assigned", "blocked", "in_progress"];
            let open = open.iter().filter_map(|name| entry.payload[*name].as_u64());
            let open: u64 = open.fold(0, u64::saturating_add);
            match entry.is("forced") {
                true => {
                    format!("{actor} allowed the closing of the team by force, open tasks: {open}")
                }
                false => format!("{actor} allowed the closing of the team, open tasks: {open}"),
            }
        }
        _ => return None,
    })
}

fn log(entry: &Entry<'_>) -> Option<String> {
    let actor = entry.actor();
    Some(match &*entry.event.kind {
        "log_converted" => format!("{actor} converted the log to another format"),
        "log_imported" => format!("{actor} imported history"),
        "log_journal_adopted" => format!("{actor} gave the log to a journal"),
        "log_journal_left" => format!("{actor} took the log from its journal"),
        "log_restored" => format!("{actor} restored the log from an export or a backup"),
        "log_salvaged" => format!("{actor} copied the readable part of a damaged log"),
        "log_tail_quarantined" => format!(
            "a torn end of the log was set aside: {} bytes of {} at byte {}",
            entry.word("length"),
            entry.word("segment"),
            entry.word("offset")
        ),
        "log_rolled_back" => {
            format!(
                "{actor} accepted a rollback of the log; events up to {} were known",
                entry.word("known_seq")
            )
        }
        "log_cut" => format!("{actor} cut the log"),
        _ => return None,
    })
}
