//! Questions to the rows of modes.

use super::row::{
    ACTIVE, LIFE, LifeRow, ModeScope, ModeState, SESSIONS, ScopeRow, SessionLife, StateRow, fields,
    scope_key, sessions_with, state_key,
};
use super::{Mode, Scope};
use crate::prelude::*;

impl Live {
    /// The state of a mode in a scope.
    pub fn mode_state(&self, scope: &Scope, mode: Mode) -> Result<Option<ModeState>> {
        let row: Option<StateRow> = self.rows().get(&state_key(scope, mode))?;
        Ok(row.map(|row| ModeState {
            mode,
            scope: scope.clone(),
            fields: fields(&row.text),
            seq: row.seq,
            activated: row.activated,
            trace_id: row.trace_id,
        }))
    }
    /// The states of a scope in short; `None` where nothing is known of it.
    pub fn mode_scope(&self, scope: &Scope) -> Result<Option<ModeScope>> {
        let row: Option<ScopeRow> = self.rows().get(&scope_key(scope))?;
        Ok(row.map(|row| ModeScope {
            scope: scope.clone(),
            entries: row.entries,
            primary: row.primary,
            metadata: fields(&row.metadata),
            seq: row.seq,
            at: time(row.at),
        }))
    }
    /// Sessions of which any mode is known, in order, from behind `after` on.
    pub fn mode_sessions(&self, after: Option<&str>, limit: usize) -> Result<Vec<String>> {
        let from = match after {
            None => SESSIONS.to_vec(),
            // The next key there can be.
            Some(after) => [&SESSIONS, after.as_bytes(), &[0]].concat(),
        };
        let found = self
            .rows()
            .walk(&from, &end_of(&SESSIONS), false)
            .take(limit);
        found
            .map(|entry| Ok(name(entry?.behind(SESSIONS.len()))))
            .collect()
    }
    /// The life of a session; `None` where it never gave a sign of it.
    pub fn session_life(&self, session: &str) -> Result<Option<SessionLife>> {
        let row: Option<LifeRow> = self.rows().get(&key_of(LIFE, session.as_bytes()))?;
        Ok(row.map(|row| SessionLife {
            session: session.to_owned(),
            started_at: time(row.started_at),
            seen_at: time(row.seen_at),
            ended_at: row.ended_at.map(time),
        }))
    }
    /// Sessions that gave a sign of life, in order, from behind `after` on.
    pub fn sessions(&self, after: Option<&str>, limit: usize) -> Result<Vec<String>> {
        let from = match after {
            None => vec![LIFE],
            Some(after) => [&[LIFE], after.as_bytes(), &[0]].concat(),
        };
        let found = self.rows().walk(&from, &end_of(&[LIFE]), false).take(limit);
        found.map(|entry| Ok(name(entry?.behind(1)))).collect()
    }
    /// Sessions in which a mode is active, in order.
    pub fn active_sessions(&self) -> Result<Vec<String>> {
        self.rows()
            .prefix(&key_of(ACTIVE, b""), false)
            .map(|entry| Ok(name(entry?.behind(1))))
            .collect()
    }
    /// Sessions that hold a state of a mode, in order.
    pub fn sessions_with(&self, mode: Mode) -> Result<Vec<String>> {
        let prefix = sessions_with(mode);
        self.rows()
            .prefix(&prefix, false)
            .map(|entry| Ok(name(entry?.behind(prefix.len()))))
            .collect()
    }
}

fn name(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
