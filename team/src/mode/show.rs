//! `mode-show`, `mode-list`: show the states of modes for a session. The session's own states hide the root's states.

use crate::mode::prelude::*;
use crate::mode::rules::shown::ModeShown;

operation! {
    /// List the states of modes; a session's own states hide the root's
    "mode-list": Reads(ModeList {
        /// Session; its states take precedence over the states of the root
        session_id: Option<String>,
        /// List the states of the root and of every session, which is the default on the command line
        #[serde(default)]
        #[arg(long, conflicts_with_all = ["session", "root"])]
        all_sessions: bool,
        /// Only active modes
        #[serde(default)]
        #[arg(long)]
        active: bool,
        /// Largest number of sessions without an active mode; 50 if absent, and 0 means all. Sessions with an active mode are
        /// always listed
        #[arg(long, value_name = "N", conflicts_with_all = ["session", "root"], value_parser = crate::argv::whole::<usize>)]
        limit: Option<usize>,
        /// `next_cursor` of the previous page; later pages leave out the root
        #[arg(long, value_name = "SESSION", conflicts_with_all = ["session", "root"])]
        cursor: Option<String>,
    }) -> ModeListAnswer as mode_list
}

operation! {
    /// Read the state of a mode
    "mode-show": Reads(ModeShow {
        /// Name of the mode
        #[schemars(with = "Mode")]
        #[arg(value_name = "MODE")]
        mode: String,
        /// Session; its state takes precedence over the state of the root
        session_id: Option<String>,
    }) -> ModeShowAnswer as mode_show,
    refuses = [UnsupportedMode, ModeNotFound]
}

/// The answer `{mode}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ModeShowAnswer {
    /// The session's own state, or else the root's
    pub mode: ModeShown,
    /// The root's state, if the session's state hides it
    pub hidden: Option<ModeShown>,
}

/// The states of modes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ModeListAnswer {
    /// Modes that are active for the session or at the root, in the order of their starts
    pub active_modes: Vec<Mode>,
    /// The states, in canonical order of the modes
    pub modes: Vec<ModeShown>,
    /// Cursor of the next page; absent on the last page
    pub next_cursor: Option<String>,
}

impl ModeShow {
    fn answer(&self, live: &Live) -> Result<ModeShowAnswer> {
        let mode = skill::mode(&self.mode)?;
        let scope = scope(self.session_id.as_deref())?;
        let mut states = Vec::new();
        for scope in decision::visible_from(&scope) {
            states.extend(live.mode_state(&scope, mode)?);
        }
        let team = live.team_name();
        let mut states = states.into_iter().map(|state| ModeShown::new(team, state));
        match states.next() {
            None => Err(missing(mode, &scope).into()),
            Some(mode) => Ok(ModeShowAnswer {
                mode,
                hidden: states.next(),
            }),
        }
    }
}

impl ModeList {
    fn answer(&self, live: &Live) -> Result<ModeListAnswer> {
        let scope = scope(self.session_id.as_deref())?;
        let (mut states, next_cursor) = match self.all_sessions {
            true => self.everywhere(live)?,
            false => (visible(live, &scope)?, None),
        };
        states.retain(|state| state.is_active() || !self.active);
        let team = live.team_name();
        let states = states.into_iter().map(|state| ModeShown::new(team, state));
        Ok(ModeListAnswer {
            active_modes: decision::active(live, &scope)?,
            modes: states.collect(),
            next_cursor,
        })
    }

    /// Returns the states of the root, of all sessions with active modes, and of a page of the sessions without active modes.
    fn everywhere(&self, live: &Live) -> Result<(Vec<ModeState>, Option<String>)> {
        let limit = page::limit(self.limit, page::PAGE);
        let after = self.cursor.as_deref();
        // Reads all sessions with active modes, because a team has few such sessions.
        let mut active = live.active_sessions()?;
        let mut sessions = match self.active {
            true => {
                let mut sessions = std::mem::take(&mut active);
                sessions.retain(|session| after.is_none_or(|after| session.as_str() > after));
                sessions
            }
            false => {
                let looked_at = limit.saturating_add(active.len()).saturating_add(1);
                let mut sessions = live.mode_sessions(after, looked_at)?;
                sessions.retain(|session| !active.contains(session));
                sessions
            }
        };
        let more = page::cut(&mut sessions, limit);
        let next = sessions.last().filter(|_| more).cloned();
        let root = after.is_none().then_some(Scope::Root);
        // The first page contains every session with an active mode, regardless of the order.
        if after.is_none() {
            sessions.extend(active);
            sessions.sort_unstable();
        }
        let mut states = Vec::new();
        let sessions = sessions.into_iter().map(Scope::Session);
        for scope in root.into_iter().chain(sessions) {
            states.extend(own(live, &scope)?);
        }
        Ok((states, next))
    }
}

/// Returns the states of one scope.
pub(crate) fn own(live: &Live, scope: &Scope) -> Result<Vec<ModeState>> {
    let mut states = Vec::new();
    let own = live.mode_scope(scope)?;
    for entry in own.iter().flat_map(|own| &own.entries) {
        states.extend(live.mode_state(scope, entry.mode)?);
    }
    Ok(states)
}

/// Returns the states that a caller in a scope sees.
pub(crate) fn visible(live: &Live, scope: &Scope) -> Result<Vec<ModeState>> {
    let mut states: Vec<ModeState> = Vec::new();
    for scope in decision::visible_from(scope) {
        for state in own(live, &scope)? {
            if !states.iter().any(|other| other.mode == state.mode) {
                states.push(state);
            }
        }
    }
    states.sort_by_key(|state| state.mode);
    Ok(states)
}
