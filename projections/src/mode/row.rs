//! Stored rows of modes.

use super::{Mode, Scope};
use crate::event::mode::Fields;
use crate::prelude::*;
use serde_json::Value;

/// Namespace of states; key: mode and scope.
pub(super) const STATE: u8 = 0x70;
/// Namespace of scopes: summaries of states, and metadata of the list of active skills; key: scope.
pub(super) const SCOPE: u8 = 0x71;
/// Namespace of markers of sessions with an active mode; key: session.
pub(super) const ACTIVE: u8 = 0x72;

/// Namespace of lives; key: session.
pub(super) const LIFE: u8 = 0x73;

/// Tags of root and session scopes in keys.
const ROOT_TAG: u8 = 0;
const SESSION_TAG: u8 = 1;

/// The state of a mode in a scope.
#[derive(Debug, Clone, PartialEq)]
pub struct ModeState {
    /// The mode.
    pub mode: Mode,
    /// Scope of the state.
    pub scope: Scope,
    /// Fields, including `active`, `mode` and `updated_at`.
    pub fields: Fields,
    /// Last event that changed the state.
    pub seq: u64,
    /// Event that made the mode active; 0 if the mode was never active.
    pub activated: u64,
    /// Trace id, if any.
    pub trace_id: Option<String>,
}

/// Recorded life of a session.
#[derive(Debug, Clone, PartialEq, Eq, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
pub struct SessionLife {
    /// Id of the session.
    #[rkyv(with = Skip)]
    pub session: String,
    /// Time of the first sign of life since the last end.
    pub started_at: Timestamp,
    /// Time of the last sign of life.
    pub seen_at: Timestamp,
    /// End time; `None` while the session has not ended.
    pub ended_at: Option<Timestamp>,
}
row!(SessionLife);

impl SessionLife {
    /// Returns true if the session has not ended and its last sign of life is at most `stale_seconds` old.
    pub fn is_live(&self, now: Timestamp, stale_seconds: u64) -> bool {
        let silent = now.micros().saturating_sub(self.seen_at.micros());
        let most = i64::try_from(stale_seconds.saturating_mul(1_000_000)).unwrap_or(i64::MAX);
        self.ended_at.is_none() && silent <= most
    }
}

/// Summary of a scope's states.
#[derive(Debug, Clone, PartialEq)]
pub struct ModeScope {
    /// The scope.
    pub scope: Scope,
    /// Summaries of states, in canonical order of the modes.
    pub entries: Vec<ModeEntry>,
    /// Primary mode of the scope, for consumers that show only one mode.
    pub primary: Option<Mode>,
    /// Metadata of the list of active skills.
    pub metadata: Fields,
    /// Last event that changed the scope.
    pub seq: u64,
    /// Time of the last event that changed the scope.
    pub at: Timestamp,
}

/// Summary of a state.
#[derive(Debug, Clone, PartialEq, Eq, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
pub struct ModeEntry {
    /// The mode.
    pub mode: Mode,
    /// True if the mode is active.
    pub active: bool,
    /// Field `current_phase` of the state.
    pub phase: Option<String>,
    /// Field `thread_id` of the state.
    pub thread_id: Option<String>,
    /// Field `turn_id` of the state.
    pub turn_id: Option<String>,
    /// Event that made the mode active; 0 if the mode was never active.
    pub activated: u64,
    /// Time of the event that made the mode active.
    pub(super) activated_at: Timestamp,
    /// Last event that changed the state.
    pub seq: u64,
    /// Time of the last event that changed the state.
    pub at: Timestamp,
}

impl ModeState {
    /// Returns true if the mode is active.
    pub fn is_active(&self) -> bool {
        is_active(&self.fields)
    }
    /// Returns the `current_phase`.
    pub fn phase(&self) -> Option<&str> {
        self.fields.get("current_phase").and_then(Value::as_str)
    }
}

impl ModeScope {
    /// Returns the active modes, in the order of their activation.
    pub fn active(&self) -> Vec<&ModeEntry> {
        let mut active: Vec<&ModeEntry> = self.entries.iter().filter(|one| one.active).collect();
        active.sort_by_key(|one| one.activated);
        active
    }
}

impl ModeEntry {
    /// Returns the time of the activation; `None` if the mode was never active.
    pub fn activated_at(&self) -> Option<Timestamp> {
        (self.activated > 0).then_some(self.activated_at)
    }
}

/// Returns true if a state's `active` field is true.
pub(super) fn is_active(fields: &Fields) -> bool {
    fields.get("active") == Some(&Value::Bool(true))
}

/// A stored [`ModeState`]; its key has mode and scope.
#[derive(Default, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
pub(super) struct StateRow {
    pub seq: u64,
    pub activated: u64,
    pub activated_at: Timestamp,
    pub trace_id: Option<String>,
    /// The fields, as JSON text.
    pub text: String,
}
row!(StateRow);

/// A stored [`ModeScope`]; its key has the scope.
#[derive(Default, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
pub(super) struct ScopeRow {
    pub seq: u64,
    pub at: Timestamp,
    pub primary: Option<Mode>,
    /// Metadata, as JSON text.
    pub metadata: String,
    pub entries: Vec<ModeEntry>,
}
row!(ScopeRow);

/// Parses the fields of a stored JSON object.
pub(super) fn fields(text: &str) -> Fields {
    serde_json::from_str(text).unwrap_or_default()
}

pub(super) fn text(fields: &Fields) -> String {
    // Writing to memory cannot fail.
    serde_json::to_string(fields).unwrap_or_default()
}

fn tagged(scope: &Scope) -> Vec<u8> {
    match scope {
        Scope::Root => vec![ROOT_TAG],
        Scope::Session(session) => key_of(SESSION_TAG, session.as_bytes()),
    }
}

pub(super) fn state_key(scope: &Scope, mode: Mode) -> Vec<u8> {
    let mut key = vec![STATE, mode.number()];
    key.extend(tagged(scope));
    key
}

/// Returns the key prefix of a mode's states in sessions.
pub(super) fn sessions_with(mode: Mode) -> [u8; 3] {
    [STATE, mode.number(), SESSION_TAG]
}

pub(super) fn scope_key(scope: &Scope) -> Vec<u8> {
    key_of(SCOPE, &tagged(scope))
}

/// Key prefix of sessions.
pub(super) const SESSIONS: [u8; 2] = [SCOPE, SESSION_TAG];
