//! Presentation of modes, in view files and in answers.

use super::{Mode, ModeEntry, ModeScope, ModeState, Scope};
use crate::event::mode::Fields;
use crate::prelude::*;
use serde_json::{Value, json};

/// Fields of a list of skills that follow from the states. These fields override fields of the metadata with the same name.
pub const DERIVED: [&str; 12] = [
    "version",
    "active",
    "skill",
    "phase",
    "activated_at",
    "updated_at",
    "session_id",
    "input_lock",
    "active_skills",
    "schema_version",
    "schemaVersion",
    "seq",
];

/// Fields of a state that `run-state.json` shows.
const RUN_FIELDS: [&str; 8] = [
    "current_phase",
    "task_description",
    "started_at",
    "completed_at",
    "iteration",
    "max_iterations",
    "error",
    "owner_rcs_session_id",
];

impl ModeState {
    /// Returns the state in the format of its view file.
    pub fn shown(&self) -> Fields {
        let mut shown = versioned(self.seq);
        shown.extend(self.fields.clone());
        if let Some(session) = self.scope.session() {
            shown.entry("session_id").or_insert_with(|| session.into());
        }
        shown
    }
}

fn versioned(seq: u64) -> Fields {
    let mut fields = Fields::new();
    fields.insert("schema_version".into(), 1.into());
    fields.insert("schemaVersion".into(), "1.0.0".into());
    fields.insert("seq".into(), seq.into());
    fields
}

/// Longest time between a session's last sign of life and the root's last change: 7 days. Within this time, a session without
/// active modes of its own shows the root's modes. The limit bounds the number of sessions that a change of the root affects.
const FOLLOWS_FOR_MICROS: i64 = 7 * 24 * 3600 * 1_000_000;

/// Returns the earliest sign of life of sessions that follow the root.
pub(super) fn followed_since(root_changed_at: Timestamp) -> Timestamp {
    root_changed_at.plus_micros(-FOLLOWS_FOR_MICROS)
}

/// Returns true if the list of active skills of a session shows the root's modes too.
pub fn follows_root(live: &TeamState, own: &ModeScope, root: &ModeScope) -> Result<bool> {
    let Some(session) = own.scope.session() else {
        return Ok(false);
    };
    if !own.active().is_empty() {
        return Ok(true);
    }
    let life = live.session_life(session)?;
    Ok(life.is_some_and(|life| life.ended_at.is_none() && life.seen_at >= followed_since(root.at)))
}

/// Returns the list of active skills of a scope, as in `skill-active-state.json`; `None` if the scope is unknown. A session that
/// follows the root lists the root's modes before its own modes.
pub fn skills_state(live: &TeamState, scope: &Scope) -> Result<Option<Fields>> {
    let Some(own) = live.mode_scope(scope)? else {
        return Ok(None);
    };
    let root = match live.mode_scope(&Scope::Root)? {
        Some(root) if follows_root(live, &own, &root)? => Some(root),
        _ => None,
    };
    let mut listed: Vec<Value> = Vec::new();
    for entry in root.iter().flat_map(|root| inherited(&own, root)) {
        listed.push(shown(entry, None));
    }
    listed.extend(
        own.active()
            .into_iter()
            .map(|one| shown(one, scope.session())),
    );
    let seq = root.as_ref().map_or(own.seq, |root| root.seq.max(own.seq));
    let mut state = versioned(seq);
    let beside = own.metadata.iter();
    let beside = beside.filter(|(field, _)| !DERIVED.contains(&field.as_str()));
    state.extend(beside.map(|(field, value)| (field.clone(), value.clone())));
    state.insert("version".into(), 1.into());
    state.insert("active".into(), (!listed.is_empty()).into());
    state.insert("updated_at".into(), own.at.to_string().into());
    if let Some(session) = scope.session() {
        state.insert("session_id".into(), session.into());
    }
    if let Some(primary) = primary(&own, root.as_ref()) {
        state.insert("skill".into(), primary.name().into());
        let inherited = root.iter().flat_map(|root| inherited(&own, root));
        let mut entries = own.active().into_iter().chain(inherited);
        let mut entry = entries.find(|one| one.mode == primary);
        entry = entry.or_else(|| own.entries.iter().find(|one| one.mode == primary));
        if let Some(phase) = entry.and_then(|one| one.phase.clone()) {
            state.insert("phase".into(), phase.into());
        }
        if let Some(at) = entry.and_then(ModeEntry::activated_at) {
            state.insert("activated_at".into(), at.to_string().into());
        }
    }
    if let Some(lock) = input_lock(live, &own)? {
        state.insert("input_lock".into(), lock);
    }
    state.insert("active_skills".into(), listed.into());
    Ok(Some(state))
}

/// Returns the active modes of the root for which the session has no state of its own, neither active nor ended.
fn inherited<'a>(own: &ModeScope, root: &'a ModeScope) -> Vec<&'a ModeEntry> {
    let mut active = root.active();
    active.retain(|entry| !own.entries.iter().any(|other| other.mode == entry.mode));
    active
}

/// Returns the primary mode of the list: the primary mode that the scope names, or else the active mode that was activated first,
/// including modes of the root.
fn primary(own: &ModeScope, root: Option<&ModeScope>) -> Option<Mode> {
    let Some(root) = root else {
        return own.primary;
    };
    let inherited = inherited(own, root);
    let named = own.metadata.get("skill").and_then(Value::as_str);
    let is_listed = |named: Mode| {
        let active = own.active().iter().any(|one| one.mode == named);
        (active && own.primary == Some(named)) || inherited.iter().any(|one| one.mode == named)
    };
    if let Some(named) = named
        .and_then(Mode::from_name)
        .filter(|named| is_listed(*named))
    {
        return Some(named);
    }
    let listed = inherited.into_iter().chain(own.active());
    let first = listed.min_by_key(|one| one.activated);
    first.map(|one| one.mode).or(own.primary)
}

/// Returns the input lock of a mode in the scope. The mode need not be active.
fn input_lock(live: &TeamState, own: &ModeScope) -> Result<Option<Value>> {
    for entry in &own.entries {
        if entry.mode.locks_input()
            && let Some(state) = live.mode_state(&own.scope, entry.mode)?
        {
            return Ok(state.fields.get("input_lock").cloned());
        }
    }
    Ok(None)
}

fn shown(entry: &ModeEntry, session: Option<&str>) -> Value {
    let mut shown = json!({
        "skill": entry.mode,
        "active": entry.active,
        "updated_at": entry.at.to_string(),
    });
    let activated = entry.activated_at().map(|at| at.to_string());
    let more = [
        ("phase", entry.phase.as_deref()),
        ("activated_at", activated.as_deref()),
        ("session_id", session),
        ("thread_id", entry.thread_id.as_deref()),
        ("turn_id", entry.turn_id.as_deref()),
    ];
    for (field, value) in more {
        if let (Some(object), Some(value)) = (shown.as_object_mut(), value) {
            object.insert(field.to_owned(), value.into());
        }
    }
    shown
}

/// Returns the content of a scope's `run-state.json`: a summary of the state that changed last. Returns `None` if the scope has
/// no state.
pub fn run_state(live: &TeamState, scope: &Scope) -> Result<Option<Fields>> {
    let own = live.mode_scope(scope)?;
    let last = own.and_then(|own| own.entries.into_iter().max_by_key(|one| one.seq));
    let Some(last) = last else {
        return Ok(None);
    };
    let Some(state) = live.mode_state(scope, last.mode)? else {
        return Ok(None);
    };
    let mut run = versioned(last.seq);
    run.insert("version".into(), 1.into());
    run.insert("mode".into(), last.mode.name().into());
    run.insert("active".into(), last.active.into());
    run.insert("updated_at".into(), last.at.to_string().into());
    let outcome = match (last.active, state.fields.get("run_outcome")) {
        (true, _) => "continue".into(),
        (false, Some(outcome)) => outcome.clone(),
        (false, None) => "finish".into(),
    };
    run.insert("outcome".into(), outcome);
    for field in RUN_FIELDS.iter().chain(&["lifecycle_outcome"]) {
        if let Some(value) = state.fields.get(*field) {
            run.insert((*field).to_owned(), value.clone());
        }
    }
    Ok(Some(run))
}
