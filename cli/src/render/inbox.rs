//! Messages: what was sent, what lies in an inbox, what was acknowledged.

use crate::render::event::said_text;
use crate::render::prelude::*;
use teamlog_team::message::ack::{AckAnswer, AckStatus};
use teamlog_team::message::read::ReadAnswer;
use teamlog_team::message::send::{KeptAsReport, SendAnswer, SendStatus};
use teamlog_team::projections::message::{Message, MessageType, Priority};

/// `sent msg_…  task_assign lead -> dev  (event 12)`.
pub fn sent(answer: &SendAnswer, view: &View) -> Vec<String> {
    let message = &answer.message;
    let seq = answer.event.event.seq;
    let (style, word, rest) = match answer.status {
        SendStatus::Sent => {
            let rest = answer.delivery.as_ref().map(|terms| {
                let (seconds, retries) = (terms.ack_timeout_seconds, terms.max_retries);
                format!(": needs an ack within {seconds}s, {retries} retries")
            });
            (Style::Good, "sent", rest.unwrap_or_default())
        }
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
        SendStatus::Acked => (
            Style::Good,
            "acked",
            format!(": attempt {} was answered", answer.attempt.unwrap_or(1)),
        ),
        SendStatus::DeadLetter => {
            let rest = answer.dead_letter.as_ref().map(|dead| {
                let (attempts, id) = (dead.attempts, visible(&dead.id));
                format!(": nobody acked {attempts} attempts, {id}")
            });
            (Style::Bad, "dead letter", rest.unwrap_or_default())
        }
    };
    let head = view.paint.show(style, word);
    let task = message.task_id.as_deref();
    let task = task.map_or_else(String::new, |task| format!("  task {}", visible(task)));
    let line = format!(
        "{head} {}  {}  {}{} -> {}{task}  (event {seq}){rest}",
        visible(&message.id),
        message.kind.name(),
        visible(&message.from),
        by(message.actor.as_deref()),
        visible(&message.to),
    );
    let kept = answer.reported.as_ref().map(kept).unwrap_or_default();
    std::iter::once(line)
        .chain(kept)
        .chain(not_applied(answer))
        .collect()
}

/// `  not applied to a task: message.payload.status must be one of …, but is "parked"`.
fn not_applied(answer: &SendAnswer) -> Vec<String> {
    let told = |field: &String| answer.not_applied.contains_key(field);
    let unapplied = answer.message.unapplied().into_iter();
    let rules = unapplied
        .filter(|one| told(&one.field))
        .map(|one| one.rule.to_string());
    rules
        .map(|rule| format!("  not applied to a task: {}", visible(&rule)))
        .collect()
}

/// That a task stays as it is, and what would move it.
fn kept(kept: &KeptAsReport) -> Vec<String> {
    let (task, status) = (visible(&kept.task_id), &kept.status);
    let held = kept.holder.as_deref().map_or_else(String::new, |holder| {
        format!(" in the hands of {}", visible(holder))
    });
    let said =
        format!("  kept as a report: task {task} moves by claims alone, and stays {status}{held}");
    let next = kept.next.iter();
    let next = next.map(|next| format!("    {}", visible(next)));
    std::iter::once(said).chain(next).collect()
}

/// ` (by cyd)` behind a sender in whose name somebody else acted.
pub fn by(actor: Option<&str>) -> String {
    actor.map_or_else(String::new, |actor| format!(" (by {})", visible(actor)))
}

/// An inbox page, oldest first.
pub fn page(answer: &ReadAnswer, view: &View) -> Vec<String> {
    let count = time::plural(answer.count as u64, "message");
    let rest = format!(" in {}: {count}", answer.team);
    let mut shown = vec![heading(view, &answer.agent, &rest)];
    let (wakeups, mail): (Vec<&Message>, Vec<&Message>) = answer
        .messages
        .iter()
        .partition(|message| message.kind == MessageType::AgentWakeupRequired);
    let rows = |messages: &[&Message]| -> Vec<String> {
        let rows = messages.iter().map(|message| row(message, view));
        lines(rows, 2, view)
    };
    push_below(&mut shown, rows(&mail));
    if !wakeups.is_empty() {
        shown.extend([String::new(), "wake-ups".to_owned()]);
        shown.extend(rows(&wakeups));
    }
    shown.extend(more_below("older ones", &answer.next_cursor));
    shown
}

fn row(message: &Message, view: &View) -> Vec<Cell> {
    let urgent = matches!(message.priority, Priority::High | Priority::Critical);
    let priority = if urgent { message.priority.name() } else { "" };
    vec![
        plain(&message.id),
        styled(Style::Dim, view.ago(message.created_at)),
        plain(format!(
            "from {}{}",
            message.from,
            by(message.actor.as_deref())
        )),
        plain(message.kind.name()),
        plain(message.task_id.as_deref().unwrap_or("")),
        styled(Style::Warn, priority),
        free_text(Style::Plain, said_text(message.payload.as_str())),
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
