//! Renders the changes between two points: tasks with their fields, inboxes, members, modes and runs.

use crate::render::event::cut;
use crate::render::mode::place;
use crate::render::prelude::*;
use serde_json::Value;
use teamlog_team::log::diff::{Change, DiffAnswer, ModeTurn, TaskChange};

/// Maximum number of characters of a value in a line.
const SHOWN_MAX: usize = 60;

pub fn changes(answer: &DiffAnswer, view: &View) -> Vec<String> {
    let mut shown = vec![heading(
        view,
        &answer.team,
        &format!(
            ": {} from event {} to {}; {} created, {} changed",
            time::plural(answer.events, "event"),
            answer.from.seq,
            answer.to.seq,
            time::plural(answer.tasks_created, "task"),
            time::count(answer.tasks_changed),
        ),
    )];
    if !answer.members_added.is_empty() {
        let members = visible(&answer.members_added.join(", ")).into_owned();
        shown.push(format!("new members: {members}"));
    }
    let tasks = answer.tasks.iter().flat_map(|task| change(task, view));
    push_below(&mut shown, tasks.collect());
    shown.extend(more("more", &answer.next_cursor));
    push_below(&mut shown, inboxes(answer, view));
    push_below(&mut shown, modes(answer, view));
    push_below(&mut shown, runs(answer, view));
    shown
}

fn change(task: &TaskChange, view: &View) -> Vec<String> {
    let (style, sign) = match task.change {
        Change::Created => (Style::Good, "+"),
        Change::Changed => (Style::Warn, "~"),
    };
    let mut shown = vec![format!(
        "{} {}",
        view.paint.show(style, sign),
        view.paint.show(Style::Bold, visible(&task.task_id))
    )];
    let rows = task.fields.iter().map(|(name, field)| {
        let text = match task.change {
            Change::Created => value(&field.to),
            Change::Changed => format!("{} -> {}", value(&field.from), value(&field.to)),
        };
        vec![styled(Style::Dim, name), plain(text)]
    });
    shown.extend(lines(rows, 4, view));
    shown
}

fn inboxes(answer: &DiffAnswer, view: &View) -> Vec<String> {
    let rows = answer.inboxes.iter().map(|inbox| {
        vec![
            plain(&inbox.agent),
            number(time::count(inbox.received)),
            plain("received"),
            number(time::count(inbox.acked)),
            plain("acked"),
            number(time::count(inbox.unread)),
            plain("unread now"),
        ]
    });
    lines(rows, 2, view)
}

/// Formats lines such as `+ forge  starting` and `- blueprint  planning -> completed  in session s-1`.
fn modes(answer: &DiffAnswer, view: &View) -> Vec<String> {
    let rows = answer.modes.iter().map(|mode| {
        let (style, sign) = match mode.change {
            ModeTurn::Started => (Style::Good, "+"),
            ModeTurn::Ended => (Style::Dim, "-"),
            ModeTurn::Changed => (Style::Warn, "~"),
        };
        let to = mode.to.as_deref().unwrap_or("gone");
        let phases = match &mode.from {
            None => to.to_owned(),
            Some(from) => format!("{from} -> {to}"),
        };
        vec![
            styled(style, sign),
            styled(Style::Bold, mode.mode.name()),
            plain(phases),
            plain(place(&mode.session_id)),
        ]
    });
    lines(rows, 0, view)
}

/// Formats lines such as `run 1  INIT -> TEAM_READY  1 violation`.
fn runs(answer: &DiffAnswer, view: &View) -> Vec<String> {
    let rows = answer.runs.iter().map(|run| {
        let moved = match run.from {
            None => run.to.name().to_owned(),
            Some(from) if from == run.to => run.to.name().to_owned(),
            Some(from) => format!("{} -> {}", from.name(), run.to.name()),
        };
        let breaches = match run.breaches {
            0 => String::new(),
            breaches => time::plural(breaches, "violation"),
        };
        vec![
            styled(Style::Bold, format!("run {}", run.run)),
            plain(moved),
            styled(Style::Warn, breaches),
        ]
    });
    lines(rows, 0, view)
}

/// Formats a value as a short text.
fn value(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::String(text) => cut(text, SHOWN_MAX),
        other => cut(&other.to_string(), SHOWN_MAX),
    }
}
