//! How modes are stored.

use super::{Mode, Scope};
use crate::event::mode::Fields;
use crate::prelude::*;
use serde_json::Value;

/// By mode and scope: the state.
pub(super) const STATE: u8 = 0x70;
/// By scope: its states in short, and what is said beside the list of active skills.
pub(super) const SCOPE: u8 = 0x71;
/// By session: those in which a mode is active.
pub(super) const ACTIVE: u8 = 0x72;

/// By session: its life.
pub(super) const LIFE: u8 = 0x73;

/// How a key says root and session.
const ROOT_TAG: u8 = 0;
const SESSION_TAG: u8 = 1;

/// The state of a mode in a scope.
#[derive(Debug, Clone, PartialEq)]
pub struct ModeState {
    /// The mode.
    pub mode: Mode,
    /// Where.
    pub scope: Scope,
    /// Its fields, `active`, `mode` and `updated_at` among them.
    pub fields: Fields,
    /// The last event that changed it.
    pub seq: u64,
    /// The event that made it active; 0 where none did.
    pub activated: u64,
    /// The story that it belongs to.
    pub trace_id: Option<String>,
}

/// The life of a session, as far as it is recorded.
#[derive(Debug, Clone, PartialEq, Eq, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
pub struct SessionLife {
    /// The session.
    #[rkyv(with = Skip)]
    pub session: String,
    /// When its first sign of life was recorded; behind an end, the first one after it.
    pub started_at: Timestamp,
    /// When its last one was.
    pub seen_at: Timestamp,
    /// When it ended; `None` while it has not.
    pub ended_at: Option<Timestamp>,
}
row!(SessionLife);

impl SessionLife {
    /// Whether it goes on: it has not ended, and its last sign of life is no older than so many seconds.
    pub fn is_live(&self, now: Timestamp, stale_seconds: u64) -> bool {
        let silent = now.micros().saturating_sub(self.seen_at.micros());
        let most = i64::try_from(stale_seconds.saturating_mul(1_000_000)).unwrap_or(i64::MAX);
        self.ended_at.is_none() && silent <= most
    }
}

/// A scope: its states in short.
#[derive(Debug, Clone, PartialEq)]
pub struct ModeScope {
    /// Which one.
    pub scope: Scope,
    /// Its states, in canonical order of the modes.
    pub entries: Vec<ModeEntry>,
    /// The mode that stands for the scope where only one can be named.
    pub primary: Option<Mode>,
    /// What is said beside the list of active skills.
    pub metadata: Fields,
    /// The last event that changed any of it.
    pub seq: u64,
    /// When that was.
    pub at: Timestamp,
}

/// A state in short.
#[derive(Debug, Clone, PartialEq, Eq, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
pub struct ModeEntry {
    /// The mode.
    pub mode: Mode,
    /// Whether it is active.
    pub active: bool,
    /// Its `current_phase`.
    pub phase: Option<String>,
    /// Its `thread_id`.
    pub thread_id: Option<String>,
    /// Its `turn_id`.
    pub turn_id: Option<String>,
    /// The event that made it active; 0 where none did.
    pub activated: u64,
    /// When that was.
    pub(super) activated_at: Timestamp,
    /// The last event that changed it.
    pub seq: u64,
    /// When that was.
    pub at: Timestamp,
}

impl ModeState {
    /// Whether it is active.
    pub fn is_active(&self) -> bool {
        is_active(&self.fields)
    }
    /// Its `current_phase`.
    pub fn phase(&self) -> Option<&str> {
        self.fields.get("current_phase").and_then(Value::as_str)
    }
}

impl ModeScope {
    /// The active modes, in the order in which they became so.
    pub fn active(&self) -> Vec<&ModeEntry> {
        let mut active: Vec<&ModeEntry> = self.entries.iter().filter(|one| one.active).collect();
        active.sort_by_key(|one| one.activated);
        active
    }
}

impl ModeEntry {
    /// When it became active; `None` where it never did.
    pub fn activated_at(&self) -> Option<Timestamp> {
        (self.activated > 0).then_some(self.activated_at)
    }
}

/// Whether a state says that it is active.
pub(super) fn is_active(fields: &Fields) -> bool {
    fields.get("active") == Some(&Value::Bool(true))
}

/// A [`ModeState`] as stored, under mode and scope.
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

/// A [`ModeScope`] as stored, under its scope.
#[derive(Default, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
pub(super) struct ScopeRow {
    pub seq: u64,
    pub at: Timestamp,
    pub primary: Option<Mode>,
    /// As JSON text.
    pub metadata: String,
    pub entries: Vec<ModeEntry>,
}
row!(ScopeRow);

/// The fields that a JSON text holds; a row holds nothing else than objects.
pub(super) fn fields(text: &str) -> Fields {
    serde_json::from_str(text).unwrap_or_default()
}

pub(super) fn text(fields: &Fields) -> String {
    // Into memory nothing fails.
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

/// What begins the keys of a mode's states in sessions.
pub(super) fn sessions_with(mode: Mode) -> [u8; 3] {
    [STATE, mode.number(), SESSION_TAG]
}

pub(super) fn scope_key(scope: &Scope) -> Vec<u8> {
    key_of(SCOPE, &tagged(scope))
}

/// What begins the keys of the sessions.
pub(super) const SESSIONS: [u8; 2] = [SCOPE, SESSION_TAG];
