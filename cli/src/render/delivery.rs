//! Renders deliveries: the result of a tick, open deliveries and dead letters.

use crate::render::event::said_text;
use crate::render::prelude::*;
use teamlog_team::lifecycle::tick::TickAnswer;
use teamlog_team::message::dead_letter::{
    DeadLetterListAnswer, DeadLetterShown, DeadLetterStatus, RequeueAnswer,
};
use teamlog_team::message::deliveries::{DeliveryListAnswer, DeliveryShown};
use teamlog_team::message::nudge::{ExecStatus, Executed, NudgeAnswer, Nudged, Skipped};
use teamlog_team::projections::message::MessageType;

/// Formats a line such as `demo: 2 retried, 1 dead letter; next due in 40s`, followed by changed tasks.
pub fn ticked(answer: &TickAnswer, view: &View) -> Vec<String> {
    let delivery = &answer.delivery;
    let next = match answer.next_due_at.as_deref().map(parsed) {
        None => "nothing waits".to_owned(),
        Some(at) => {
            let left = time::span(at.micros() - view.now.micros());
            format!("next due in {left}")
        }
    };
    let mut parts = vec![
        format!("{} retried", delivery.retried),
        time::plural(delivery.dead_lettered, "dead letter"),
    ];
    for (count, noun, became) in [
        (answer.leases.expired, "lease", "expired"),
        (answer.tasks.unblocked, "task", "unblocked"),
    ] {
        if count > 0 {
            parts.push(format!("{} {became}", time::plural(count, noun)));
        }
    }
    let timed_out = answer.bootstrap.handshakes + answer.bootstrap.deliveries;
    if timed_out > 0 {
        parts.push(format!("{timed_out} timed out in bootstrap runs"));
    }
    let team = visible(&answer.team);
    vec![format!("{team}: {}; {next}", parts.join(", "))]
}

/// Renders messages that wait for an ack. The message that is due next comes first.
pub fn open(answer: &DeliveryListAnswer, view: &View) -> Vec<String> {
    let count = time::plural(answer.count as u64, "message");
    let rest = format!(": {count} waiting for an ack");
    let mut shown = vec![heading(view, &answer.team, &rest)];
    let waiting = answer.deliveries.iter().map(|one| waiting(one, view));
    push_below(&mut shown, lines(waiting, 2, view));
    shown.extend(more_below("more", &answer.next_cursor));
    shown
}

fn waiting(delivery: &DeliveryShown, view: &View) -> Vec<Cell> {
    let left = delivery.due_at.micros() - view.now.micros();
    let due = match left {
        0.. => styled(Style::Plain, format!("due in {}", time::span(left))),
        _ => styled(Style::Bad, format!("due for {}", time::span(-left))),
    };
    vec![
        plain(&delivery.message_id),
        due,
        plain(format!(
            "attempt {} of {}",
            delivery.attempt, delivery.attempts_max
        )),
        plain(format!("to {}", delivery.to)),
        plain(delivery.from.as_deref().unwrap_or("unknown")),
        plain(delivery.kind.map_or("unknown", MessageType::name)),
        plain(delivery.task_id.as_deref().unwrap_or("")),
        styled(Style::Dim, view.ago(delivery.sent_at)),
    ]
}

/// Renders dead letters, oldest first.
pub fn dead(answer: &DeadLetterListAnswer, view: &View) -> Vec<String> {
    let count = time::plural(answer.count as u64, "dead letter");
    let mut shown = vec![heading(view, &answer.team, &format!(": {count}"))];
    let letters = answer.dead_letters.iter().map(|letter| row(letter, view));
    push_below(&mut shown, lines(letters, 2, view));
    shown.extend(more_below("older ones", &answer.next_cursor));
    shown
}

fn row(letter: &DeadLetterShown, view: &View) -> Vec<Cell> {
    let (style, status) = match letter.status {
        DeadLetterStatus::Dead => (Style::Bad, "dead"),
        DeadLetterStatus::Requeued => (Style::Warn, "requeued"),
        DeadLetterStatus::Acked => (Style::Good, "acked"),
    };
    let payload = letter.message.as_ref().and_then(|message| {
        let message: serde_json::Value = serde_json::from_str(message.get()).ok()?;
        Some(said_text(&message["payload"].to_string()))
    });
    vec![
        plain(&letter.id),
        styled(style, status),
        styled(Style::Dim, view.ago_of(&letter.created_at)),
        plain(format!("to {}", letter.recipient())),
        plain(&letter.message_id),
        plain(time::plural(letter.attempts.into(), "attempt")),
        free_text(Style::Plain, payload.unwrap_or_default()),
    ]
}

/// Formats a line such as `requeued dlq_…  msg_…: needs an ack within 60s, 2 retries`.
pub fn requeued(answer: &RequeueAnswer, view: &View) -> Vec<String> {
    vec![format!(
        "{} {}  {}: needs an ack within {}s, {} retries",
        view.paint.show(Style::Good, "requeued"),
        visible(&answer.id),
        visible(&answer.message_id),
        answer.delivery.ack_timeout_seconds,
        answer.delivery.max_retries,
    )]
}

/// Renders the nudged agents and the number of agents that were not nudged.
pub fn nudged(answer: &NudgeAnswer, view: &View) -> Vec<String> {
    let would = if answer.dry_run {
        "would nudge"
    } else {
        "nudged"
    };
    let Skipped { active, cooling } = answer.skipped;
    let agents = time::plural(answer.count as u64, "agent");
    let mut head = format!(
        "{}: {would} {agents}; with something unread but active: {active}, nudged a moment ago: {cooling}",
        visible(&answer.team)
    );
    if !answer.reminded.is_empty() {
        let count = answer.reminded.len();
        head.push_str(&format!(", with an unread wake-up already: {count}"));
    }
    let mut shown = vec![head];
    let rows = answer.all().map(|nudged| {
        let since = match &nudged.idle_since {
            Some(at) => format!("last active {}", view.ago_of(at)),
            None => "never active".to_owned(),
        };
        vec![
            styled(Style::Bold, &nudged.agent),
            plain(unseen(nudged)),
            styled(Style::Dim, since),
            plain(nudged.message_id.as_deref().unwrap_or("")),
            ran(nudged.exec.as_ref()),
        ]
    });
    shown.extend(lines(rows, 2, view));
    shown
}

/// Formats `2 unread, 1 post, 3 news`. A zero is left out, except for unread messages.
fn unseen(nudged: &Nudged) -> String {
    let mut text = format!("{} unread", nudged.unread);
    if nudged.posts > 0 {
        text.push_str(&format!(", {}", time::plural(nudged.posts, "post")));
    }
    if nudged.news > 0 {
        text.push_str(&format!(", {} news", nudged.news));
    }
    text
}

fn ran(exec: Option<&Executed>) -> Cell {
    let Some(exec) = exec else {
        return Cell::default();
    };
    match exec.status {
        ExecStatus::Ok => styled(Style::Good, "ran"),
        ExecStatus::TimedOut => styled(Style::Bad, "killed: it took too long"),
        ExecStatus::Failed => styled(
            Style::Bad,
            match (&exec.error, exec.exit_code) {
                (Some(error), _) => format!("failed: {error}"),
                (None, Some(code)) => format!("failed: exit {code}"),
                (None, None) => "failed".to_owned(),
            },
        ),
    }
}

/// Parses a time that teamlog formatted.
fn parsed(text: &str) -> Timestamp {
    Timestamp::from_canonical(text.as_bytes()).unwrap_or_default()
}
