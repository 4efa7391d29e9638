//! `mode-clear`: removes the state of a mode, active or not.
//!
//! If both a session and the root have a state of the mode, clearing the session leaves a tombstone. Without the tombstone, the root's
//! state would become the session's state.

use crate::mode::prelude::*;

operation! {
    /// Remove the state of a mode, active or not
    "mode-clear": Records(ModeClear {
        /// Name of the mode
        #[schemars(with = "Mode")]
        #[serde(deserialize_with = "typed::mode")]
        #[arg(value_name = "MODE")]
        mode: String,
        /// Session of the mode; the root if absent
        #[serde(deserialize_with = "typed::session_id")]
        session_id: Option<String>,
        /// Clear the states of the root and of all sessions
        #[serde(default)]
        #[arg(long, conflicts_with_all = ["session", "root"])]
        all_sessions: bool,
    }) -> ModeCleared as mode_clear,
    refuses = [UnsupportedMode, WorkerNotFound]
}

/// Result of a clear.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ModeCleared {
    /// Always true: no state is left
    pub cleared: bool,
    /// The mode
    pub mode: Mode,
    /// The session, if the request named one
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// True if all sessions were cleared
    pub all_sessions: bool,
    /// Number of states removed
    pub removed: u64,
    /// Files of the removed states, relative to the data root
    pub paths: Vec<String>,
    /// True if a tombstone hides the root's state from the session
    pub tombstone: bool,
    /// Modes that are active now, in the order of their starts
    pub active_modes: Vec<Mode>,
}

impl ModeClear {
    /// Returns the scopes to clear. The flag is true if a tombstone remains.
    fn scopes(
        &self,
        acting: &Scope,
        mode: Mode,
        (live, decision): (&Live, &ModeDecision<'_>),
    ) -> Result<(Vec<Scope>, bool)> {
        let mut scopes = Vec::new();
        if self.all_sessions {
            if *acting != Scope::Root {
                let message = "give either all_sessions or session_id, not both";
                let refusal = Refusal::new(Code::InvalidInput, message);
                return Err(refusal.field("all_sessions").into());
            }
            scopes.extend(live.sessions_with(mode)?.into_iter().map(Scope::Session));
        }
        let own = decision.state(acting, mode)?;
        let hides = *acting != Scope::Root && decision.state(&Scope::Root, mode)?.is_some();
        let is_done = hides && own.as_ref().is_some_and(is_tombstone);
        if !is_done && (hides || own.is_some()) {
            scopes.push(acting.clone());
        }
        Ok((scopes, hides))
    }
}

impl Command for ModeClear {
    type Decided = ModeCleared;
    type Answer = ModeCleared;

    fn terms(&self) -> CommandTerms<'_> {
        CommandTerms::new(Authority::Anyone).members_only()
    }

    fn decide(&self, ctx: &Ctx, live: &Live) -> Result<Decision<ModeCleared>> {
        let mode = skill::mode(&self.mode)?;
        let acting = scope(self.session_id.as_deref())?;
        let mut decision = ModeDecision::for_call(ctx, live);
        let (scopes, tombstone) = self.scopes(&acting, mode, (live, &decision))?;
        for scope in &scopes {
            decision.release(scope, mode, Exit::Abort)?;
            decision.clear(scope, mode, tombstone)?;
        }
        let path = |scope| path(live.team_name(), scope, mode.name());
        let paths: Vec<String> = scopes.iter().map(path).collect();
        let cleared = ModeCleared {
            cleared: true,
            mode,
            session_id: acting.session().map(str::to_owned),
            all_sessions: self.all_sessions,
            removed: paths.len() as u64,
            paths,
            tombstone,
            active_modes: decision.active(&acting)?,
        };
        Ok(Decision::Granted(cleared, decision.into_events()))
    }

    fn answer(&self, cleared: &ModeCleared, _: &After<'_>) -> Result<ModeCleared> {
        Ok(cleared.clone())
    }
}
