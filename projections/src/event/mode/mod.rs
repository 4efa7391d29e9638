//! Modes: what happens to their states, and to the list of active skills; and the JSON of those payloads.
//!
//! Without `session_id` an event is about the root. `seen_at` is when the session gave this sign of life, where the log's times
//! lie ahead of the clock; else it is the event's own time.

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
    /// What happens to modes. The last three move nothing.
    #[derive(Serialize)]
    #[serde(untagged)]
    pub enum ModeFact {
        /// A mode was started.
        "mode_started" by "teamlog mode start" => Started: ModeStarted {
            /// The mode.
            pub mode: Mode,
            /// Where.
            #[serde(flatten)]
            pub scope: Scope,
            /// All of its state, which takes the place of whatever was there.
            pub state: Fields,
            /// When it happened, where the event's own time does not say so.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub seen_at: Option<Timestamp>,
        },
        /// A mode's fields or phase changed.
        "mode_updated" by "teamlog mode update" => Updated: ModeChanged {
            /// The mode.
            pub mode: Mode,
            /// Where.
            #[serde(flatten)]
            pub scope: Scope,
            /// New values.
            pub set: Fields,
            /// Fields that go.
            pub unset: Vec<String>,
            /// When it happened, where the event's own time does not say so.
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
            /// Where.
            #[serde(flatten)]
            pub scope: Scope,
            /// Whether something stays that says so, and hides the state of the root.
            pub tombstone: bool,
        },
        /// Input was locked for an interview.
        "mode_input_locked" by "teamlog mode prompt" => InputLocked: InputLock {
            /// The mode that holds the lock.
            pub mode: Mode,
            /// Where.
            #[serde(flatten)]
            pub scope: Scope,
            /// All that there is to say of the lock.
            pub input_lock: Fields,
        },
        /// The lock on input was released.
        "mode_input_unlocked" by "teamlog mode prompt" => InputUnlocked(InputLock),
        /// The list of active skills was brought in line.
        "mode_skills_synced" by "teamlog mode start" => SkillsSynced: SkillsSynced {
            /// Where.
            #[serde(flatten)]
            pub scope: Scope,
            /// The modes that are active there, in order; for readers of the log, as the list follows from the states.
            pub skills: Vec<Mode>,
            /// What is said beside the list; a `null` takes a field away.
            pub metadata: Fields,
        },
        /// A session gave a sign of life that changed nothing else.
        "mode_session_seen" by "teamlog mode prompt" => SessionSeen: SessionSeen [session session] {
            /// The session.
            #[serde(rename = "session_id")]
            pub session: String,
            /// When it was, where the event's own time does not say so.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub seen_at: Option<Timestamp>,
        },
        /// A session ended, and the modes in it with it.
        "mode_session_ended" by "teamlog mode end-session" => SessionEnded: SessionEnded [session session] {
            /// The session.
            #[serde(rename = "session_id")]
            pub session: String,
            /// Why.
            pub reason: SessionEnd,
            /// Its last sign of life; the end of its modes is not one.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub last_seen_at: Option<Timestamp>,
            /// For people.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub note: Option<String>,
        },
        /// A hand-off between modes was decided.
        "mode_transitioned" by "teamlog mode start" => Transitioned,
        /// A prompt with several skills was decided whole.
        "mode_prompt_decided" by "teamlog mode prompt" => PromptDecided,
        /// The gate before an execution mode was bypassed on purpose.
        "mode_gate_bypassed" by "teamlog mode prompt" => GateBypassed,
    }
}

words! {
    /// Why fields of a state change; the name is the kind of the event.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Change {
        /// Somebody said so.
        Updated = "mode_updated",
        /// It is done.
        Completed = "mode_completed",
        /// It failed.
        Failed = "mode_failed",
        /// It was canceled.
        Canceled = "mode_canceled",
        /// Another mode took over.
        AutoCompleted = "mode_auto_completed",
    }
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

/// `mode_transitioned`: what was decided where other modes were active.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ModeTransitioned {
    /// The mode that was requested.
    pub mode: Mode,
    /// The same.
    pub requested: Mode,
    /// Where.
    #[serde(flatten)]
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
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// What sort of request led to it.
    pub source: &'static str,
}

/// `mode_prompt_decided`: a prompt with skills was decided as a whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ModePromptDecided {
    /// Where.
    #[serde(flatten)]
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ModeGateBypassed {
    /// Where.
    #[serde(flatten)]
    pub scope: Scope,
    /// Why it let the prompt pass.
    pub reason: String,
    /// What it would have held back.
    pub skills: Vec<String>,
}

/// How an event comes to be: an error where what somebody gave is too deep for an event.
type Made = Result<NewEvent, JsonError>;

impl Change {
    /// That fields changed for this reason.
    pub fn of(self, changed: ModeChanged) -> ModeFact {
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
) -> Made {
    let session = scope.and_then(Scope::session);
    let refs = [(RefKind::Session, session), (RefKind::Trace, trace)];
    Ok(event(fact.kind(), actor, Json::from_value(payload)?, refs))
}

impl ModeFact {
    /// Where something is moved.
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
    /// When the session gave a sign of life by this event, which happened `at`; `None` where others did something to it.
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
    /// The event that records what moves something.
    pub fn event(&self, actor: &str, trace: Option<&str>) -> Made {
        record(self, actor, self.scope().as_ref(), trace, self)
    }
}

/// Declares the events of decisions, which move nothing.
macro_rules! decisions {
    ($($decision:ident => $fact:ident),*) => {
        $(impl $decision {
            /// The event that records it.
            pub fn event(&self, actor: &str, trace: Option<&str>) -> Made {
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
