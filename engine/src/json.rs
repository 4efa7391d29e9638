//! Canonical JSON: compact, one way to escape a string, numbers as they were written, duplicate keys refused.

use std::sync::Arc;

/// One JSON value as canonical text.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Json(Arc<str>);

/// Why a text is not acceptable JSON.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message} at byte {offset}")]
pub struct JsonError {
    /// What is wrong.
    pub message: String,
    /// Where, in bytes from the start.
    pub offset: usize,
}

impl std::fmt::Debug for Json {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl Json {
    /// Canonicalises one JSON value (surrounding whitespace allowed): compact, minimal escapes (only `"`, `\\` and
    /// control characters, with the short forms where JSON has them, else `\u00xx` in lower case), key order and number texts kept.
    ///
    /// # Errors
    /// Malformed JSON, a lone surrogate, a duplicate key, nesting past [`crate::limits::NESTING_MAX`], a number
    /// that overflows a double, or trailing bytes.
    pub fn parse(text: &str) -> Result<Json, JsonError> {
        let _ = text;
        todo!()
    }
    /// The canonical JSON of a serialisable value.
    ///
    /// # Errors
    /// As [`Json::parse`], or where the value does not serialise.
    pub fn of(value: &impl serde::Serialize) -> Result<Json, JsonError> {
        let _ = value;
        todo!()
    }
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}
