//! Messages: what was sent, what lies in an inbox, what was acknowledged.

use crate::render::escape::visible;
use crate::render::event::said;
use crate::render::style::Style;
use crate::render::table::{lines, plain, styled};
use crate::render::{View, heading, time};
use serde_json::Value;
use teamlog_team::command::ack::{AckAnswer, AckStatus};
use teamlog_team::command::read::ReadAnswer;
use teamlog_team::command::send::{SendAnswer, SendStatus};

/// `sent msg_…  task_assign lead -> dev  (event 12)`.
pub fn sent(answer: &SendAnswer, view: &View) -> Vec<String> {
    let text = |field: &str| visible(answer.message[field].as_str().unwrap_or("-")).into_owned();
    let seq = answer.event.event.seq;
    let (style, word, rest) = match answer.status {
        SendStatus::Sent => (Style::Good, "sent", String::new()),
        SendStatus::Duplicate => (
            Style::Warn,
            "duplicate",
            ": a message of that id is stored already; nothing changed".to_owned(),
        ),
        SendStatus::Suppressed => (
            Style::Warn,
            "suppressed",
            format!(
                ": the same went out within the cooldown, {}s remain",
                answer.cooldown_remaining_seconds.unwrap_or(0)
            ),
        ),
    };
    let head = view.paint.show(style, word);
    let task = match answer.message["task_id"].as_str() {
        Some(task) => format!("  task {}", visible(task)),
        None => String::new(),
    };
    vec![format!(
        "{head} {}  {}  {} -> {}{task}  (event {seq}){rest}",
        text("id"),
        text("type"),
        text("from"),
        text("to"),
    )]
}

/// An inbox page, oldest first.
pub fn page(answer: &ReadAnswer, view: &View) -> Vec<String> {
    let count = time::plural(answer.count as u64, "message");
    let mut shown = vec![heading(
        view,
        &answer.agent,
        &format!(" in {}: {count}", answer.team),
    )];
    if !answer.messages.is_empty() {
        shown.push(String::new());
    }
    let rows: Vec<_> = answer
        .messages
        .iter()
        .map(|message| row(message, view))
        .collect();
    shown.extend(lines(&rows, 2, view.paint));
    if let Some(cursor) = &answer.next_cursor {
        shown.push(String::new());
        shown.push(format!("older ones: --cursor {}", visible(cursor)));
    }
    shown
}

fn row(message: &Value, view: &View) -> Vec<crate::render::table::Cell> {
    let text = |field: &str| message[field].as_str().unwrap_or("-");
    let urgent = matches!(text("priority"), "high" | "critical");
    vec![
        plain(text("id")),
        styled(Style::Dim, view.ago(text("created_at"))),
        plain(format!("from {}", text("from"))),
        plain(text("type")),
        plain(message["task_id"].as_str().unwrap_or("")),
        styled(Style::Warn, if urgent { text("priority") } else { "" }),
        plain(said(&message["payload"])),
    ]
}

/// How an ack ended, where it did not fail.
pub fn acked(answer: &AckAnswer, view: &View) -> Vec<String> {
    let word = match answer.status {
        AckStatus::Acked => view.paint.show(Style::Good, "acked").to_string(),
        _ => "acked already".to_owned(),
    };
    vec![format!(
        "{word} {} by {}",
        visible(&answer.message_id),
        visible(&answer.agent)
    )]
}
