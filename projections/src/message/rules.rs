//! The rules of an envelope's fields, and how errors show their values.

use super::unapplied::unapplied;
use super::{InvalidMessage, Message, Names, NotApplied, Unapplied};
use crate::fields::Fields;
use crate::hidden;
use crate::task::Status;
use teamlog_engine::limits::IDENTIFIER_BYTES_MAX;

/// Errors show so many characters of a value.
const SHOWN_MAX: usize = 80;

/// Checks the name of a team, an agent or a task: 1 to 128 bytes of `^[A-Za-z0-9._-]+$`, no `..`.
///
/// # Errors
/// Names `field`, the value and the rule ("path separator", "traversal token", the pattern).
pub fn check_name(field: &'static str, value: &str, names: Names) -> Result<(), InvalidMessage> {
    let rule = if value.is_empty() {
        "must not be empty".to_owned()
    } else if value.len() > IDENTIFIER_BYTES_MAX {
        format!("must have at most {IDENTIFIER_BYTES_MAX} bytes")
    } else if value.contains(['/', '\\']) {
        "must not contain a path separator".to_owned()
    } else if value.contains("..") {
        "must not contain the traversal token ..".to_owned()
    } else if !value
        .bytes()
        .all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b))
    {
        "must match the pattern ^[A-Za-z0-9._-]+$".to_owned()
    } else if value.starts_with('.') {
        "must not begin with .".to_owned()
    } else if value.starts_with('-') && names == Names::New {
        "must not begin with -".to_owned()
    } else {
        return Ok(());
    };
    Err(InvalidMessage::new(field, shown_quoted(value), rule))
}

/// Checks a message or trace id: 1 to 128 bytes without control characters.
///
/// # Errors
/// Names `field`, the value and the rule.
pub fn check_id(field: &'static str, value: &str) -> Result<(), InvalidMessage> {
    let rule = if value.is_empty() {
        "must not be empty".to_owned()
    } else if value.len() > IDENTIFIER_BYTES_MAX {
        format!("must have at most {IDENTIFIER_BYTES_MAX} bytes")
    } else if value.chars().any(char::is_control) {
        "must not contain control characters".to_owned()
    } else {
        return Ok(());
    };
    Err(InvalidMessage::new(field, shown_quoted(value), rule))
}

/// Checks an id that is about to be given: [`check_id`], and every character shows.
///
/// # Errors
/// Names `field`, the value and the rule.
pub fn check_new_id(field: &'static str, value: &str) -> Result<(), InvalidMessage> {
    check_id(field, value)?;
    check_shown(field, value, hidden::first_in_lines(value))
}

/// Checks the title of a task: every character shows, or is a line end or a tab.
///
/// # Errors
/// Names `field`, the value and the rule.
pub fn check_title(field: &'static str, value: &str) -> Result<(), InvalidMessage> {
    check_shown(field, value, hidden::first_in_lines(value))
}

fn check_shown(
    field: &'static str,
    value: &str,
    found: Option<char>,
) -> Result<(), InvalidMessage> {
    let Some(found) = found.map(u32::from) else {
        return Ok(());
    };
    let rule = format!("must not contain characters that do not show, like U+{found:04X}");
    Err(InvalidMessage::new(field, shown_quoted(value), rule))
}

/// Checks every field of a message.
pub(super) fn check(message: &Message, names: Names) -> Result<(), InvalidMessage> {
    let check_id = match names {
        Names::New | Names::Known => check_new_id,
        Names::Imported => check_id,
    };
    check_id("message.id", &message.id)?;
    check_name("message.from", &message.from, names)?;
    check_name("message.to", &message.to, names)?;
    if let Some(task) = &message.task_id {
        check_name("message.task_id", task, names)?;
    }
    if let Some(trace) = &message.trace_id {
        check_id("message.trace_id", trace)?;
    }
    let payload = message.payload.as_str();
    let fields: Fields<'_> = serde_json::from_str(payload)
        .map_err(|_| InvalidMessage::new("message.payload", shown(payload), "must be an object"))?;
    if message.is_about_a_task() && names != Names::Imported {
        let found = unapplied(message.kind, &fields, names);
        let wrong = |one: &Unapplied| one.reason == NotApplied::WrongType;
        if let Some(wrong) = found.into_iter().find(wrong) {
            return Err(wrong.rule);
        }
    }
    // The envelope nests the payload deeper than it stands alone.
    match message.is_shallow() {
        true => Ok(()),
        false => message.to_json().map(drop),
    }
}

/// Which statuses there are.
pub(super) fn statuses() -> String {
    format!("{}, done, skipped", Status::rule())
}

/// Appends a string as JSON text.
pub(super) fn quote(text: &str, out: &mut String) {
    let special = |byte| byte < 0x20 || byte == b'"' || byte == b'\\';
    if text.bytes().any(special) {
        return out.push_str(&quoted(text));
    }
    out.push('"');
    out.push_str(text);
    out.push('"');
}

/// A string as JSON text, whole.
pub(super) fn quoted(text: &str) -> String {
    // A string always serialises; the fallback only spares a panic.
    serde_json::to_string(text).unwrap_or_else(|_| "\"\"".to_owned())
}

/// As much of a text as an error shows.
fn beginning(text: &str) -> &str {
    let end = text.char_indices().nth(SHOWN_MAX);
    end.and_then(|(at, _)| text.get(..at)).unwrap_or(text)
}

/// A text shortened for an error.
pub(super) fn shown(text: &str) -> String {
    match beginning(text) {
        whole if whole.len() == text.len() => text.to_owned(),
        beginning => format!("{beginning}…"),
    }
}

/// A string as JSON text, shortened for an error.
pub(super) fn shown_quoted(text: &str) -> String {
    shown(&quoted(beginning(text)))
}
