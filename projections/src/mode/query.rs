//! Questions to the rows of modes.

use super::row::{
    ACTIVE, LIFE, LifeRow, ModeScope, ModeState, SESSIONS, ScopeRow, SessionLife, StateRow, fields,
    scope_key, sessions_with, state_key,
};
use super::{Mode, Scope};
use crate::error::Result;
use crate::message::fold::time;
use crate::tx::{Rows, end_of, key_of};

pub(crate) fn state(rows: Rows<'_>, scope: &Scope, mode: Mode) -> Result<Option<ModeState>> {
    let row: Option<StateRow> = rows.get(&state_key(scope, mode))?;
    Ok(row.map(|row| ModeState {
        mode,
        scope: scope.clone(),
        fields: fields(&row.text),
        seq: row.seq,
        activated: row.activated,
        trace_id: row.trace_id,
    }))
}

pub(crate) fn scope_of(rows: Rows<'_>, scope: &Scope) -> Result<Option<ModeScope>> {
    let row: Option<ScopeRow> = rows.get(&scope_key(scope))?;
    Ok(row.map(|row| ModeScope {
        scope: scope.clone(),
        entries: row.entries,
        primary: row.primary,
        metadata: fields(&row.metadata),
        seq: row.seq,
        at: time(row.at),
    }))
}

/// Sessions of which anything is known, in order, from behind one on.
pub(crate) fn sessions(rows: Rows<'_>, after: Option<&str>, limit: usize) -> Result<Vec<String>> {
    let from = match after {
        None => SESSIONS.to_vec(),
        // The next key there can be.
        Some(after) => [&SESSIONS, after.as_bytes(), &[0]].concat(),
    };
    let found = rows.walk(&from, &end_of(&SESSIONS), false).take(limit);
    found
        .map(|entry| Ok(name(entry?.behind(SESSIONS.len()))))
        .collect()
}

/// The life of a session.
pub(crate) fn life(rows: Rows<'_>, session: &str) -> Result<Option<SessionLife>> {
    let row: Option<LifeRow> = rows.get(&key_of(LIFE, session.as_bytes()))?;
    Ok(row.map(|row| SessionLife {
        session: session.to_owned(),
        started_at: time(row.started_at),
        seen_at: time(row.seen_at),
        ended_at: row.ended_at.map(time),
    }))
}

/// Sessions that gave a sign of life, in order, from behind one on.
pub(crate) fn lives(rows: Rows<'_>, after: Option<&str>, limit: usize) -> Result<Vec<String>> {
    let from = match after {
        None => vec![LIFE],
        Some(after) => [&[LIFE], after.as_bytes(), &[0]].concat(),
    };
    let found = rows.walk(&from, &end_of(&[LIFE]), false).take(limit);
    found.map(|entry| Ok(name(entry?.behind(1)))).collect()
}

/// Sessions in which a mode is active, in order.
pub(crate) fn active_sessions(rows: Rows<'_>) -> Result<Vec<String>> {
    rows.prefix(&key_of(ACTIVE, b""), false)
        .map(|entry| Ok(name(entry?.behind(1))))
        .collect()
}

/// Sessions that hold a state of a mode, in order.
pub(crate) fn holders(rows: Rows<'_>, mode: Mode) -> Result<Vec<String>> {
    let prefix = sessions_with(mode);
    rows.prefix(&prefix, false)
        .map(|entry| Ok(name(entry?.behind(prefix.len()))))
        .collect()
}

fn name(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
