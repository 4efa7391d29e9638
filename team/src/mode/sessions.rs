//! `mode-sessions`, `mode-end-session`: the sessions of a team, with their start, last activity and end.

use crate::mode::prelude::*;

operation! {
    /// List the sessions of a team
    "mode-sessions": Reads(ModeSessions {
        /// Largest number of sessions; 50 if absent, and 0 means all
        #[arg(long, value_name = "N", value_parser = crate::argv::whole::<usize>)]
        limit: Option<usize>,
        /// `next_cursor` of the previous page
        #[arg(long, value_name = "SESSION")]
        cursor: Option<String>,
    }) -> SessionsAnswer = Team::mode_sessions
}

operation! {
    /// End a session, and cancel its active modes
    "mode-end-session": Records(ModeEndSession {
        /// Id of the session
        session_id: String,
        /// Reason of the end
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
    }) -> SessionEndedAnswer as mode_end_session
}

/// A session of a team.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionShown {
    /// Id of the session
    pub session_id: String,
    /// Time of the session's first activity; if the session began again after an end, time of the first activity after that end
    pub started_at: String,
    /// Time of the session's last activity
    pub last_seen_at: String,
    /// Time of the session's end; `null` if it has not ended
    pub ended_at: Option<String>,
    /// True if the session has not ended and was active within `modes.session_stale_seconds`
    pub live: bool,
    /// Modes that are active in the session, in the order of their starts
    pub active_modes: Vec<Mode>,
}

/// The sessions of a team, ordered by id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionsAnswer {
    /// The sessions of the page
    pub sessions: Vec<SessionShown>,
    /// Cursor of the next page; absent on the last page
    pub next_cursor: Option<String>,
}

/// A session after its end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionEndedAnswer {
    /// Id of the session
    pub session_id: String,
    /// True if an event was recorded; false if the session is unknown or has ended before
    pub changed: bool,
    /// Modes that were canceled with the session
    pub canceled: Vec<Mode>,
    /// Time of the session's end; `null` if the session is unknown
    pub ended_at: Option<String>,
}

impl Team {
    /// Lists the sessions of a team.
    pub fn mode_sessions(&mut self, asked: ModeSessions) -> Result<SessionsAnswer> {
        let now = self.now();
        self.query(|live, _| {
            let limit = page::limit(asked.limit, page::PAGE);
            let after = asked.cursor.as_deref();
            let mut names = live.sessions(after, limit.saturating_add(1))?;
            let more = page::cut(&mut names, limit);
            let mut sessions = Vec::new();
            for name in &names {
                sessions.extend(shown(live, name, now)?);
            }
            Ok(SessionsAnswer {
                sessions,
                next_cursor: names.pop().filter(|_| more),
            })
        })
    }
}

fn shown(live: &Live, session: &str, now: Timestamp) -> Result<Option<SessionShown>> {
    let Some(life) = live.session_life(session)? else {
        return Ok(None);
    };
    let stale = live.setting(Setting::SessionStale)?.0.number();
    let own = live.mode_scope(&Scope::Session(session.to_owned()))?;
    let mut active = own.as_ref().map(|own| own.active()).unwrap_or_default();
    active.sort_by_key(|entry| entry.activated);
    Ok(Some(SessionShown {
        session_id: life.session.clone(),
        started_at: life.started_at.to_string(),
        last_seen_at: life.seen_at.to_string(),
        ended_at: life.ended_at.map(|at| at.to_string()),
        live: life.is_live(now, stale),
        active_modes: active.into_iter().map(|entry| entry.mode).collect(),
    }))
}

impl Command for ModeEndSession {
    type Decided = Vec<Mode>;
    type Answer = SessionEndedAnswer;

    fn terms(&self) -> CommandTerms<'_> {
        CommandTerms::new(Authority::Anyone)
    }

    fn decide(&self, ctx: &Ctx, live: &Live) -> Result<Decision<Vec<Mode>>> {
        let session = &self.session_id;
        scope(Some(session))?;
        if let Some(reason) = &self.reason {
            names::filled("reason", reason)?;
        }
        let mut decision = ModeDecision::for_call(ctx, live);
        let life = live.session_life(session)?;
        if life.is_none_or(|life| life.ended_at.is_some()) {
            return Ok(Decision::Granted(Vec::new(), Vec::new()));
        }
        let note = self.reason.clone();
        let canceled = decision.end_session(session, SessionEnd::Ended, note)?;
        Ok(Decision::Granted(canceled, decision.into_events()))
    }

    fn answer(&self, canceled: &Vec<Mode>, after: &After<'_>) -> Result<SessionEndedAnswer> {
        let life = after.live.session_life(&self.session_id)?;
        Ok(SessionEndedAnswer {
            session_id: self.session_id.clone(),
            changed: !after.events.is_empty(),
            canceled: canceled.clone(),
            ended_at: life.and_then(|life| life.ended_at).map(|at| at.to_string()),
        })
    }
}
