//! Renders modes.

use crate::render::prelude::*;
use serde_json::Value;
use teamlog_team::mode::clear::ModeCleared;
use teamlog_team::mode::rules::shown::{ModeAnswer, ModeShown};
use teamlog_team::mode::sessions::{SessionEndedAnswer, SessionsAnswer};
use teamlog_team::mode::show::{ModeListAnswer, ModeShowAnswer};
use teamlog_team::projections::mode::Mode;

/// Formats a line such as `forge active starting in session s-1`.
pub fn stands(answer: &ModeAnswer, view: &View) -> Vec<String> {
    let mut row = row(&answer.shown, view);
    row.truncate(3);
    row.push(plain(place(&answer.shown.session_id)));
    let mut shown = lines([row], 0, view);
    if !answer.changed {
        shown.push("  unchanged".to_owned());
    }
    let message = answer.message.iter();
    shown.extend(message.map(|text| format!("  {}", visible(text))));
    if answer.active_modes != [answer.shown.mode] {
        shown.push(format!("  active now: {}", names(&answer.active_modes)));
    }
    let warnings = answer.warnings.iter();
    shown.extend(warnings.map(|text| format!("  warning: {}", visible(text))));
    shown
}

pub fn cleared(answer: &ModeCleared, view: &View) -> Vec<String> {
    let mode = view.paint.show(Style::Bold, answer.mode.name()).to_string();
    let first = match (answer.removed, answer.tombstone) {
        (0, _) => format!("{mode}  was not set"),
        (_, true) => format!("{mode}  cleared in the session; the root still has a state"),
        (removed, false) => format!("{mode}  cleared, {}", time::plural(removed, "state")),
    };
    vec![
        first,
        format!("  active now: {}", names(&answer.active_modes)),
    ]
}

pub fn all(answer: &ModeListAnswer, view: &View) -> Vec<String> {
    let rows = answer.modes.iter().map(|mode| {
        let mut cells = row(mode, view);
        cells.push(plain(place(&mode.session_id)));
        cells
    });
    page(rows, "no modes", ("more", &answer.next_cursor), view)
}

/// Renders a page of sessions, with lines such as `s-1  live  heard of 2 min ago  forge`.
pub fn sessions(answer: &SessionsAnswer, view: &View) -> Vec<String> {
    let rows = answer.sessions.iter().map(|session| {
        let (style, word) = match (&session.ended_at, session.live) {
            (Some(_), _) => (Style::Dim, "ended"),
            (None, true) => (Style::Good, "live"),
            (None, false) => (Style::Warn, "stale"),
        };
        let seen = view.ago_of(&session.last_seen_at);
        vec![
            styled(Style::Bold, &session.session_id),
            styled(style, word),
            styled(Style::Dim, format!("heard of {seen}")),
            plain(names(&session.active_modes)),
        ]
    });
    page(rows, "no sessions", ("more", &answer.next_cursor), view)
}

pub fn session_ended(answer: &SessionEndedAnswer, view: &View) -> Vec<String> {
    let session = view.paint.show(Style::Bold, &answer.session_id).to_string();
    match answer.changed {
        true => vec![
            format!("{session}  ended"),
            format!("  canceled: {}", names(&answer.canceled)),
        ],
        false => vec![format!("{session}  nothing to end")],
    }
}

pub fn card(answer: &ModeShowAnswer, view: &View) -> Vec<String> {
    let mode = &answer.mode;
    let at = match place(&mode.session_id) {
        place if place.is_empty() => "  at the root".to_owned(),
        place => format!("  {place}"),
    };
    let mut shown = vec![heading(view, mode.mode.name(), &at)];
    let rows = mode
        .state
        .iter()
        .filter(|(name, _)| !LEFT_OUT.contains(&name.as_str()))
        .map(|(name, value)| vec![styled(Style::Dim, name), plain(text(value))]);
    shown.extend(lines(rows, 2, view));
    shown.push(format!("  file: {}", visible(&mode.path)));
    if let Some(hidden) = &answer.hidden {
        let phase = hidden.current_phase.as_deref().unwrap_or("-");
        shown.push(format!(
            "  it hides the one of the root: {}, {}",
            word(hidden.active),
            visible(phase)
        ));
    }
    shown
}

/// Fields that the list leaves out, because the heading shows them or because only programs need them.
const LEFT_OUT: [&str; 4] = ["mode", "schema_version", "schemaVersion", "session_id"];

/// Formats a row such as `mode  active  phase  when`.
fn row(mode: &ModeShown, view: &View) -> Vec<Cell> {
    let style = if mode.active { Style::Good } else { Style::Dim };
    vec![
        styled(Style::Bold, mode.mode.name()),
        styled(style, word(mode.active)),
        plain(mode.current_phase.as_deref().unwrap_or("-")),
        styled(Style::Dim, view.ago_of(&mode.updated_at)),
    ]
}

fn word(active: bool) -> &'static str {
    if active { "active" } else { "ended" }
}

/// Formats `in session s-1`. Returns an empty text for the root.
pub fn place(session_id: &Option<String>) -> String {
    let session = session_id.as_deref();
    session.map_or_else(String::new, |session| format!("in session {session}"))
}

pub fn names(modes: &[Mode]) -> String {
    let names: Vec<String> = modes.iter().map(|mode| mode.name().to_owned()).collect();
    names_or("none", &names)
}

/// Formats a JSON value. A string has no quotes.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
