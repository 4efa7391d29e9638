//! How the state of a mode is answered, and where it lies.

use crate::mode::prelude::*;
use crate::projections::mode::is_session_id;

/// Where states lie, relative to a team's directory.
pub const MODES_DIR: &str = "modes";

/// The name under which the list of active skills is read and written; it is no mode.
pub const SKILL_ACTIVE: &str = "skill-active";

/// Where a state lies: `root` or `session`
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ScopeName {
    /// For everybody.
    Root,
    /// In a session.
    Session,
}

/// The state of a mode.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ModeShown {
    /// The mode
    pub mode: Mode,
    /// Where its state lies
    pub scope: ScopeName,
    /// The session, where it lies in one
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// Whether it is active
    pub active: bool,
    /// Its phase
    pub current_phase: Option<String>,
    /// When it changed last
    pub updated_at: String,
    /// Its file, relative to the data root
    pub path: String,
    /// The last event that changed it
    pub seq: u64,
    /// All of its fields
    pub state: Fields,
}

/// What became of a request, and the state that it left.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ModeAnswer {
    /// What became of it; a denial is a refusal
    pub kind: Kind,
    /// Whether anything was recorded
    pub changed: bool,
    /// Modes that were completed for it
    pub auto_completed: Vec<Mode>,
    /// What to tell of that
    pub message: Option<String>,
    /// Modes that are active now, in the order in which they became so
    pub active_modes: Vec<Mode>,
    /// Which older spellings were given, and how they were read
    pub warnings: Vec<String>,
    /// The state
    #[serde(flatten)]
    pub shown: ModeShown,
}

/// What was decided, before it is recorded.
pub(crate) struct Decided {
    pub mode: Mode,
    /// Where the state lies that is answered.
    pub scope: Scope,
    /// Where the caller acts.
    pub acting: Scope,
    pub transition: Option<Transition>,
    pub warnings: Vec<String>,
    pub changed: bool,
}

/// The scope of an optional session.
pub fn scope(session: Option<&str>) -> Result<Scope, Refusal> {
    match session {
        Some(session) if !is_session_id(session) => {
            let rule = "must match ^[A-Za-z0-9_-]{1,64}$";
            Err(Refusal::invalid("session_id", session, rule))
        }
        session => Ok(Scope::of(session)),
    }
}

/// Where the file of a name lies, relative to the data root.
pub fn path(team: &str, scope: &Scope, name: &str) -> String {
    let teams = crate::handle::root::TEAMS_DIR;
    let session = scope
        .session()
        .map(|session| format!("sessions/{session}/"));
    let session = session.unwrap_or_default();
    format!("{teams}/{team}/{MODES_DIR}/{session}{name}-state.json")
}

impl ModeShown {
    /// Of a state.
    pub fn of(team: &str, state: ModeState) -> ModeShown {
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
    /// A change of a state without any transition.
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

    pub fn granted(self, board: Board<'_>) -> Result<Decision<Decided>> {
        Ok(Decision::Granted(self, board.into_events()))
    }

    /// Returns the answer with the state that the change left.
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
            active_modes: board::active(live, &self.acting)?,
            warnings: self.warnings.clone(),
            shown: ModeShown::of(live.team_name(), state),
        })
    }
}

/// There is no state of that mode.
pub(crate) fn missing(mode: Mode, scope: &Scope) -> Refusal {
    let place = match scope.session() {
        None => "at the root".to_owned(),
        Some(session) => format!("for session {session}"),
    };
    let message = format!("mode must be one that was started, but {mode} has no state {place}");
    let refusal = Refusal::new(Code::ModeNotFound, message).field("mode");
    match scope.session() {
        Some(session) => refusal.detail("session_id", session),
        None => refusal,
    }
}
