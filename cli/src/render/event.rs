//! Renders an event as a line: in words if its kind is known, else with its payload.

use crate::render::escape::visible;
use crate::render::style::Style;
use crate::render::{View, flow, table, thread};
use serde_json::Value;
use teamlog_team::engine::{Event, Timestamp};
use teamlog_team::projections::RefKind;
use unicode_width::UnicodeWidthStr;

/// Maximum number of characters of a payload in a line.
const SHOWN_MAX: usize = 100;

/// Minimum width of a terminal for lines with the complete date and time.
const WIDE: usize = 120;
/// Minimum width of the text of an event.
const TEXT_WIDTH_MIN: usize = 12;

/// Formats `seq date time actor kind task text`. The columns have fixed widths, because a replay is streamed. On a terminal
/// the text is cut at the end of the line.
pub fn line(event: &Event<'_>, view: &View) -> String {
    let kind = if event.foreign {
        Style::Dim
    } else {
        Style::Plain
    };
    let (seq, at) = (format!("{:>6}", event.seq), moment(event.created_at, view));
    let (actor, name) = (
        format!("{:<10}", visible(&event.actor)),
        format!("{:<20}", event.kind),
    );
    let before = [&*seq, &at, &actor, &name].map(UnicodeWidthStr::width);
    let before = before.iter().sum::<usize>() + before.len() * "  ".len();
    let text = what(event);
    let text = match view.width {
        Some(width) => table::cut(&text, width.saturating_sub(before).max(TEXT_WIDTH_MIN)),
        None => text,
    };
    let line = format!(
        "{}  {at}  {actor}  {}  {text}",
        view.paint.show(Style::Dim, seq),
        view.paint.show(kind, name),
    );
    line.trim_end().to_owned()
}

/// Formats a time as `2026-11-28 14:55:01.123Z`. On a narrow terminal, formats a time of today as `14:55:01` and an earlier
/// time as `11-27 14:55`.
fn moment(at: Timestamp, view: &View) -> String {
    let (text, now) = (at.to_string(), view.now.to_string());
    let part = |range: std::ops::Range<usize>| text.get(range).unwrap_or_default();
    if view.width.is_none_or(|width| width >= WIDE) {
        return format!("{} {}Z", part(0..10), part(11..23));
    }
    match now.get(..10) == Some(part(0..10)) {
        true => format!("{:<11}", part(11..19)),
        false => format!("{} {}", part(5..10), part(11..16)),
    }
}

/// Describes an event in words, with hidden characters escaped.
pub fn what(event: &Event<'_>) -> String {
    let payload: Value = serde_json::from_str(&event.payload).unwrap_or_default();
    let text = match &*event.kind {
        _ if event.foreign && event.payload == "{}" => String::new(),
        _ if event.foreign => event.payload.to_string(),
        "message_sent" => message(event, &payload["message"]),
        "message_suppressed" if payload["reason"] == "unread" => format!(
            "{} (held back: an earlier one is unread)",
            message(event, &payload["message"])
        ),
        "message_suppressed" => format!(
            "{} (cooldown, {}s left)",
            message(event, &payload["message"]),
            payload["remaining_seconds"]
        ),
        "message_duplicate" => format!(
            "{} sent again; the first one counts",
            reference(event, RefKind::Message)
        ),
        "agent_token_added" => format!("{} ({})", word(&payload["agent"]), word(&payload["scope"])),
        "agent_token_revoked" => {
            format!("{} {}", word(&payload["agent"]), word(&payload["token_id"]))
        }
        // Do not show the stored answer, because it may contain a claim token.
        "response_stored" => word(&payload["operation"]).to_string(),
        "message_acked" => reference(event, RefKind::Message),
        "message_ack_duplicate" => format!("{} acked again", reference(event, RefKind::Message)),
        "ack_rejected" => format!(
            "{}: {}",
            reference(event, RefKind::Message),
            word(&payload["reason"])
        ),
        "delivery_required" => format!(
            "{} within {}s, {} retries{}",
            reference(event, RefKind::Message),
            payload["ack_timeout_seconds"],
            payload["max_retries"],
            if payload["requeued"] == true {
                ", once more"
            } else {
                ""
            }
        ),
        "delivery_retry" | "delivery_acked" => format!(
            "{} attempt {}",
            reference(event, RefKind::Message),
            payload["attempt"]
        ),
        "delivery_dead_letter" => format!(
            "{} after {} attempts: {}, {}",
            reference(event, RefKind::Message),
            payload["attempts"],
            word(&payload["reason"]),
            word(&payload["id"])
        ),
        "config_changed" => settings(&payload["changes"]),
        "team_created" | "members_added" => members(&payload),
        "agent_retired" => word(&payload["agent"]).to_string(),
        "log_tail_quarantined" => format!(
            "{} torn bytes of {} at byte {}, moved to quarantine",
            payload["length"],
            word(&payload["segment"]),
            payload["offset"]
        ),
        kind if kind.starts_with("thread_") => thread::event(kind, &payload),
        kind if kind.starts_with("task_") => task(event, payload),
        kind if kind.starts_with("mode_") => flow::mode(kind, &payload),
        kind if kind.starts_with("bootstrap_") => flow::bootstrap(kind, &payload),
        _ => event.payload.to_string(),
    };
    visible(&cut(&text, SHOWN_MAX)).into_owned()
}

/// Describes a message, such as `task_update to lead  T-1  status=done note=…`. Adds the sender if another agent recorded
/// the message.
fn message(event: &Event<'_>, envelope: &Value) -> String {
    let from = envelope["from"].as_str();
    let from = from.filter(|from| *from != event.actor);
    let from = from.map_or_else(String::new, |from| format!(" from {from}"));
    let (kind, to) = (word(&envelope["type"]), word(&envelope["to"]));
    let mut text = format!("{kind}{from} to {to}");
    if let Some(task) = envelope["task_id"].as_str() {
        text.push_str(&format!("  {task}"));
    }
    let said = said(&envelope["payload"]);
    if !said.is_empty() {
        text.push_str(&format!("  {said}"));
    }
    text
}

/// Describes a change of a task, such as `T-1 worker=dev epoch=1`. The token is not shown, because it proves the claim.
fn task(event: &Event<'_>, mut payload: Value) -> String {
    if let Some(fields) = payload.as_object_mut() {
        fields.retain(|name, _| !matches!(name.as_str(), "task_id" | "token"));
    }
    let text = format!("{}  {}", reference(event, RefKind::Task), said(&payload));
    text.trim_end().to_owned()
}

/// Parses a payload and formats it with [`said`].
pub fn said_text(payload: &str) -> String {
    said(&serde_json::from_str(payload).unwrap_or_default())
}

/// Fields that come first, in this order.
const FIRST: [&str; 8] = [
    "subject", "status", "blocked", "progress", "eta", "note", "body", "details",
];

/// Formats the payload of a message, such as `in_progress progress=40% "reproduced it"`. Values that explain themselves have
/// no name.
pub fn said(payload: &Value) -> String {
    let Some(fields) = payload.as_object() else {
        return String::new();
    };
    let known = FIRST.iter().filter_map(|name| fields.get_key_value(*name));
    let others = fields
        .iter()
        .filter(|(name, _)| !FIRST.contains(&name.as_str()));
    let filled = known.chain(others).filter(|(_, value)| !is_empty(value));
    let filled: Vec<(&String, &Value)> = filled.collect();
    let alone = filled.len() == 1;
    let words = filled
        .into_iter()
        .map(|(name, value)| match (name.as_str(), value) {
            ("subject" | "note" | "body", Value::String(text)) if alone => text.clone(),
            ("subject" | "note" | "body", Value::String(text)) => format!("{text:?}"),
            ("status", Value::String(text)) => text.clone(),
            ("blocked", Value::Bool(true)) => "blocked".to_owned(),
            _ => format!("{name}={}", word(value)),
        });
    words.collect::<Vec<String>>().join(" ")
}

fn is_empty(value: &Value) -> bool {
    value.is_null() || value.as_str().is_some_and(str::is_empty)
}

fn members(payload: &Value) -> String {
    let names = payload["members"].as_array().into_iter().flatten();
    let names: Vec<String> = names.map(word).collect();
    let open = payload["open"].as_bool().unwrap_or(false);
    match (names.is_empty(), open) {
        (true, _) => "open to any agent".to_owned(),
        (false, true) => format!("{}, open to more", names.join(", ")),
        (false, false) => names.join(", "),
    }
}

/// Describes changed settings, such as `nudge.idle_seconds=60, views back to its default`.
fn settings(changes: &Value) -> String {
    let changes = changes.as_object().into_iter().flatten();
    let words: Vec<String> = changes
        .map(|(key, value)| match value {
            Value::Null => format!("{key} back to its default"),
            value => format!("{key}={}", word(value)),
        })
        .collect();
    words.join(", ")
}

fn reference(event: &Event<'_>, kind: RefKind) -> String {
    event.refs.get(kind).unwrap_or("-").to_owned()
}

/// Formats a JSON value. A string has no quotes.
pub fn word(value: &Value) -> String {
    match value {
        Value::String(text) if text.contains(' ') => format!("{text:?}"),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Truncates `text` to `most` characters.
pub fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    use super::{cut, said_text};

    #[test]
    fn a_payload_reads_as_words() {
        for (payload, words) in [
            ("{}", ""),
            ("[1]", ""),
            (r#"{"subject":"Fix it","details":""}"#, "Fix it"),
            (
                r#"{"note":"on it","progress":"40%","status":"in_progress"}"#,
                r#"in_progress progress=40% "on it""#,
            ),
            (r#"{"blocked":true,"eta":null}"#, "blocked"),
            (r#"{"files":[1,2],"body":"a b"}"#, r#""a b" files=[1,2]"#),
        ] {
            assert_eq!(said_text(payload), words, "{payload}");
        }
    }

    #[test]
    fn a_long_text_is_cut_between_characters() {
        assert_eq!(cut(&"é".repeat(100), 100), "é".repeat(100));
        assert_eq!(cut(&"é".repeat(101), 100), format!("{}…", "é".repeat(100)));
    }
}
