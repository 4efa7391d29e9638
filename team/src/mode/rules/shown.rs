//! Answers with the state of a mode, and the paths of states.

use crate::mode::prelude::*;
use crate::projections::mode::is_session_id;

/// Directory of the states, relative to a team's directory.
pub const MODES_DIR: &str = "modes";

/// Name of the list of active skills in the state operations. The list is not a mode.
pub const SKILL_ACTIVE: &str = "skill-active";

/// Scope of a state: `root` or `session`
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ScopeName {
    /// Valid for all sessions.
    Root,
    /// Valid for one session.
    Session,
}

/// The state of a mode.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ModeShown {
    /// The mode
    pub mode: Mode,
    /// Scope of the state
    pub scope: ScopeName,
    /// The session, if the state belongs to one
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// True if the mode is active
    pub active: bool,
    /// Phase of the mode
    pub current_phase: Option<String>,
    /// Time of the last change
    pub updated_at: String,
    /// File of the state, relative to the data root
    pub path: String,
    /// Seq of the last event that changed the state
    pub seq: u64,
    /// All fields of the state
    pub state: Fields,
}

/// Result of a request about a mode, with the resulting state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ModeAnswer {
    /// Kind of the transition; never a denial, which is a refusal
    pub kind: Kind,
    /// True if an event was recorded
    pub changed: bool,
    /// Modes that were completed because of the request
    pub auto_completed: Vec<Mode>,
    /// Message about the completed modes; `null` if none was completed
    pub message: Option<String>,
    /// Modes that are active now, in the order of their starts
    pub active_modes: Vec<Mode>,
    /// Warnings about outdated spellings, each with the present value
    pub warnings: Vec<String>,
    /// The state
    #[serde(flatten)]
    pub shown: ModeShown,
}

/// A decision on a request that is not recorded yet.
pub(crate) struct Decided {
    pub mode: Mode,
    /// Scope of the state in the answer.
    pub scope: Scope,
    /// Scope of the caller.
    pub acting: Scope,
    pub transition: Option<Transition>,
    pub warnings: Vec<String>,
    pub changed: bool,
}

/// Returns the scope of an optional session.
pub fn scope(session: Option<&str>) -> Result<Scope, Refusal> {
    match session {
        Some(session) if !is_session_id(session) => {
            let rule = "must match ^[A-Za-z0-9_-]{1,64}$";
            Err(Refusal::invalid("session_id", session, rule))
        }
        session => Ok(Scope::for_session(session)),
    }
}

/// Returns the path of a state, relative to the data root. `name` is a mode or `skill-active`.
pub fn path(team: &str, scope: &Scope, name: &str) -> String {
    let teams = crate::handle::root::TEAMS_DIR;
    let session = scope
        .session()
        .map(|session| format!("sessions/{session}/"));
    let session = session.unwrap_or_default();
    format!("{teams}/{team}/{MODES_DIR}/{session}{name}-state.json")
}

impl ModeShown {
    /// Creates the answer for a state.
    pub fn new(team: &str, state: ModeState) -> ModeShown {
        let fields = state.shown();
        let text = |field: &str| fields.get(field).and_then(|value| value.as_str());
        ModeShown {
            mode: state.mode,
            scope: match state.scope {
                Scope::Root => ScopeName::Root,
                Scope::Session(_) => ScopeName::Session,
            },
            session_id: state.scope.session().map(str::to_owned),
            active: state.is_active(),
            current_phase: state.phase().map(str::to_owned),
            updated_at: text("updated_at").unwrap_or_default().to_owned(),
            path: path(team, &state.scope, state.mode.name()),
            seq: state.seq,
            state: fields,
        }
    }
}

impl Decided {
    /// Creates the decision for a change without a transition.
    pub fn new(mode: Mode, scope: Scope, acting: Scope) -> Decided {
        Decided {
            mode,
            scope,
            acting,
            transition: None,
            warnings: Vec::new(),
            changed: true,
        }
    }

    pub fn granted(self, decision: ModeDecision<'_>) -> Result<Decision<Decided>> {
        Ok(Decision::Granted(self, decision.into_events()))
    }

    /// Returns the answer with the state after the change.
    pub fn answer(&self, live: &Live) -> Result<ModeAnswer> {
        let Some(state) = live.mode_state(&self.scope, self.mode)? else {
            return Err(missing(self.mode, &self.scope).into());
        };
        let (kind, auto_completed, message) = match self.transition.clone() {
            Some(told) => (told.kind, told.auto_completed, told.message),
            None => (Kind::Allow, Vec::new(), None),
        };
        Ok(ModeAnswer {
            kind,
            changed: self.changed,
            auto_completed,
            message,
            active_modes: decision::active(live, &self.acting)?,
            warnings: self.warnings.clone(),
            shown: ModeShown::new(live.team_name(), state),
        })
    }
}

/// Returns the refusal for a mode without a state in the scope.
pub(crate) fn missing(mode: Mode, scope: &Scope) -> Refusal {
    let place = match scope.session() {
        None => "at the root".to_owned(),
        Some(session) => format!("for session {session}"),
    };
    let message = format!("{mode} has no state {place}");
    let refusal = Refusal::new(Code::ModeNotFound, message).field("mode");
    match scope.session() {
        Some(session) => refusal.detail("session_id", session),
        None => refusal,
    }
}
