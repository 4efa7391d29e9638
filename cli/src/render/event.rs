//! Renders an event as a line with its sentence, and the payload of a message as words.

use crate::render::escape::visible;
use crate::render::style::Style;
use crate::render::{View, table};
use serde_json::Value;
use teamlog_team::engine::{Event, Timestamp};
use teamlog_team::story::sentence::sentence;
use unicode_width::UnicodeWidthStr;

/// Minimum width of a terminal for lines with the complete date and time, and with the kind.
const WIDE: usize = 120;
/// Width of the kind of an event. Longer kinds are cut; `--json` shows them whole.
const KIND_WIDTH: usize = 25;
/// Minimum width of the text of an event.
const TEXT_WIDTH_MIN: usize = 12;

/// Formats `seq date time kind sentence`. The columns have fixed widths, because a replay is streamed. On a terminal the
/// sentence is cut at the end of the line, and a narrow terminal gets no kind.
pub fn line(event: &Event<'_>, view: &View) -> String {
    let (seq, at) = (format!("{:>6}", event.seq), moment(event.created_at, view));
    let kind = match is_wide(view) {
        true => format!("{}  ", kind_column(&event.kind)),
        false => String::new(),
    };
    let before = [&*seq, &at, &kind].map(UnicodeWidthStr::width);
    let before = before.iter().sum::<usize>() + 2 * "  ".len();
    let text = sentence(event);
    let text = match view.width {
        Some(width) => table::cut(&text, width.saturating_sub(before).max(TEXT_WIDTH_MIN)),
        None => text,
    };
    let line = format!(
        "{}  {at}  {}{}",
        view.paint.show(Style::Dim, seq),
        view.paint.show(Style::Dim, kind),
        view.paint.show(tone(event), text),
    );
    line.trim_end().to_owned()
}

/// Formats the kind of an event, cut or filled up to the width of its column.
fn kind_column(kind: &str) -> String {
    let kind = table::cut(&visible(kind), KIND_WIDTH);
    let pad = KIND_WIDTH.saturating_sub(kind.width());
    format!("{kind}{}", " ".repeat(pad))
}

/// Returns the style of an event's sentence.
pub fn tone(event: &Event<'_>) -> Style {
    Style::of_kind(&event.kind, event.foreign)
}

fn is_wide(view: &View) -> bool {
    view.width.is_none_or(|width| width >= WIDE)
}

/// Formats a time as `2026-11-28 14:55:01.123Z`. On a narrow terminal, formats a time of today as `14:55:01` and an earlier
/// time as `11-27 14:55`.
fn moment(at: Timestamp, view: &View) -> String {
    let (text, now) = (at.to_string(), view.now.to_string());
    let part = |range: std::ops::Range<usize>| text.get(range).unwrap_or_default();
    if is_wide(view) {
        return format!("{} {}Z", part(0..10), part(11..23));
    }
    match now.get(..10) == Some(part(0..10)) {
        true => format!("{:<11}", part(11..19)),
        false => format!("{} {}", part(5..10), part(11..16)),
    }
}

/// Parses a payload and formats it with [`said`].
pub fn said_text(payload: &str) -> String {
    said(&serde_json::from_str(payload).unwrap_or_default())
}

/// Fields that come first, in this order.
const FIRST: [&str; 8] = [
    "subject", "status", "blocked", "progress", "eta", "note", "body", "details",
];

/// Formats the payload of a message, such as `in_progress progress=40% "reproduced it"`. Values that explain themselves have
/// no name.
pub fn said(payload: &Value) -> String {
    let Some(fields) = payload.as_object() else {
        return String::new();
    };
    let known = FIRST.iter().filter_map(|name| fields.get_key_value(*name));
    let others = fields
        .iter()
        .filter(|(name, _)| !FIRST.contains(&name.as_str()));
    let filled = known.chain(others).filter(|(_, value)| !is_empty(value));
    let filled: Vec<(&String, &Value)> = filled.collect();
    let alone = filled.len() == 1;
    let words = filled
        .into_iter()
        .map(|(name, value)| match (name.as_str(), value) {
            ("subject" | "note" | "body", Value::String(text)) if alone => text.clone(),
            ("subject" | "note" | "body", Value::String(text)) => format!("{text:?}"),
            ("status", Value::String(text)) => text.clone(),
            ("blocked", Value::Bool(true)) => "blocked".to_owned(),
            _ => format!("{name}={}", word(value)),
        });
    words.collect::<Vec<String>>().join(" ")
}

fn is_empty(value: &Value) -> bool {
    value.is_null() || value.as_str().is_some_and(str::is_empty)
}

/// Formats a JSON value. A string has no quotes.
pub fn word(value: &Value) -> String {
    match value {
        Value::String(text) if text.contains(' ') => format!("{text:?}"),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Truncates `text` to `most` characters.
pub fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use teamlog_team::projections::vocabulary;

    #[test]
    fn the_kinds_of_everyday_events_fit_their_column() {
        let kinds = vocabulary::kinds().filter(|kind| !kind.name.starts_with("bootstrap_"));
        for kind in kinds {
            assert!(kind.name.len() <= KIND_WIDTH, "{}", kind.name);
        }
    }

    #[test]
    fn each_kind_fills_its_column() {
        for kind in [
            "x",
            "task_created",
            "a_kind_that_is_far_too_long_for_its_column",
        ] {
            assert_eq!(kind_column(kind).width(), KIND_WIDTH, "{kind}");
        }
    }

    #[test]
    fn a_payload_reads_as_words() {
        for (payload, words) in [
            ("{}", ""),
            ("[1]", ""),
            (r#"{"subject":"Fix it","details":""}"#, "Fix it"),
            (
                r#"{"note":"on it","progress":"40%","status":"in_progress"}"#,
                r#"in_progress progress=40% "on it""#,
            ),
            (r#"{"blocked":true,"eta":null}"#, "blocked"),
            (r#"{"files":[1,2],"body":"a b"}"#, r#""a b" files=[1,2]"#),
        ] {
            assert_eq!(said_text(payload), words, "{payload}");
        }
    }

    #[test]
    fn a_long_text_is_cut_between_characters() {
        assert_eq!(cut(&"é".repeat(100), 100), "é".repeat(100));
        assert_eq!(cut(&"é".repeat(101), 100), format!("{}…", "é".repeat(100)));
    }
}
