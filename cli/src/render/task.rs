//! Tasks: one a line, or one in full with its history.

use crate::render::escape::visible;
use crate::render::style::Style;
use crate::render::table::{Cell, lines, plain, styled};
use crate::render::{View, heading, time, timeline};
use serde_json::Value;
use teamlog_team::command::task_show::TaskShowAnswer;
use teamlog_team::command::tasks::TasksAnswer;

/// A page of tasks.
pub fn page(answer: &TasksAnswer, view: &View) -> Vec<String> {
    let rows: Vec<_> = answer.tasks.iter().map(|task| row(task, view)).collect();
    let mut shown = lines(&rows, 0, view.paint);
    if shown.is_empty() {
        shown.push("no tasks".to_owned());
    }
    if let Some(cursor) = &answer.next_cursor {
        shown.push(String::new());
        shown.push(format!(
            "{} shown; more: --cursor {}",
            time::count(answer.count as u64),
            visible(cursor)
        ));
    }
    shown
}

/// `id  status  owner  when  subject`.
pub fn row(task: &Value, view: &View) -> Vec<Cell> {
    let text = |field: &str| task[field].as_str().unwrap_or("");
    vec![
        styled(Style::Bold, text("task_id")),
        styled(status_style(text("status")), text("status")),
        plain(text("owner")),
        styled(Style::Dim, view.ago(text("updated_at"))),
        plain(text("subject")),
    ]
}

/// One task in full.
pub fn card(answer: &TaskShowAnswer, view: &View) -> Vec<String> {
    let task = &answer.task;
    let id = task["task_id"].as_str().unwrap_or("-");
    let subject = task["subject"].as_str().unwrap_or("");
    let mut shown = vec![heading(view, id, &format!("  {subject}"))];
    let rows: Vec<_> = task
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(name, value)| !is_hidden(name) && !is_nothing(value))
        .map(|(name, value)| vec![styled(Style::Dim, name.as_str()), field(name, value, view)])
        .collect();
    shown.extend(lines(&rows, 2, view.paint));
    if let Some(history) = &answer.history {
        shown.push(String::new());
        shown.extend(timeline::lines(history, view));
    }
    shown
}

/// What the heading says, or what only programs need.
fn is_hidden(name: &str) -> bool {
    matches!(
        name,
        "task_id" | "subject" | "snapshot_conflict_policy" | "schema_version"
    )
}

fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        _ => false,
    }
}

fn field(name: &str, value: &Value, view: &View) -> Cell {
    match value {
        Value::String(text) if name == "status" => styled(status_style(text), text.as_str()),
        Value::String(text) if name.ends_with("_at") => {
            plain(format!("{text}  ({})", view.ago(text)))
        }
        Value::String(text) => plain(text.as_str()),
        other => plain(other.to_string()),
    }
}

fn status_style(status: &str) -> Style {
    match status {
        "completed" => Style::Good,
        "blocked" => Style::Warn,
        "failed" => Style::Bad,
        _ => Style::Plain,
    }
}
