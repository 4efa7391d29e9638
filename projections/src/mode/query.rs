//! Queries of modes.

use super::row::{
    ACTIVE, LIFE, ModeScope, ModeState, SESSIONS, ScopeRow, SessionLife, StateRow, fields,
    scope_key, sessions_with, state_key,
};
use super::{Mode, Scope};
use crate::prelude::*;

impl TeamState {
    /// Returns the state of a mode in a scope.
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
    /// Returns the summary of a scope's states; `None` if the scope has no states.
    pub fn mode_scope(&self, scope: &Scope) -> Result<Option<ModeScope>> {
        let row: Option<ScopeRow> = self.rows().get(&scope_key(scope))?;
        Ok(row.map(|row| ModeScope {
            scope: scope.clone(),
            entries: row.entries,
            primary: row.primary,
            metadata: fields(&row.metadata),
            seq: row.seq,
            at: row.at,
        }))
    }
    /// Returns sessions with a mode state, in order, starting after `after`.
    pub fn mode_sessions(&self, after: Option<&str>, limit: usize) -> Result<Vec<String>> {
        let found = self.rows().behind(&SESSIONS, after).take(limit);
        names(found, SESSIONS.len())
    }
    /// Returns the life of a session; `None` if the session never gave a sign of life.
    pub fn session_life(&self, session: &str) -> Result<Option<SessionLife>> {
        let life: Option<SessionLife> = self.rows().get(&key_of(LIFE, session.as_bytes()))?;
        let session = session.to_owned();
        Ok(life.map(|life| SessionLife { session, ..life }))
    }
    /// Returns sessions that gave a sign of life, in order, starting after `after`.
    pub fn sessions(&self, after: Option<&str>, limit: usize) -> Result<Vec<String>> {
        names(self.rows().behind(&[LIFE], after).take(limit), 1)
    }
    /// Returns sessions that have not ended, with a sign of life at `since` or later, in order.
    pub(super) fn sessions_since(&self, since: Timestamp) -> Result<Vec<String>> {
        let mut found = Vec::new();
        for entry in self.rows().prefix(&[LIFE], false) {
            let entry = entry?;
            let life: SessionLife = entry.row()?;
            if life.ended_at.is_none() && life.seen_at >= since {
                found.push(entry.name(1));
            }
        }
        Ok(found)
    }
    /// Returns sessions with an active mode, in order.
    pub fn active_sessions(&self) -> Result<Vec<String>> {
        names(self.rows().prefix(&[ACTIVE], false), 1)
    }
    /// Returns sessions with a state of a mode, in order.
    pub fn sessions_with(&self, mode: Mode) -> Result<Vec<String>> {
        let prefix = sessions_with(mode);
        names(self.rows().prefix(&prefix, false), prefix.len())
    }
}

/// Returns the names in keys, after a prefix of the given length.
fn names<'a>(
    entries: impl Iterator<Item = Result<Entry<'a>>>,
    prefix: usize,
) -> Result<Vec<String>> {
    entries.map(|entry| Ok(entry?.name(prefix))).collect()
}
