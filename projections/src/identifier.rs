//! The rules of names and ids, and the error of a field that breaks a rule.

use crate::hidden;
use teamlog_engine::limits::IDENTIFIER_BYTES_MAX;

/// Maximum number of characters of a value in an error.
const SHOWN_MAX: usize = 80;

/// Strictness of the rules for names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Names {
    /// New names: must not begin with `.` or `-`.
    #[default]
    New,
    /// Names of existing things, which may begin with `-` if they are old.
    Known,
    /// Names in imported history, which is accepted whole. A task field with an invalid value is ignored there; in a new message such a
    /// value is refused.
    Imported,
}

/// Error: a field of an envelope violates a rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field} {rule}, but is {value}")]
pub struct InvalidMessage {
    /// Name of the field: `message.from`, `message.payload.status` …
    pub field: &'static str,
    /// Value as JSON text, shortened; `missing` if there is none.
    pub value: String,
    /// Rule, as the rest of a sentence: `must match ^[A-Za-z0-9._-]+$`.
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
/// The error names `field`, the value and the rule ("path separator", "traversal token", the pattern).
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
/// The error names `field`, the value and the rule.
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

/// Checks a new id like [`check_id`], and that every character is visible.
///
/// # Errors
/// The error names `field`, the value and the rule.
pub fn check_new_id(field: &'static str, value: &str) -> Result<(), InvalidMessage> {
    check_id(field, value)?;
    check_shown(field, value, hidden::first_in_lines(value))
}

/// Checks the title of a task: every character is visible, or is a line end or a tab.
///
/// # Errors
/// The error names `field`, the value and the rule.
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
    let rule = format!("must not contain invisible characters, like U+{found:04X}");
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

/// Returns a string as JSON text.
pub(crate) fn quoted(text: &str) -> String {
    // Serializing a string cannot fail; the fallback only avoids a panic.
    serde_json::to_string(text).unwrap_or_else(|_| "\"\"".to_owned())
}

/// Shortens a text to the length that an error shows.
fn beginning(text: &str) -> &str {
    let end = text.char_indices().nth(SHOWN_MAX);
    end.and_then(|(at, _)| text.get(..at)).unwrap_or(text)
}

/// Returns a text shortened for an error.
pub(crate) fn shown(text: &str) -> String {
    match beginning(text) {
        whole if whole.len() == text.len() => text.to_owned(),
        beginning => format!("{beginning}…"),
    }
}

/// Returns a string as JSON text, shortened for an error.
pub(crate) fn shown_quoted(text: &str) -> String {
    shown(&quoted(beginning(text)))
}
