//! The lock of an interview: short words of assent that are no answers to its questions.

use super::keyword::plain;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use teamlog_engine::Timestamp;

/// The field of a state of an interview that holds its lock.
pub const FIELD: &str = "input_lock";
const SCOPE: &str = "deep-interview-auto-approval";
/// Words that are no answers.
const BLOCKED: [&str; 8] = [
    "yes",
    "y",
    "proceed",
    "continue",
    "ok",
    "sure",
    "go ahead",
    "next i should",
];
const MESSAGE: &str = "An interview is active: words of assent alone are not taken for an answer. \
                       Answer its question, or end it with `$cancel`.";

/// Why a lock was released.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Exit {
    /// The interview is complete.
    Success,
    /// It failed.
    Error,
    /// It was called off.
    Abort,
    /// Another mode took over.
    Handoff,
}

/// A lock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InputLock {
    /// Whether it holds
    pub active: bool,
    /// What it is for
    pub scope: String,
    /// Since when
    pub acquired_at: String,
    /// Until when
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub released_at: Option<String>,
    /// Why no longer
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_reason: Option<Exit>,
    /// Words that are no answers
    #[serde(default)]
    pub blocked_inputs: Vec<String>,
    /// What to tell who types one
    #[serde(default)]
    pub message: String,
}

impl InputLock {
    /// A lock from now on.
    pub fn acquired(now: Timestamp) -> InputLock {
        InputLock {
            active: true,
            scope: SCOPE.to_owned(),
            acquired_at: now.to_string(),
            released_at: None,
            exit_reason: None,
            blocked_inputs: BLOCKED.map(str::to_owned).to_vec(),
            message: MESSAGE.to_owned(),
        }
    }
    /// The same, released.
    #[must_use]
    pub fn released(mut self, exit: Exit, now: Timestamp) -> InputLock {
        self.active = false;
        self.released_at = Some(now.to_string());
        self.exit_reason = Some(exit);
        self
    }
    /// The lock that a state holds and that is not released.
    pub fn of(state: &Map<String, Value>) -> Option<InputLock> {
        let lock = state.get(FIELD)?;
        let lock: InputLock = serde_json::from_value(lock.clone()).ok()?;
        lock.active.then_some(lock)
    }
    /// The word that a prompt is, where it is one of those that are no answers.
    pub fn blocks(&self, prompt: &str) -> Option<&str> {
        let said = plain(prompt);
        let found = self.blocked_inputs.iter().find(|word| plain(word) == said);
        found.map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn noon() -> Timestamp {
        Timestamp::parse("2026-11-21T12:00:00Z").unwrap()
    }

    #[test]
    fn a_word_of_assent_alone_is_blocked() {
        let lock = InputLock::acquired(noon());
        for word in BLOCKED {
            assert_eq!(lock.blocks(word), Some(word));
            assert_eq!(lock.blocks(&format!(" {}!\n", word.to_uppercase())), Some(word));
            assert_eq!(lock.blocks(&format!("{word} with the second one")), None);
        }
        assert_eq!(lock.blocks("go\n ahead"), Some("go ahead"));
        assert_eq!(lock.blocks(""), None);
    }

    #[test]
    fn only_a_lock_that_holds_is_found_in_a_state() {
        let lock = InputLock::acquired(noon());
        let state = |lock: &InputLock| json!({ FIELD: lock });
        assert_eq!(
            InputLock::of(state(&lock).as_object().unwrap()),
            Some(lock.clone())
        );
        let released = lock.released(Exit::Handoff, noon());
        assert_eq!(
            serde_json::to_value(&released).unwrap()["exit_reason"],
            "handoff"
        );
        assert_eq!(InputLock::of(state(&released).as_object().unwrap()), None);
        assert_eq!(InputLock::of(json!({"input_lock": true}).as_object().unwrap()), None);
    }
}
