//! Modes: what happened to their states, and to the list of active skills; and the JSON of those payloads.
//!
//! | kind | payload |
//! |---|---|
//! | `mode_started` | `{mode, session_id?, state:{…}, seen_at?}`: the whole new state |
//! | `mode_updated`, `mode_completed`, `mode_failed`, `mode_canceled`, `mode_auto_completed` | `{mode, session_id?, set:{…}, unset[], seen_at?}` |
//! | `mode_cleared` | `{mode, session_id?, tombstone}` |
//! | `mode_input_locked`, `mode_input_unlocked` | `{mode, session_id?, input_lock:{…}}` |
//! | `mode_skills_synced` | `{session_id?, skills[], metadata:{…}}`; a `null` of the metadata takes a field away |
//! | `mode_session_seen` | `{session_id, seen_at?}` |
//! | `mode_session_ended` | `{session_id, reason, last_seen_at?, note?}` |
//! | `mode_transitioned` | `{mode, session_id?, kind, current[], requested, resulting[], auto_completed[], message?, source}` |
//! | `mode_prompt_decided` | `{session_id?, requested_skills[], deferred_skills[], active_skills[], transition_messages[], gate}` |
//! | `mode_gate_bypassed` | `{session_id?, reason, skills[]}` |
//!
//! The last three move nothing. Without `session_id` an event is about the root. `seen_at` is when the session gave this sign
//! of life, where the log's times lie ahead of the clock; else it is the event's own time.

use super::stored::*;
use crate::fact::event;
use crate::fact::stored::{Decoded, read};
use crate::mode::{Mode, Scope, is_session_id};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use teamlog_engine::{Json, JsonError, NewEvent, RefKind, Timestamp};

/// The fields of a state, or some of them.
pub type Fields = Map<String, Value>;

/// The kinds that [`parse`] knows: those that move something.
pub(crate) const KINDS: &[&str] = &[
    "mode_started",
    "mode_updated",
    "mode_completed",
    "mode_failed",
    "mode_canceled",
    "mode_auto_completed",
    "mode_cleared",
    "mode_input_locked",
    "mode_input_unlocked",
    "mode_skills_synced",
    "mode_session_seen",
    "mode_session_ended",
];

/// What an event says of modes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModeFact {
    /// A new state in the place of whatever was there.
    Started(ModeStarted),
    /// Fields of a state changed.
    Changed(ModeChanged),
    /// A state went.
    Cleared(ModeCleared),
    /// The lock on input changed.
    Locked(InputLocked),
    /// What is said beside the list of active skills changed.
    SkillsSynced(SkillsSynced),
    /// A session gave a sign of life.
    SessionSeen(SessionSeen),
    /// A session ended.
    SessionEnded(SessionEnded),
}

/// `mode_started`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModeStarted {
    /// The mode.
    pub mode: Mode,
    /// Where.
    pub scope: Scope,
    /// All of its state.
    pub state: Fields,
    /// When it happened, where the event's own time does not say so.
    pub seen_at: Option<Timestamp>,
}

/// Why fields of a state change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// Somebody said so.
    Updated,
    /// It is done.
    Completed,
    /// It failed.
    Failed,
    /// It was canceled.
    Canceled,
    /// Another mode took over.
    AutoCompleted,
}

/// `mode_updated`, `mode_completed`, `mode_failed`, `mode_canceled`, `mode_auto_completed`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModeChanged {
    /// Why.
    pub change: Change,
    /// The mode.
    pub mode: Mode,
    /// Where.
    pub scope: Scope,
    /// New values.
    pub set: Fields,
    /// Fields that go.
    pub unset: Vec<String>,
    /// When it happened, where the event's own time does not say so.
    pub seen_at: Option<Timestamp>,
}

/// `mode_cleared`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModeCleared {
    /// The mode.
    pub mode: Mode,
    /// Where.
    pub scope: Scope,
    /// Whether something stays that says so, and hides the state of the root.
    pub tombstone: bool,
}

/// `mode_input_locked`, `mode_input_unlocked`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputLocked {
    /// Whether it is locked now.
    pub locked: bool,
    /// The mode that holds the lock.
    pub mode: Mode,
    /// Where.
    pub scope: Scope,
    /// All that there is to say of the lock.
    pub input_lock: Fields,
}

/// `mode_skills_synced`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillsSynced {
    /// Where.
    pub scope: Scope,
    /// The modes that are active there, in order; for readers of the log, as the list follows from the states.
    pub skills: Vec<Mode>,
    /// What is said beside the list; a `null` takes a field away.
    pub metadata: Fields,
}

/// `mode_session_seen`: a sign of life of a session, where nothing else is recorded of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionSeen {
    /// The session.
    pub session: String,
    /// When it was, where the event's own time does not say so.
    pub seen_at: Option<Timestamp>,
}

/// Why a session ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionEnd {
    /// Somebody said so.
    Ended,
    /// It gave no sign of life for long, and stood in the way.
    Stale,
}

/// `mode_session_ended`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionEnded {
    /// The session.
    pub session: String,
    /// Why.
    pub reason: SessionEnd,
    /// Its last sign of life; the end of its modes is not one.
    pub last_seen_at: Option<Timestamp>,
    /// For people.
    pub note: Option<String>,
}

/// `mode_transitioned`: what was decided where other modes were active.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModeTransitioned {
    /// The mode that was requested.
    pub mode: Mode,
    /// Where.
    pub scope: Scope,
    /// `overlap`, `auto-complete`.
    pub kind: &'static str,
    /// What was active.
    pub current: Vec<Mode>,
    /// What is.
    pub resulting: Vec<Mode>,
    /// What is completed by that.
    pub auto_completed: Vec<Mode>,
    /// For people.
    pub message: Option<String>,
    /// What sort of request led to it.
    pub source: &'static str,
}

/// `mode_prompt_decided`: a prompt with skills was decided as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModePromptDecided {
    /// Where.
    pub scope: Scope,
    /// What it asks for.
    pub requested_skills: Vec<String>,
    /// What has to wait.
    pub deferred_skills: Vec<String>,
    /// What is active then.
    pub active_skills: Vec<String>,
    /// For people.
    pub transition_messages: Vec<String>,
    /// What the gate before execution did, in a word.
    pub gate: String,
}

/// `mode_gate_bypassed`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModeGateBypassed {
    /// Where.
    pub scope: Scope,
    /// Why it let the prompt pass.
    pub reason: String,
    /// What it would have held back.
    pub skills: Vec<String>,
}

/// How an event comes to be: an error where what somebody gave cannot be stored.
type Made = Result<NewEvent, JsonError>;

impl Change {
    /// All of them.
    pub const ALL: [Change; 5] = [
        Change::Updated,
        Change::Completed,
        Change::Failed,
        Change::Canceled,
        Change::AutoCompleted,
    ];
    /// The kind of its event.
    pub fn kind(self) -> &'static str {
        match self {
            Change::Updated => "mode_updated",
            Change::Completed => "mode_completed",
            Change::Failed => "mode_failed",
            Change::Canceled => "mode_canceled",
            Change::AutoCompleted => "mode_auto_completed",
        }
    }
    fn of_kind(kind: &str) -> Option<Change> {
        Change::ALL.into_iter().find(|change| change.kind() == kind)
    }
}

pub(crate) fn parse(kind: &str, payload: &str) -> Decoded<ModeFact> {
    if let Some(change) = Change::of_kind(kind) {
        let stored: StoredChange = read(payload)?;
        return Ok(ModeFact::Changed(ModeChanged {
            change,
            mode: stored.mode,
            scope: scope(stored.session_id)?,
            set: stored.set,
            unset: stored.unset,
            seen_at: stored.seen_at,
        }));
    }
    match kind {
        "mode_started" => {
            let stored: StoredStart = read(payload)?;
            Ok(ModeFact::Started(ModeStarted {
                mode: stored.mode,
                scope: scope(stored.session_id)?,
                state: stored.state,
                seen_at: stored.seen_at,
            }))
        }
        "mode_cleared" => {
            let stored: StoredClear = read(payload)?;
            Ok(ModeFact::Cleared(ModeCleared {
                mode: stored.mode,
                scope: scope(stored.session_id)?,
                tombstone: stored.tombstone,
            }))
        }
        "mode_input_locked" | "mode_input_unlocked" => {
            let stored: StoredLock = read(payload)?;
            Ok(ModeFact::Locked(InputLocked {
                locked: kind == "mode_input_locked",
                mode: stored.mode,
                scope: scope(stored.session_id)?,
                input_lock: stored.input_lock,
            }))
        }
        "mode_skills_synced" => {
            let stored: StoredSkills = read(payload)?;
            Ok(ModeFact::SkillsSynced(SkillsSynced {
                scope: scope(stored.session_id)?,
                skills: stored.skills,
                metadata: stored.metadata,
            }))
        }
        "mode_session_seen" => {
            let stored: StoredSeen = read(payload)?;
            Ok(ModeFact::SessionSeen(SessionSeen {
                session: checked(stored.session_id)?,
                seen_at: stored.seen_at,
            }))
        }
        "mode_session_ended" => {
            let stored: StoredEnd = read(payload)?;
            Ok(ModeFact::SessionEnded(SessionEnded {
                session: checked(stored.session_id)?,
                reason: stored.reason,
                last_seen_at: stored.last_seen_at,
                note: stored.note,
            }))
        }
        _ => Err(format!("{kind} is not known")),
    }
}

/// A session becomes part of a path, so that it is checked here again.
fn scope(session: Option<String>) -> Decoded<Scope> {
    match session {
        None => Ok(Scope::Root),
        Some(session) => checked(session).map(Scope::Session),
    }
}

fn checked(session: String) -> Decoded<String> {
    match is_session_id(&session) {
        true => Ok(session),
        false => Err(format!(
            "session_id must match ^[A-Za-z0-9_-]{{1,64}}$, but is {session:?}"
        )),
    }
}

fn record(
    kind: &'static str,
    actor: &str,
    scope: &Scope,
    trace: Option<&str>,
    payload: &impl Serialize,
) -> Made {
    let mut event = event(kind, actor, Json::of(payload)?);
    event
        .refs
        .set_given([(RefKind::Session, scope.session()), (RefKind::Trace, trace)]);
    Ok(event)
}

fn session(scope: &Scope) -> Option<String> {
    scope.session().map(str::to_owned)
}

impl ModeFact {
    /// Where it happened.
    pub fn scope(&self) -> Scope {
        match self {
            ModeFact::Started(fact) => fact.scope.clone(),
            ModeFact::Changed(fact) => fact.scope.clone(),
            ModeFact::Cleared(fact) => fact.scope.clone(),
            ModeFact::Locked(fact) => fact.scope.clone(),
            ModeFact::SkillsSynced(fact) => fact.scope.clone(),
            ModeFact::SessionSeen(fact) => Scope::Session(fact.session.clone()),
            ModeFact::SessionEnded(fact) => Scope::Session(fact.session.clone()),
        }
    }
    /// When the session that it happened in gave a sign of life by it, if it is one: what others do to a session is none.
    /// `at` is the time of the event.
    pub fn sign_of_life(&self, at: Timestamp) -> Option<Timestamp> {
        match self {
            ModeFact::Started(started) => Some(started.seen_at.unwrap_or(at)),
            ModeFact::SessionSeen(seen) => Some(seen.seen_at.unwrap_or(at)),
            ModeFact::Changed(changed) => {
                let own = changed.change != Change::AutoCompleted;
                own.then(|| changed.seen_at.unwrap_or(at))
            }
            ModeFact::Cleared(_)
            | ModeFact::Locked(_)
            | ModeFact::SkillsSynced(_)
            | ModeFact::SessionEnded(_) => None,
        }
    }
}

impl SessionSeen {
    /// The event that records it.
    ///
    /// # Errors
    /// None that can occur.
    pub fn event(&self, actor: &str) -> Made {
        let stored = StoredSeen {
            session_id: self.session.clone(),
            seen_at: self.seen_at,
        };
        let scope = Scope::Session(self.session.clone());
        record("mode_session_seen", actor, &scope, None, &stored)
    }
}

impl SessionEnded {
    /// The event that records it.
    ///
    /// # Errors
    /// None that can occur.
    pub fn event(&self, actor: &str) -> Made {
        let stored = StoredEnd {
            session_id: self.session.clone(),
            reason: self.reason,
            last_seen_at: self.last_seen_at,
            note: self.note.clone(),
        };
        let scope = Scope::Session(self.session.clone());
        record("mode_session_ended", actor, &scope, None, &stored)
    }
}

impl ModeStarted {
    /// The event that records it.
    ///
    /// # Errors
    /// Where the state is too deep for an event.
    pub fn event(&self, actor: &str, trace: Option<&str>) -> Made {
        let stored = StoredStart {
            mode: self.mode,
            session_id: session(&self.scope),
            state: self.state.clone(),
            seen_at: self.seen_at,
        };
        record("mode_started", actor, &self.scope, trace, &stored)
    }
}

impl ModeChanged {
    /// The event that records it.
    ///
    /// # Errors
    /// Where the fields are too deep for an event.
    pub fn event(&self, actor: &str, trace: Option<&str>) -> Made {
        let stored = StoredChange {
            mode: self.mode,
            session_id: session(&self.scope),
            set: self.set.clone(),
            unset: self.unset.clone(),
            seen_at: self.seen_at,
        };
        record(self.change.kind(), actor, &self.scope, trace, &stored)
    }
}

impl ModeCleared {
    /// The event that records it.
    ///
    /// # Errors
    /// None that can occur.
    pub fn event(&self, actor: &str, trace: Option<&str>) -> Made {
        let stored = StoredClear {
            mode: self.mode,
            session_id: session(&self.scope),
            tombstone: self.tombstone,
        };
        record("mode_cleared", actor, &self.scope, trace, &stored)
    }
}

impl InputLocked {
    /// The event that records it.
    ///
    /// # Errors
    /// Where the fields are too deep for an event.
    pub fn event(&self, actor: &str, trace: Option<&str>) -> Made {
        let kind = match self.locked {
            true => "mode_input_locked",
            false => "mode_input_unlocked",
        };
        let stored = StoredLock {
            mode: self.mode,
            session_id: session(&self.scope),
            input_lock: self.input_lock.clone(),
        };
        record(kind, actor, &self.scope, trace, &stored)
    }
}

impl SkillsSynced {
    /// The event that records it.
    ///
    /// # Errors
    /// Where the metadata is too deep for an event.
    pub fn event(&self, actor: &str, trace: Option<&str>) -> Made {
        let stored = StoredSkills {
            session_id: session(&self.scope),
            skills: self.skills.clone(),
            metadata: self.metadata.clone(),
        };
        record("mode_skills_synced", actor, &self.scope, trace, &stored)
    }
}

impl ModeTransitioned {
    /// The event that records it.
    ///
    /// # Errors
    /// None that can occur.
    pub fn event(&self, actor: &str, trace: Option<&str>) -> Made {
        let stored = StoredTransition {
            mode: self.mode,
            session_id: self.scope.session(),
            kind: self.kind,
            current: &self.current,
            requested: self.mode,
            resulting: &self.resulting,
            auto_completed: &self.auto_completed,
            message: self.message.as_deref(),
            source: self.source,
        };
        record("mode_transitioned", actor, &self.scope, trace, &stored)
    }
}

impl ModePromptDecided {
    /// The event that records it.
    ///
    /// # Errors
    /// None that can occur.
    pub fn event(&self, actor: &str, trace: Option<&str>) -> Made {
        let stored = StoredPrompt {
            session_id: self.scope.session(),
            requested_skills: &self.requested_skills,
            deferred_skills: &self.deferred_skills,
            active_skills: &self.active_skills,
            transition_messages: &self.transition_messages,
            gate: &self.gate,
        };
        record("mode_prompt_decided", actor, &self.scope, trace, &stored)
    }
}

impl ModeGateBypassed {
    /// The event that records it.
    ///
    /// # Errors
    /// None that can occur.
    pub fn event(&self, actor: &str, trace: Option<&str>) -> Made {
        let stored = StoredBypass {
            session_id: self.scope.session(),
            reason: &self.reason,
            skills: &self.skills,
        };
        record("mode_gate_bypassed", actor, &self.scope, trace, &stored)
    }
}
