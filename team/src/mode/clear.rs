//! `mode-clear`: takes the state of a mode away, active or not.
//!
//! In a session where the root holds a state of the mode as well, a tombstone stays: without it that state would count
//! for the session from then on.

use crate::mode::prelude::*;

operation! {
    /// Take the state of a mode away, active or not
    "mode-clear": Records(ModeClear {
        /// The mode
        #[schemars(with = "Mode")]
        #[serde(deserialize_with = "typed::mode")]
        mode: String,
        /// The session; else the state of the root is cleared
        #[serde(deserialize_with = "typed::session_id")]
        session_id: Option<String>,
        /// Whether the state of the root and those of all sessions are cleared
        #[serde(default)]
        all_sessions: bool,
    }) -> ModeCleared as mode_clear,
    refuses = [UnsupportedMode]
}

/// What was cleared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ModeCleared {
    /// Always true: nothing of it is left, or nothing was there
    pub cleared: bool,
    /// The mode
    pub mode: Mode,
    /// The session, where one was named
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// Whether all sessions were meant
    pub all_sessions: bool,
    /// How many states went
    pub removed: u64,
    /// Their files, relative to the data root
    pub paths: Vec<String>,
    /// Whether a tombstone hides the state of the root from the session
    pub tombstone: bool,
    /// Modes that are active now, in the order in which they became so
    pub active_modes: Vec<Mode>,
}

/// What is to be cleared.
#[derive(Debug, Clone)]
struct Plan {
    mode: Mode,
    acting: Scope,
    scopes: Vec<Scope>,
    tombstone: bool,
}

impl ModeClear {
    fn plan(&self, live: &Live, board: &Board<'_>) -> Result<Plan> {
        let mode = skill::mode(&self.mode)?;
        let acting = scope(self.session_id.as_deref())?;
        let mut plan = Plan {
            mode,
            acting: acting.clone(),
            scopes: Vec::new(),
            tombstone: false,
        };
        if self.all_sessions {
            if acting != Scope::Root {
                let message = "all_sessions must stand alone, but a session_id is given too";
                let refusal = Refusal::new(Code::InvalidInput, message);
                return Err(refusal.field("all_sessions").into());
            }
            let sessions = live.sessions_with(mode)?;
            plan.scopes.extend(sessions.into_iter().map(Scope::Session));
        }
        let at_root = board.state(&Scope::Root, mode)?.is_some();
        match &acting {
            Scope::Root if at_root => plan.scopes.push(Scope::Root),
            Scope::Root => {}
            session => {
                let own = board.state(session, mode)?;
                plan.tombstone = at_root;
                let done = own.as_ref().is_some_and(is_tombstone) && at_root;
                if !done && (at_root || own.is_some()) {
                    plan.scopes.push(session.clone());
                }
            }
        }
        Ok(plan)
    }
}

impl Command for ModeClear {
    type Decided = ModeCleared;
    type Answer = ModeCleared;

    fn decide(&self, live: &Live, now: Timestamp) -> Result<Decision<ModeCleared>> {
        let mut board = Board::new(live, now);
        let plan = self.plan(live, &board)?;
        for scope in &plan.scopes {
            board.release(scope, plan.mode, Exit::Abort)?;
            board.clear(scope, plan.mode, plan.tombstone)?;
        }
        let name = plan.mode.name();
        let paths = plan.scopes.iter();
        let paths: Vec<String> = paths
            .map(|scope| path(live.team_name(), scope, name))
            .collect();
        let cleared = ModeCleared {
            cleared: true,
            mode: plan.mode,
            session_id: plan.acting.session().map(str::to_owned),
            all_sessions: self.all_sessions,
            removed: paths.len() as u64,
            paths,
            tombstone: plan.tombstone,
            active_modes: board.active(&plan.acting)?,
        };
        Ok(Decision::Granted(cleared, board.into_events()))
    }

    fn answer(&self, cleared: &ModeCleared, after: &After<'_>) -> Result<ModeCleared> {
        let acting = Scope::of(cleared.session_id.as_deref());
        Ok(ModeCleared {
            active_modes: board::active(after.live, &acting)?,
            ..cleared.clone()
        })
    }
}
