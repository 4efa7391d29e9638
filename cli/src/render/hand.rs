//! Work at hand: what can be taken up, what has arrived.

use crate::render::escape::visible;
use crate::render::event;
use crate::render::style::Style;
use crate::render::table::{Cell, lines, plain, styled};
use crate::render::{View, time};
use teamlog_team::command::ready::ReadyAnswer;
use teamlog_team::command::wait::WaitAnswer;
use teamlog_team::projections::{Priority, Task};

/// `id  priority  owner  age  subject`, the most urgent first.
pub fn ready(answer: &ReadyAnswer, view: &View) -> Vec<String> {
    let rows: Vec<_> = answer.tasks.iter().map(|task| row(task, view)).collect();
    let mut shown = lines(&rows, 0, view.paint);
    if shown.is_empty() {
        shown.push("nothing is ready".to_owned());
    }
    if let Some(cursor) = &answer.next_cursor {
        shown.push(String::new());
        shown.push(format!(
            "{} of {} shown; more: --cursor {}",
            time::count(answer.count as u64),
            time::count(answer.total),
            visible(cursor)
        ));
    }
    shown
}

fn row(task: &Task, view: &View) -> Vec<Cell> {
    let style = match task.priority {
        Priority::High | Priority::Critical => Style::Warn,
        _ => Style::Plain,
    };
    vec![
        styled(Style::Bold, &task.task_id),
        styled(style, task.priority.name()),
        plain(task.owner.as_deref().unwrap_or("-")),
        styled(Style::Dim, view.ago(task.created_at)),
        plain(task.subject.as_deref().unwrap_or("")),
    ]
}

/// What arrived, one event a line.
pub fn arrived(answer: &WaitAnswer, view: &View) -> Vec<String> {
    if answer.events.is_empty() {
        return vec![format!(
            "nothing arrived for {} up to event {}",
            visible(&answer.agent),
            answer.last_seq
        )];
    }
    let events = answer.events.iter();
    events
        .map(|recorded| event::line(&recorded.event, view.paint))
        .collect()
}
