//! The JSON of the payloads of modes.

use super::event::*;
use crate::mode::Mode;
use serde::{Deserialize, Serialize};
use teamlog_engine::Timestamp;

#[derive(Serialize, Deserialize)]
pub(super) struct StoredStart {
    pub mode: Mode,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    pub state: Fields,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen_at: Option<Timestamp>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct StoredChange {
    pub mode: Mode,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    pub set: Fields,
    pub unset: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen_at: Option<Timestamp>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct StoredClear {
    pub mode: Mode,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    pub tombstone: bool,
}

#[derive(Serialize, Deserialize)]
pub(super) struct StoredLock {
    pub mode: Mode,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    pub input_lock: Fields,
}

#[derive(Serialize, Deserialize)]
pub(super) struct StoredSkills {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    pub skills: Vec<Mode>,
    pub metadata: Fields,
}

#[derive(Serialize, Deserialize)]
pub(super) struct StoredSeen {
    pub session_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen_at: Option<Timestamp>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct StoredEnd {
    pub session_id: String,
    pub reason: SessionEnd,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_seen_at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

#[derive(Serialize)]
pub(super) struct StoredTransition<'a> {
    pub mode: Mode,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<&'a str>,
    pub kind: &'a str,
    pub current: &'a [Mode],
    pub requested: Mode,
    pub resulting: &'a [Mode],
    pub auto_completed: &'a [Mode],
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<&'a str>,
    pub source: &'a str,
}

#[derive(Serialize)]
pub(super) struct StoredPrompt<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<&'a str>,
    pub requested_skills: &'a [String],
    pub deferred_skills: &'a [String],
    pub active_skills: &'a [String],
    pub transition_messages: &'a [String],
    pub gate: &'a str,
}

#[derive(Serialize)]
pub(super) struct StoredBypass<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<&'a str>,
    pub reason: &'a str,
    pub skills: &'a [String],
}
