//! Events of modes: changes of their states and of the list of active skills, and the JSON of their payloads.
//!
//! An event without `session_id` is about the root scope. `seen_at` is the time of the session's sign of life. `seen_at` is set
//! only if the log's times are ahead of the clock; otherwise the sign of life has the event's own time.

mod scope;
mod tracked;

use crate::event::*;
pub(crate) use scope::check_session;
pub use scope::{Scope, is_session_id};
use serde_json::{Map, Value};
pub use tracked::Mode;

/// The fields of a state, or some of them.
pub type Fields = Map<String, Value>;

events! {
    /// Events of modes. The last three change no state.
    #[derive(Serialize)]
    #[serde(untagged)]
    pub enum ModeFact {
        /// A mode was started.
        "mode_started" by "teamlog mode start" => Started: ModeStarted {
            /// The mode.
            pub mode: Mode,
            /// Scope of the state.
            #[serde(flatten)]
            pub scope: Scope,
            /// The whole new state, which replaces the old one.
            pub state: Fields,
            /// Time of the change, if it differs from the event's time.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub seen_at: Option<Timestamp>,
        },
        /// A mode's fields or phase changed.
        "mode_updated" by "teamlog mode update" => Updated: ModeChanged {
            /// The mode.
            pub mode: Mode,
            /// Scope of the state.
            #[serde(flatten)]
            pub scope: Scope,
            /// New values of fields.
            pub set: Fields,
            /// Fields to remove.
            pub unset: Vec<String>,
            /// Time of the change, if it differs from the event's time.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub seen_at: Option<Timestamp>,
        },
        /// A mode was completed.
        "mode_completed" by "teamlog mode complete" => Completed(ModeChanged),
        /// A mode failed.
        "mode_failed" by "teamlog mode fail" => Failed(ModeChanged),
        /// A mode was canceled.
        "mode_canceled" by "teamlog mode cancel" => Canceled(ModeChanged),
        /// A mode was completed because another one took over.
        "mode_auto_completed" by "teamlog mode start" => AutoCompleted(ModeChanged),
        /// A mode's state was cleared.
        "mode_cleared" by "teamlog mode clear" => Cleared: ModeCleared {
            /// The mode.
            pub mode: Mode,
            /// Scope of the state.
            #[serde(flatten)]
            pub scope: Scope,
            /// True if a tombstone stays. The tombstone hides the state of the root.
            pub tombstone: bool,
        },
        /// Input was locked for an interview.
        "mode_input_locked" by "teamlog mode prompt" => InputLocked: InputLock {
            /// The mode that holds the lock.
            pub mode: Mode,
            /// Scope of the lock.
            #[serde(flatten)]
            pub scope: Scope,
            /// Fields of the lock.
            pub input_lock: Fields,
        },
        /// The lock on input was released.
        "mode_input_unlocked" by "teamlog mode prompt" => InputUnlocked(InputLock),
        /// The list of active skills was updated.
        "mode_skills_synced" by "teamlog mode start" => SkillsSynced: SkillsSynced {
            /// Scope of the list.
            #[serde(flatten)]
            pub scope: Scope,
            /// The active modes, in order. The modes follow from the states; the event repeats them for readers of the log.
            pub skills: Vec<Mode>,
            /// Fields beside the list; `null` removes a field.
            pub metadata: Fields,
        },
        /// A session gave a sign of life and changed nothing else.
        "mode_session_seen" by "teamlog mode prompt" => SessionSeen: SessionSeen [session session] {
            /// Id of the session.
            #[serde(rename = "session_id")]
            pub session: String,
            /// Time of the sign of life, if it differs from the event's time.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub seen_at: Option<Timestamp>,
        },
        /// A session ended; its modes ended with it.
        "mode_session_ended" by "teamlog mode end-session" => SessionEnded: SessionEnded [session session] {
            /// Id of the session.
            #[serde(rename = "session_id")]
            pub session: String,
            /// Reason of the end.
            pub reason: SessionEnd,
            /// Last sign of life of the session. The end of its modes is no sign of life.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub last_seen_at: Option<Timestamp>,
            /// Explanation for people.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub note: Option<String>,
        },
        /// A hand-off between modes was decided.
        "mode_transitioned" by "teamlog mode start" => Transitioned,
        /// A prompt that names several skills was evaluated.
        "mode_prompt_decided" by "teamlog mode prompt" => PromptDecided,
        /// The gate before an execution mode was bypassed on purpose.
        "mode_gate_bypassed" by "teamlog mode prompt" => GateBypassed,
    }
}

words! {
    /// Reason for which fields of a state change, named by the kind of the event.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Change {
        /// The caller changed fields.
        Updated = "mode_updated",
        /// The mode is completed.
        Completed = "mode_completed",
        /// The mode failed.
        Failed = "mode_failed",
        /// The mode was canceled.
        Canceled = "mode_canceled",
        /// Another mode took over.
        AutoCompleted = "mode_auto_completed",
    }
}

/// Reason for which a session ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionEnd {
    /// The caller ended the session.
    Ended,
    /// The session gave no sign of life for too long and blocked another mode.
    Stale,
}

/// `mode_transitioned`: the decision on a requested mode while others were active.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ModeTransitioned {
    /// The mode that was requested.
    pub mode: Mode,
    /// The requested mode, under a second name.
    pub requested: Mode,
    /// Scope of the mode.
    #[serde(flatten)]
    pub scope: Scope,
    /// Kind of transition: `overlap`, `auto-complete`.
    pub kind: &'static str,
    /// Modes active before.
    pub current: Vec<Mode>,
    /// Modes active after.
    pub resulting: Vec<Mode>,
    /// Modes that the transition completes.
    pub auto_completed: Vec<Mode>,
    /// Explanation for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Source of the request.
    pub source: &'static str,
}

/// `mode_prompt_decided`: the decision on a prompt with skills.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ModePromptDecided {
    /// Scope of the modes.
    #[serde(flatten)]
    pub scope: Scope,
    /// Skills that the prompt names.
    pub requested_skills: Vec<String>,
    /// Skills that are deferred.
    pub deferred_skills: Vec<String>,
    /// Skills active after the decision.
    pub active_skills: Vec<String>,
    /// Explanations for people.
    pub transition_messages: Vec<String>,
    /// Outcome of the execution gate, in one word.
    pub gate: String,
}

/// Payload of `mode_gate_bypassed`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ModeGateBypassed {
    /// Scope of the modes.
    #[serde(flatten)]
    pub scope: Scope,
    /// Reason for which the gate was bypassed.
    pub reason: String,
    /// Skills that the gate would have deferred.
    pub skills: Vec<String>,
}

/// A built event, or an error if the caller's data are nested too deep for an event.
type EventResult = Result<NewEvent, JsonError>;

impl Change {
    /// Returns the fact of a change with this reason.
    pub fn into_fact(self, changed: ModeChanged) -> ModeFact {
        match self {
            Change::Updated => ModeFact::Updated(changed),
            Change::Completed => ModeFact::Completed(changed),
            Change::Failed => ModeFact::Failed(changed),
            Change::Canceled => ModeFact::Canceled(changed),
            Change::AutoCompleted => ModeFact::AutoCompleted(changed),
        }
    }
}

fn record(
    fact: &ModeFact,
    actor: &str,
    scope: Option<&Scope>,
    trace: Option<&str>,
    payload: &impl Serialize,
) -> EventResult {
    let session = scope.and_then(Scope::session);
    let refs = [(RefKind::Session, session), (RefKind::Trace, trace)];
    Ok(event(fact.kind(), actor, Json::from_value(payload)?, refs))
}

impl ModeFact {
    /// Returns the scope whose state the fact changes.
    pub fn scope(&self) -> Option<Scope> {
        Some(match self {
            ModeFact::Started(fact) => fact.scope.clone(),
            ModeFact::Updated(fact)
            | ModeFact::Completed(fact)
            | ModeFact::Failed(fact)
            | ModeFact::Canceled(fact)
            | ModeFact::AutoCompleted(fact) => fact.scope.clone(),
            ModeFact::Cleared(fact) => fact.scope.clone(),
            ModeFact::InputLocked(fact) | ModeFact::InputUnlocked(fact) => fact.scope.clone(),
            ModeFact::SkillsSynced(fact) => fact.scope.clone(),
            ModeFact::SessionSeen(fact) => Scope::Session(fact.session.clone()),
            ModeFact::SessionEnded(fact) => Scope::Session(fact.session.clone()),
            ModeFact::Transitioned | ModeFact::PromptDecided | ModeFact::GateBypassed => {
                return None;
            }
        })
    }
    /// Returns the time at which the session gave a sign of life. `at` is the time of the event. Returns `None` if the session
    /// did not act itself.
    pub fn sign_of_life(&self, at: Timestamp) -> Option<Timestamp> {
        let seen_at = match self {
            ModeFact::Started(started) => started.seen_at,
            ModeFact::SessionSeen(seen) => seen.seen_at,
            ModeFact::Updated(changed)
            | ModeFact::Completed(changed)
            | ModeFact::Failed(changed)
            | ModeFact::Canceled(changed) => changed.seen_at,
            _ => return None,
        };
        Some(seen_at.unwrap_or(at))
    }
    /// Builds the event of a fact that changes state.
    pub fn event(&self, actor: &str, trace: Option<&str>) -> EventResult {
        record(self, actor, self.scope().as_ref(), trace, self)
    }
}

/// Declares the events of decisions, which change no state.
macro_rules! decisions {
    ($($decision:ident => $fact:ident),*) => {
        $(impl $decision {
            /// Builds the event.
            pub fn event(&self, actor: &str, trace: Option<&str>) -> EventResult {
                record(&ModeFact::$fact, actor, Some(&self.scope), trace, self)
            }
        })*
    };
}

decisions! {
    ModeTransitioned => Transitioned,
    ModePromptDecided => PromptDecided,
    ModeGateBypassed => GateBypassed
}
