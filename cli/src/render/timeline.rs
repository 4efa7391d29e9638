//! A story as a timeline: offsets from its first event, the time between events, and what changed nothing.

use crate::render::escape::visible;
use crate::render::style::Style;
use crate::render::table::{self, Cell, number_styled, plain, styled};
use crate::render::{View, event, heading, time};
use teamlog_team::Recorded;
use teamlog_team::command::trace::TraceAnswer;

/// A gap from which on the time between two events is worth a word.
const GAP_SHOWN_MICROS: i64 = time::SECOND;

/// A trace with its heading.
pub fn story(answer: &TraceAnswer, view: &View) -> Vec<String> {
    let count = time::plural(answer.count as u64, "event");
    let mut shown = vec![heading(
        view,
        &answer.trace_id,
        &format!(" in {}: {count}{}", answer.team, duration(&answer.events)),
    )];
    if !answer.events.is_empty() {
        shown.push(String::new());
        shown.extend(lines(&answer.events, view));
    }
    if let Some(cursor) = &answer.next_cursor {
        shown.push(String::new());
        shown.push(format!("older ones: --cursor {}", visible(cursor)));
    }
    shown
}

/// The events, each behind its offset and the time since the one before.
pub fn lines(events: &[Recorded], view: &View) -> Vec<String> {
    let first = events.first().map_or(0, at);
    let mut previous = first;
    let mut rows = Vec::with_capacity(events.len());
    for recorded in events {
        rows.push(row(recorded, at(recorded) - first, at(recorded) - previous));
        previous = at(recorded);
    }
    let started = events.first().map(|recorded| {
        let at = recorded.event.created_at.to_string();
        format!(
            "  {} {} UTC",
            at.get(..10).unwrap_or_default(),
            at.get(11..19).unwrap_or_default()
        )
    });
    let mut shown: Vec<String> = started.into_iter().collect();
    shown.extend(table::lines(&rows, 4, view.paint));
    shown
}

fn row(recorded: &Recorded, offset: i64, gap: i64) -> Vec<Cell> {
    let event = &recorded.event;
    let marks = marks(recorded);
    let changed_nothing =
        recorded.marks.superseded || recorded.marks.duplicate || recorded.marks.refused;
    let style = if changed_nothing {
        Style::Dim
    } else {
        Style::Plain
    };
    let gap = if gap >= GAP_SHOWN_MICROS {
        format!("({} later)", time::span(gap))
    } else {
        String::new()
    };
    let what = match marks.is_empty() {
        true => event::what(event),
        false => format!("{}  [{marks}]", event::what(event)),
    };
    vec![
        number_styled(Style::Dim, format!("+{}", time::span(offset))),
        styled(Style::Dim, gap),
        plain(event.actor.as_ref()),
        styled(style, event.kind.as_ref()),
        styled(style, what.trim()),
    ]
}

fn marks(recorded: &Recorded) -> String {
    let marks = [
        ("superseded: changed nothing", recorded.marks.superseded),
        ("duplicate: changed nothing", recorded.marks.duplicate),
        ("refused", recorded.marks.refused),
        ("acked", recorded.marks.acked),
        ("foreign", recorded.event.foreign),
    ];
    let set: Vec<&str> = marks
        .iter()
        .filter(|(_, set)| *set)
        .map(|(name, _)| *name)
        .collect();
    set.join(", ")
}

fn duration(events: &[Recorded]) -> String {
    match (events.first(), events.last()) {
        (Some(first), Some(last)) if at(last) > at(first) => {
            format!(" over {}", time::span(at(last) - at(first)))
        }
        _ => String::new(),
    }
}

fn at(recorded: &Recorded) -> i64 {
    recorded.event.created_at.micros()
}
