//! Renders scripted projections: a table with a column per member of the states.

use crate::render::prelude::*;
use serde_json::Value;
use teamlog_team::scripted::ProjectionFailure;
use teamlog_team::scripted::check::{ProjectionTestAnswer, ProjectionTestStatus};
use teamlog_team::scripted::declare::{
    DeclareStatus, ProjectionDeclaredAnswer, ProjectionRemovedAnswer,
};
use teamlog_team::scripted::read::{
    KeyedState, ProjectionAnswer, ProjectionListAnswer, ProjectionShown,
};
use teamlog_team::shell::quoted;

/// Largest number of columns for members of the states. With more, a state is one column of JSON.
const COLUMNS_MAX: usize = 12;

/// Renders the result of a declaration.
pub fn declared(answer: &ProjectionDeclaredAnswer, _: &View) -> Vec<String> {
    let name = visible(&answer.projection.name);
    let team = visible(&answer.team);
    vec![match answer.status {
        DeclareStatus::Declared => format!("declared projection {name} of {team}"),
        DeclareStatus::Changed => format!(
            "declared projection {name} of {team} again; its states are folded again from the first event"
        ),
        DeclareStatus::Unchanged => {
            format!("projection {name} of {team} has these rules already; nothing was recorded")
        }
    }]
}

/// Renders the name of a removed projection.
pub fn removed(answer: &ProjectionRemovedAnswer, _: &View) -> Vec<String> {
    let (team, name) = (visible(&answer.team), visible(&answer.name));
    vec![format!("removed projection {name} of {team}")]
}

/// Renders all projections of a team, one per line.
pub fn list(answer: &ProjectionListAnswer, view: &View) -> Vec<String> {
    let count = time::plural(answer.count as u64, "projection");
    let mut shown = vec![heading(view, &answer.team, &format!(": {count}"))];
    let rows = answer.projections.iter().map(row);
    push_below(&mut shown, lines(rows, 2, view));
    shown
}

fn row(one: &ProjectionShown) -> Vec<Cell> {
    let key = one.key_by.as_deref().map(|key| format!("key {key}"));
    let filter = one.filter.as_deref().unwrap_or("all events");
    vec![
        plain(&one.name),
        plain(
            one.seq
                .map_or_else(|| "not folded".to_owned(), |seq| format!("at {seq}")),
        ),
        plain(key.as_deref().unwrap_or("one state")),
        styled(Style::Dim, filter),
        styled(Style::Bad, trouble(one).unwrap_or_default()),
    ]
}

/// Returns the reason why a projection does not follow the log.
fn trouble(one: &ProjectionShown) -> Option<String> {
    let stopped = one.failure.as_ref().map(stopped);
    stopped.or_else(|| one.unsupported.clone())
}

fn stopped(failure: &ProjectionFailure) -> String {
    let ProjectionFailure {
        seq,
        field,
        message,
        line,
    } = failure;
    let line = line
        .map(|line| format!(", line {line}"))
        .unwrap_or_default();
    format!("stopped at event {seq}: {field}{line}: {message}")
}

/// Renders the states of a projection as a table.
pub fn states(answer: &ProjectionAnswer, view: &View) -> Vec<String> {
    let one = &answer.projection;
    let seq = one
        .seq
        .map(|seq| format!(", up to event {seq}"))
        .unwrap_or_default();
    let count = match one.key_by {
        Some(_) => time::plural(answer.count as u64, "key"),
        None => "one state".to_owned(),
    };
    let mut shown = vec![heading(
        view,
        &one.name,
        &format!(" of {}: {count}{seq}", answer.team),
    )];
    if let Some(trouble) = trouble(one) {
        shown.push(format!(
            "  {}",
            view.paint.show(Style::Bad, visible(&trouble))
        ));
    }
    push_below(&mut shown, lines(table(&answer.states), 2, view));
    if let Some(cursor) = &answer.next_cursor {
        shown.push(format!(
            "  more keys: --cursor {}",
            visible(&quoted(cursor))
        ));
    }
    shown
}

/// Returns the rows of the table: a column per member if every state is an object of few members.
fn table(states: &[KeyedState]) -> Vec<Vec<Cell>> {
    let Some(columns) = columns(states) else {
        return states
            .iter()
            .map(|one| vec![key(one), value(&one.state)])
            .collect();
    };
    let mut titles = vec![styled(Style::Dim, "")];
    titles.extend(columns.iter().map(|name| styled(Style::Dim, name)));
    let rows = states.iter().map(|one| {
        let cells = columns.iter().map(|name| value(&one.state[*name]));
        std::iter::once(key(one)).chain(cells).collect()
    });
    std::iter::once(titles).chain(rows).collect()
}

fn key(one: &KeyedState) -> Cell {
    plain(one.key.as_deref().unwrap_or_default())
}

/// Returns the names of the members of all states, sorted.
fn columns(states: &[KeyedState]) -> Option<Vec<&str>> {
    let mut names = std::collections::BTreeSet::new();
    for one in states {
        names.extend(one.state.as_object()?.keys().map(String::as_str));
    }
    (!names.is_empty() && names.len() <= COLUMNS_MAX).then(|| names.into_iter().collect())
}

fn value(value: &Value) -> Cell {
    match value {
        Value::Null => plain(""),
        Value::Number(shown) => number(shown.to_string()),
        Value::String(text) => plain(text),
        other => plain(other.to_string()),
    }
}

/// Renders the result of a test.
pub fn tested(answer: &ProjectionTestAnswer, _: &View) -> Vec<String> {
    let name = visible(&answer.name);
    let count = |count: u64, noun| time::plural(count, noun);
    let folded = format!(
        "{} changed {}, up to event {}",
        count(answer.folded, "event"),
        count(answer.keys as u64, "state"),
        answer.last_seq
    );
    vec![match (answer.status, &answer.failure) {
        (ProjectionTestStatus::Equal, _) => format!("projection {name}: equal ({folded})"),
        (ProjectionTestStatus::Stopped, failure) => {
            let why = failure.as_ref().map(stopped).unwrap_or_default();
            format!("projection {name}: equal, but {} ({folded})", visible(&why))
        }
        (ProjectionTestStatus::Different, _) => {
            let key = answer.different_key.as_deref().unwrap_or_default();
            format!(
                "projection {name}: DIFFERENT at key {} ({folded})",
                visible(&quoted(key))
            )
        }
        (ProjectionTestStatus::Unsupported, _) => {
            let why = answer.unsupported.as_deref().unwrap_or_default();
            format!("projection {name}: not folded here: {}", visible(why))
        }
    }]
}
