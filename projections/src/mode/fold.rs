//! Fold of modes: states, and a summary of each scope.

use super::row::{
    ACTIVE, LIFE, ModeEntry, ScopeRow, SessionLife, StateRow, fields, is_active, scope_key,
    state_key, text,
};
use super::{Mode, Scope};
use crate::event::mode::{
    Fields, InputLock, ModeChanged, ModeCleared, ModeFact, ModeStarted, SessionEnded, SkillsSynced,
};
use crate::prelude::*;
use serde_json::Value;

pub(crate) fn apply(tx: &mut Tx<'_>, recorded: Recorded<'_>) -> Result<()> {
    let Fact::Mode(fact) = recorded.fact else {
        return Ok(());
    };
    let event = recorded.event;
    match &**fact {
        ModeFact::Started(started) => start(tx, event, started),
        ModeFact::Updated(changed)
        | ModeFact::Completed(changed)
        | ModeFact::Failed(changed)
        | ModeFact::Canceled(changed)
        | ModeFact::AutoCompleted(changed) => change(tx, event, changed),
        ModeFact::Cleared(cleared) => clear(tx, event, cleared),
        ModeFact::InputLocked(lock) | ModeFact::InputUnlocked(lock) => self::lock(tx, event, lock),
        ModeFact::SkillsSynced(synced) => sync(tx, event, synced),
        ModeFact::SessionEnded(ended) => end(tx, event, ended),
        _ => Ok(()),
    }?;
    match (fact.scope(), fact.sign_of_life(event.created_at)) {
        (Some(Scope::Session(session)), Some(at)) => see(tx, at, &session),
        _ => Ok(()),
    }
}

fn start(tx: &mut Tx<'_>, event: &Event<'_>, started: &ModeStarted) -> Result<()> {
    write(
        tx,
        event,
        &started.scope,
        started.mode,
        None,
        started.state.clone(),
    )
}

fn change(tx: &mut Tx<'_>, event: &Event<'_>, changed: &ModeChanged) -> Result<()> {
    let before: Option<StateRow> = tx.get(&state_key(&changed.scope, changed.mode))?;
    let mut state = before
        .as_ref()
        .map(|row| fields(&row.text))
        .unwrap_or_default();
    for field in &changed.unset {
        state.remove(field);
    }
    state.extend(changed.set.clone());
    write(tx, event, &changed.scope, changed.mode, before, state)
}

/// Stores a lock, which is a field of its mode's state.
fn lock(tx: &mut Tx<'_>, event: &Event<'_>, locked: &InputLock) -> Result<()> {
    let before: Option<StateRow> = tx.get(&state_key(&locked.scope, locked.mode))?;
    let Some(before) = before else {
        return Ok(());
    };
    let mut state = fields(&before.text);
    state.insert("input_lock".into(), locked.input_lock.clone().into());
    write(tx, event, &locked.scope, locked.mode, Some(before), state)
}

fn clear(tx: &mut Tx<'_>, event: &Event<'_>, cleared: &ModeCleared) -> Result<()> {
    let key = state_key(&cleared.scope, cleared.mode);
    if !cleared.tombstone {
        tx.delete(&key);
        return enter(tx, event, &cleared.scope, cleared.mode, None);
    }
    let at = event.created_at.to_string();
    let mut state = Fields::new();
    state.insert("active".into(), false.into());
    state.insert("current_phase".into(), "cleared".into());
    state.insert("completed_at".into(), at.into());
    if let Some(session) = cleared.scope.session() {
        state.insert("session_id".into(), session.into());
    }
    let before: Option<StateRow> = tx.get(&key)?;
    let before = StateRow {
        trace_id: before.and_then(|row| row.trace_id),
        ..StateRow::default()
    };
    write(tx, event, &cleared.scope, cleared.mode, Some(before), state)
}

/// Stores a state, and its summary in its scope.
fn write(
    tx: &mut Tx<'_>,
    event: &Event<'_>,
    scope: &Scope,
    mode: Mode,
    before: Option<StateRow>,
    mut state: Fields,
) -> Result<()> {
    state.insert("mode".into(), mode.name().into());
    state.insert("updated_at".into(), event.created_at.to_string().into());
    let mut row = StateRow {
        seq: event.seq,
        trace_id: event.refs.get(RefKind::Trace).map(str::to_owned),
        text: text(&state),
        ..StateRow::default()
    };
    let mut was_active = false;
    if let Some(before) = before {
        was_active = is_active(&fields(&before.text));
        row.activated = before.activated;
        row.activated_at = before.activated_at;
        row.trace_id = row.trace_id.or(before.trace_id);
    }
    let active = is_active(&state);
    if active && !was_active {
        row.activated = event.seq;
        row.activated_at = event.created_at;
    }
    let said = |field: &str| state.get(field).and_then(Value::as_str).map(str::to_owned);
    let entry = ModeEntry {
        mode,
        active,
        phase: said("current_phase"),
        thread_id: said("thread_id"),
        turn_id: said("turn_id"),
        activated: row.activated,
        activated_at: row.activated_at,
        seq: event.seq,
        at: event.created_at,
    };
    tx.put(&state_key(scope, mode), &row);
    enter(tx, event, scope, mode, Some(entry))
}

/// Adds a state's summary to its scope, or removes the summary. Removes a scope without states.
fn enter(
    tx: &mut Tx<'_>,
    event: &Event<'_>,
    scope: &Scope,
    mode: Mode,
    entry: Option<ModeEntry>,
) -> Result<()> {
    let key = scope_key(scope);
    let mut row: ScopeRow = tx.get(&key)?.unwrap_or_default();
    row.entries.retain(|one| one.mode != mode);
    row.entries.extend(entry);
    row.entries.sort_by_key(|one| one.mode);
    if row.entries.is_empty() {
        tx.delete(&key);
        mark_active(tx, scope, false);
        return Ok(());
    }
    settle(tx, event, scope, row);
    Ok(())
}

fn sync(tx: &mut Tx<'_>, event: &Event<'_>, synced: &SkillsSynced) -> Result<()> {
    let mut row: ScopeRow = tx.get(&scope_key(&synced.scope))?.unwrap_or_default();
    let mut metadata = fields(&row.metadata);
    for (field, value) in &synced.metadata {
        match value {
            Value::Null => drop(metadata.remove(field)),
            value => drop(metadata.insert(field.clone(), value.clone())),
        }
    }
    row.metadata = text(&metadata);
    if let Some(skill) = synced.metadata.get("skill").and_then(Value::as_str) {
        row.primary = Mode::from_name(skill).or(row.primary);
    }
    if row.entries.is_empty() && metadata.is_empty() {
        tx.delete(&scope_key(&synced.scope));
        return Ok(());
    }
    settle(tx, event, &synced.scope, row);
    Ok(())
}

/// Stores a scope with its primary mode, and notes if the scope has active modes.
fn settle(tx: &mut Tx<'_>, event: &Event<'_>, scope: &Scope, mut row: ScopeRow) {
    let active = |mode: Mode| row.entries.iter().any(|one| one.mode == mode && one.active);
    if !row.primary.is_some_and(active) {
        let mut listed: Vec<&ModeEntry> = row.entries.iter().filter(|one| one.active).collect();
        listed.sort_by_key(|one| one.activated);
        row.primary = listed.first().map(|one| one.mode).or(row.primary);
    }
    mark_active(tx, scope, row.entries.iter().any(|one| one.active));
    row.seq = event.seq;
    row.at = event.created_at;
    tx.put(&scope_key(scope), &row);
}

/// Notes a sign of life. The first sign of life, or the first after the session's end, starts a new life.
fn see(tx: &mut Tx<'_>, at: Timestamp, session: &str) -> Result<()> {
    let key = key_of(LIFE, session.as_bytes());
    let before: Option<SessionLife> = tx.get(&key)?;
    let going = before.filter(|life| life.ended_at.is_none());
    let life = SessionLife {
        session: session.to_owned(),
        // If a clock was ahead, an earlier sign of life can have a later time.
        started_at: going.as_ref().map_or(at, |life| life.started_at.min(at)),
        seen_at: at,
        ended_at: None,
    };
    tx.put(&key, &life);
    Ok(())
}

fn end(tx: &mut Tx<'_>, event: &Event<'_>, ended: &SessionEnded) -> Result<()> {
    let key = key_of(LIFE, ended.session.as_bytes());
    if let Some(mut life) = tx.get::<SessionLife>(&key)? {
        life.seen_at = ended.last_seen_at.unwrap_or(life.seen_at);
        life.ended_at = Some(event.created_at);
        tx.put(&key, &life);
    }
    Ok(())
}

fn mark_active(tx: &mut Tx<'_>, scope: &Scope, active: bool) {
    let Some(session) = scope.session() else {
        return;
    };
    let key = key_of(ACTIVE, session.as_bytes());
    match active {
        true => tx.mark(&key),
        false => tx.delete(&key),
    }
}
