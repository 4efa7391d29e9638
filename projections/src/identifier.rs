//! The rules of names and ids, and the error of a field that breaks a rule.

use crate::hidden;
use teamlog_engine::limits::IDENTIFIER_BYTES_MAX;

/// Errors show so many characters of a value.
const SHOWN_MAX: usize = 80;

/// How strict the rules are for what is named.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Names {
    /// New names begin with neither `.` nor `-`.
    #[default]
    New,
    /// Names that a team may know from history may begin with `-`.
    Known,
    /// The same in history itself, which is taken whole: what a message says wrongly of a task is not applied, where a
    /// new message is refused.
    Imported,
}

/// A field of an envelope breaks a rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field} {rule}, but is {value}")]
pub struct InvalidMessage {
    /// The field: `message.from`, `message.payload.status` …
    pub field: &'static str,
    /// Its value as JSON text, shortened; `missing` where there is none.
    pub value: String,
    /// The rule, as the rest of the sentence: `must match ^[A-Za-z0-9._-]+$`.
    pub rule: String,
}

impl InvalidMessage {
    pub(crate) fn new(
        field: &'static str,
        value: impl Into<String>,
        rule: impl Into<String>,
    ) -> Self {
        InvalidMessage {
            field,
            value: value.into(),
            rule: rule.into(),
        }
    }
}

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

/// Appends a string as JSON text.
pub(crate) fn quote(text: &str, out: &mut String) {
    let special = |byte| byte < 0x20 || byte == b'"' || byte == b'\\';
    if text.bytes().any(special) {
        return out.push_str(&quoted(text));
    }
    out.push('"');
    out.push_str(text);
    out.push('"');
}

/// A string as JSON text, whole.
pub(crate) fn quoted(text: &str) -> String {
    // A string always serialises; the fallback only spares a panic.
    serde_json::to_string(text).unwrap_or_else(|_| "\"\"".to_owned())
}

/// Shortens a text to the length that an error shows.
fn beginning(text: &str) -> &str {
    let end = text.char_indices().nth(SHOWN_MAX);
    end.and_then(|(at, _)| text.get(..at)).unwrap_or(text)
}

/// A text shortened for an error.
pub(crate) fn shown(text: &str) -> String {
    match beginning(text) {
        whole if whole.len() == text.len() => text.to_owned(),
        beginning => format!("{beginning}…"),
    }
}

/// A string as JSON text, shortened for an error.
pub(crate) fn shown_quoted(text: &str) -> String {
    shown(&quoted(beginning(text)))
}
