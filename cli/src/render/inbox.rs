//! Renders messages: sent messages, an inbox, and acks.

use crate::render::doubts;
use crate::render::escape::visible_lines;
use crate::render::event::said_text;
use crate::render::prelude::*;
use teamlog_team::message::ack::{AckAnswer, AckStatus};
use teamlog_team::message::effect::Applied;
use teamlog_team::message::notices::Notice;
use teamlog_team::message::prime::Few;
use teamlog_team::message::read::ReadAnswer;
use teamlog_team::message::send::{KeptAsReport, SendAnswer, SendStatus};
use teamlog_team::projections::message::{Message, MessageType, NotApplied, Priority};

/// Formats a line such as `sent msg_…  task_assign lead -> dev  (event 12)`.
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
            match answer.reason.as_deref() {
                Some(_) => {
                    ": a message of that id is stored already; nothing changed, and no ack is \
                    required now that was not before"
                        .to_owned()
                }
                None => ": a message of that id is stored already; nothing changed".to_owned(),
            },
        ),
        SendStatus::Suppressed => (
            Style::Warn,
            "suppressed",
            format!(
                ": the same message was sent within the cooldown, {}s remain",
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
                let attempts = time::plural(attempts.into(), "attempt");
                format!(": nobody acked {attempts}, {id}")
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
    let next = answer.reported.iter().flat_map(|kept| &kept.next);
    let next = next.map(|next| format!("    {}", visible(next)));
    unapplied(answer)
        .into_iter()
        .map(|why| view.paint.show(Style::Warn, &why).to_string())
        .chain([line])
        .chain(next)
        .chain(doubt_notes(answer))
        .collect()
}

/// Formats the answer to a report that asks for no status. A report on a claimed task is a comment, so nothing is missing.
pub fn reported(answer: &SendAnswer, view: &View) -> Vec<String> {
    let without_claim = SendAnswer {
        reported: None,
        ..answer.clone()
    };
    sent(&without_claim, view)
}

/// Returns lines that begin with `NOT APPLIED`. They name the change that the message did not make, and the reason.
fn unapplied(answer: &SendAnswer) -> Vec<String> {
    let task = visible(answer.message.task_id.as_deref().unwrap_or_default());
    if answer.applied == Some(Applied::Superseded) {
        return vec![format!(
            "NOT APPLIED: task {task} was already changed by a newer message, and stays as it is"
        )];
    }
    let told = |field: &String| answer.not_applied.contains_key(field);
    let rules = answer.message.unapplied().into_iter();
    let rules = rules.filter(|one| told(&one.field));
    let rules = rules.map(|one| format!("NOT APPLIED: {}", visible(&one.rule.to_string())));
    let cyclic = answer.not_applied.values();
    let cyclic = cyclic.filter(|reason| **reason == NotApplied::DependencyCycle);
    let cyclic = cyclic.map(|_| {
        format!(
            "NOT APPLIED: dependencies of task {task} that would form a cycle; the rest was applied"
        )
    });
    let withheld = answer.not_applied.values();
    let withheld = withheld.filter_map(|reason| match reason {
        NotApplied::ApprovalRequired => Some("it is approved"),
        NotApplied::OpenParts => Some("its parts are completed"),
        _ => None,
    });
    let withheld = withheld.map(|condition| {
        format!(
            "NOT APPLIED: task {task} is not completed before {condition}; the rest was applied"
        )
    });
    let kept = answer.reported.iter().map(kept);
    kept.chain(rules).chain(cyclic).chain(withheld).collect()
}

/// Formats `NOT APPLIED: task 2 is claimed by qa and stays in_progress; the update is recorded as a comment`.
fn kept(kept: &KeptAsReport) -> String {
    let (task, status) = (visible(&kept.task_id), &kept.status);
    let claimed = match kept.holder.as_deref() {
        Some(holder) => format!("is claimed by {}", visible(holder)),
        None => "is changed by claims only".to_owned(),
    };
    format!("NOT APPLIED: task {task} {claimed} and stays {status}; recorded as a comment")
}

/// Returns notes about names in the message that are probably typos.
fn doubt_notes(answer: &SendAnswer) -> Vec<String> {
    let doubts = &answer.doubts;
    let task = visible(answer.message.task_id.as_deref().unwrap_or_default());
    let mut notes = Vec::new();
    if doubts.created {
        let meant = doubts.did_you_mean.as_deref().map(visible);
        let meant = meant.map(|meant| format!("; did you mean {meant}?"));
        notes.push(format!(
            "  task {task} did not exist and was created{}",
            meant.unwrap_or_default()
        ));
    }
    let message = &answer.message;
    let id = message.task_id.as_deref().unwrap_or_default();
    notes.extend(doubts::unknown_deps(&doubts.unknown_deps, id));
    let agents = doubts::of_message(&doubts.agents, &message.from, &message.to);
    notes.extend(agents);
    notes
}

/// Formats ` (by cyd)`, which follows the sender if another agent recorded the message.
pub fn by(actor: Option<&str>) -> String {
    actor.map_or_else(String::new, |actor| format!(" (by {})", visible(actor)))
}

/// Renders a page of an inbox, oldest message first.
pub fn page(answer: &ReadAnswer, view: &View) -> Vec<String> {
    let count = time::plural(answer.count as u64, "message");
    let rest = format!(" in {}: {count}", answer.team);
    let mut shown = vec![heading(view, &answer.agent, &rest)];
    let (wakeups, mail): (Vec<&Message>, Vec<&Message>) = answer
        .messages
        .iter()
        .partition(|message| message.kind == MessageType::AgentWakeupRequired);
    push_below(&mut shown, messages(&mail, view));
    if !wakeups.is_empty() {
        shown.extend([String::new(), "wake-ups".to_owned()]);
        shown.extend(messages(&wakeups, view));
    }
    if view.width.is_some() && shown.iter().any(|line| line.contains('…')) {
        shown.push("  texts are cut; whole texts: --full".to_owned());
    }
    shown.extend(more_below("older ones", &answer.next_cursor));
    notices(
        &mut shown,
        "unread posts, oldest first",
        &answer.posts,
        view,
    );
    notices(&mut shown, "news of own tasks", &answer.news, view);
    if let Some(last) = answer.posts.items.last() {
        let id = match view.width.is_some_and(|width| width < NARROW) {
            true => "the last one",
            false => &*last.id,
        };
        shown.push(format!("  an ack of {id} covers the posts above it"));
    }
    shown
}

/// Renders messages, one row each. If whole texts are wanted, the text is below the row.
fn messages(messages: &[&Message], view: &View) -> Vec<String> {
    let rows = messages.iter().map(|message| row(message, view));
    let rows = lines(rows, 2, view);
    if !view.whole {
        return rows;
    }
    let with_text = rows.into_iter().zip(messages).flat_map(|(row, message)| {
        let text = said_text(message.payload.as_str());
        let text = visible_lines(&text);
        let text: Vec<String> = text
            .lines()
            .flat_map(|line| wrap::lines(line, 4, view))
            .collect();
        [vec![row], text].concat()
    });
    with_text.collect()
}

fn notices(shown: &mut Vec<String>, name: &str, some: &Few<Notice>, view: &View) {
    if some.is_empty() {
        return;
    }
    let few = some.items.len() as u64;
    shown.push(String::new());
    shown.push(match few == some.total {
        true => name.to_owned(),
        false => format!("{name} ({few} of {})", time::count(some.total)),
    });
    let rows = some.items.iter().map(|notice| {
        vec![
            on_wide(plain(&notice.id), view),
            styled(Style::Dim, view.ago_of(&notice.created_at)),
            plain(format!("from {}", notice.from)),
            plain(notice.thread_id.as_deref().unwrap_or("")),
            plain(notice.task_id.as_deref().unwrap_or("")),
            free_text(Style::Plain, &*notice.text),
        ]
    });
    shown.extend(lines(rows, 2, view));
}

/// Width below which a terminal is too narrow for ids and kinds of messages.
const NARROW: usize = 60;

/// Lets a narrow terminal leave out a column.
fn on_wide(cell: Cell, view: &View) -> Cell {
    match view.width.is_some_and(|width| width < NARROW) {
        true => cell.optional(),
        false => cell,
    }
}

fn row(message: &Message, view: &View) -> Vec<Cell> {
    let urgent = matches!(message.priority, Priority::High | Priority::Critical);
    let priority = if urgent { message.priority.name() } else { "" };
    let text = said_text(message.payload.as_str());
    let text = match view.whole {
        true => "".into(),
        false => shortened(&text, view),
    };
    vec![
        on_wide(plain(&message.id), view),
        styled(Style::Dim, view.ago(message.created_at)),
        plain(format!(
            "from {}{}",
            message.from,
            by(message.actor.as_deref())
        )),
        on_wide(plain(message.kind.name()), view),
        plain(message.task_id.as_deref().unwrap_or("")),
        styled(Style::Warn, priority),
        free_text(Style::Plain, text),
    ]
}

/// Renders the result of an ack. An error is reported elsewhere.
pub fn acked(answer: &AckAnswer, view: &View) -> Vec<String> {
    let word = match answer.status {
        AckStatus::Acked => view.paint.show(Style::Good, "acked").to_string(),
        _ => "acked already".to_owned(),
    };
    let covered = answer.posts_read.filter(|posts| *posts > 1);
    let covered = covered.map(|posts| {
        let earlier = time::plural(posts - 1, "earlier post");
        format!(", and {earlier}")
    });
    vec![format!(
        "{word} {} by {}{}",
        visible(&answer.message_id),
        visible(&answer.agent),
        covered.unwrap_or_default()
    )]
}
