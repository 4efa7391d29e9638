//! Sentences of messages, deliveries, dispatch requests and threads.

use super::entry::{Entry, text_of, with, words};
use serde_json::Value;

pub(super) fn sentence(entry: &Entry<'_>) -> Option<String> {
    let (actor, message) = (entry.actor(), entry.message());
    let recipient = entry.agent("agent");
    Some(match &*entry.event.kind {
        "message_sent" => sent(entry),
        "message_duplicate" => format!("{actor} sent {message} again; the first one counts"),
        "message_suppressed" => held_back(entry),
        "message_acked" => format!("{recipient} acknowledged {message}"),
        "message_ack_duplicate" => format!("{recipient} acknowledged {message} again"),
        "ack_rejected" => ack_rejected(entry),
        "message_notified" => format!("{recipient} was notified of {message}"),
        "message_delivered" => format!("{message} was delivered to {recipient}"),
        kind if kind.starts_with("delivery_") => return delivery(entry),
        kind if kind.starts_with("dispatch_") => return dispatch(entry),
        kind if kind.starts_with("thread_") => return thread(entry),
        _ => return None,
    })
}

/// Describes a message by its type. Shows the actor if another agent recorded the message.
fn sent(entry: &Entry<'_>) -> String {
    let envelope = &entry.payload["message"];
    let to = text_of(envelope, "to").unwrap_or("?");
    let from = match text_of(envelope, "from") {
        Some(from) if from != entry.actor() => format!("{from} (by {})", entry.actor()),
        _ => entry.actor().to_owned(),
    };
    let task = text_of(envelope, "task_id");
    let about = task.map_or_else(String::new, |task| format!(" about task {task}"));
    let task = task.map_or_else(|| "a task".to_owned(), |task| format!("task {task}"));
    let text = match text_of(envelope, "type").unwrap_or("message") {
        "message" => format!("{from} wrote to {to}{about}"),
        "task_assign" => format!("{from} assigned {task} to {to}"),
        "task_update" => format!("{from} reported to {to} on {task}"),
        "idle_notification" => format!("{from} told {to} that it is idle{about}"),
        "handoff" => format!("{from} handed work over to {to}{about}"),
        "decision_required" => format!("{from} asked {to} for a decision{about}"),
        "shutdown_request" => format!("{from} asked {to} to stop{about}"),
        "shutdown_approved" => format!("{from} told {to} that it agrees to stop{about}"),
        "agent_wakeup_required" => format!("{from} asked {to} to wake an agent{about}"),
        "agent_shutdown_required" => format!("{from} asked {to} to stop an agent{about}"),
        "agent_started" => format!("{from} told {to} that an agent started{about}"),
        "agent_stopped" => format!("{from} told {to} that an agent stopped{about}"),
        "agent_error" => format!("{from} told {to} that an agent failed{about}"),
        "agent_timeout" => format!("{from} told {to} that an agent did not answer in time{about}"),
        other => format!("{from} sent {to} a message of type {other}{about}"),
    };
    with(text, &words(&envelope["payload"]).replacen("body ", "", 1))
}

fn held_back(entry: &Entry<'_>) -> String {
    let envelope = &entry.payload["message"];
    let from = text_of(envelope, "from").unwrap_or(entry.actor());
    let to = text_of(envelope, "to").unwrap_or("?");
    let why = match entry.text("reason") {
        Some("unread") => "an earlier one is unread".to_owned(),
        _ => match entry.payload["remaining_seconds"].as_f64() {
            Some(seconds) => format!("cooldown, {seconds}s left"),
            None => "cooldown".to_owned(),
        },
    };
    format!("a message of {from} to {to} was held back: {why}")
}

fn ack_rejected(entry: &Entry<'_>) -> String {
    let why = match (entry.text("reason"), entry.text("expected")) {
        (Some("not_found"), _) => "no such message".to_owned(),
        (_, Some(recipient)) => format!("its recipient is {recipient}"),
        _ => "it has another recipient".to_owned(),
    };
    let (agent, message) = (entry.agent("agent"), entry.message());
    format!("{agent} could not acknowledge {message}: {why}")
}

fn delivery(entry: &Entry<'_>) -> Option<String> {
    let message = entry.message();
    Some(match &*entry.event.kind {
        "delivery_required" => {
            let retries = entry.payload["max_retries"].as_u64().unwrap_or_default();
            let retries = match retries {
                0 => "without a retry".to_owned(),
                1 => "with 1 retry".to_owned(),
                count => format!("with {count} retries"),
            };
            let again = if entry.is("requeued") {
                " is delivered again and"
            } else {
                ""
            };
            let seconds = entry.word("ack_timeout_seconds");
            format!("{message}{again} must be acknowledged within {seconds}s, {retries}")
        }
        "delivery_retry" => format!(
            "{message} was sent again, attempt {}",
            entry.word("attempt")
        ),
        "delivery_acked" => format!(
            "{message} was acknowledged at attempt {}",
            entry.word("attempt")
        ),
        "delivery_dead_letter" => {
            let why = match entry.text("reason") {
                None | Some("ack_timeout") => "no acknowledgement",
                Some(reason) => reason,
            };
            let attempts = match entry.payload["attempts"].as_u64() {
                Some(1) => "1 attempt".to_owned(),
                _ => format!("{} attempts", entry.word("attempts")),
            };
            format!("{message} became a dead letter after {attempts}: {why}")
        }
        _ => return None,
    })
}

fn dispatch(entry: &Entry<'_>) -> Option<String> {
    let request = format!("the request {}", entry.word("request_id"));
    Some(match &*entry.event.kind {
        "dispatch_requested" => with(
            format!(
                "{} asked to notify {}",
                entry.actor(),
                entry.word("to_worker")
            ),
            entry.text("trigger_message").unwrap_or_default(),
        ),
        "dispatch_notified" => format!("{request} reached its worker"),
        "dispatch_delivered" => format!("{request} was delivered"),
        "dispatch_failed" => with(
            format!("{request} failed"),
            entry.text("reason").unwrap_or_default(),
        ),
        _ => return None,
    })
}

fn thread(entry: &Entry<'_>) -> Option<String> {
    let (actor, thread) = (entry.actor(), entry.thread());
    let named = |name: &str, before: &str| match entry.list(name).join(", ") {
        none if none.is_empty() => String::new(),
        names => format!(" {before} {names}"),
    };
    Some(match &*entry.event.kind {
        "thread_started" => with(
            format!("{actor} started {thread}{}", named("participants", "with")),
            entry.text("title").unwrap_or_default(),
        ),
        "thread_message_posted" => with(
            format!(
                "{} posted to {thread}{}",
                entry.text("from").unwrap_or(actor),
                named("to", "for")
            ),
            text(&entry.payload["body"]),
        ),
        "thread_linked" => format!("{actor} linked {thread} to {}", entry.task()),
        "thread_participants_added" => {
            format!(
                "{actor} added agents to {thread}{}",
                named("participants", "-")
            )
        }
        _ => return None,
    })
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
