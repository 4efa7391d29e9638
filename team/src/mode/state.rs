//! State operations for hooks and displays: `read`, `write`, `clear`, `list-active`, `get-status`. These operations have the payloads that
//! hooks and displays expect, and follow the rules of the commands about modes. They also accept `skill-active`, the list of active
//! skills; only the metadata of that list can be written.

use crate::mode::clear::ModeClear;
use crate::mode::prelude::*;
use crate::mode::rules::reconcile::not_active_in;
use crate::mode::rules::shown::SKILL_ACTIVE;
use crate::mode::show::visible;
use crate::mode::write::ModeWrite;
use crate::projections::mode::{DERIVED, skills_state};
use schemars::{Schema, SchemaGenerator, json_schema};

operation! {
    /// Write the state of a mode as `rcs state` does, or the metadata of the list of active skills
    "state-write": Records(StateWrite) -> StateWritten = |team, write| team.state_write(write.into()),
    refuses = [UnsupportedMode, ModeDenied, ModeNotActive, WorkerNotFound],
    rules = Rules {
        keeps_lookalikes: true,
        ..Rules::COMMON
    }
}

operation! {
    /// Clear the state of a mode as `rcs state` does, or the metadata of the list of active skills
    "state-clear": Records(StateClear {
        /// Name of the mode, or `skill-active`
        #[serde(deserialize_with = "typed::mode")]
        #[schemars(with = "StateName")]
        mode: String,
        /// Session of the state; the root if absent
        #[serde(deserialize_with = "typed::session_id")]
        session_id: Option<String>,
        /// Clear the states of the root and of all sessions
        #[serde(default)]
        all_sessions: bool,
    }) -> StateCleared = |team, clear| team.state_clear(ModeClear {
        mode: clear.mode,
        session_id: clear.session_id,
        all_sessions: clear.all_sessions,
    }),
    refuses = [UnsupportedMode, WorkerNotFound]
}

/// Input of `state-write`. Unknown fields become fields of the state.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StateWrite {
    /// The mode, or `skill-active`
    #[serde(deserialize_with = "typed::mode")]
    #[schemars(with = "StateName")]
    pub mode: String,
    /// The session of the state; the root if absent
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(deserialize_with = "typed::session_id")]
    pub session_id: Option<String>,
    /// Fields of the state; a field here takes precedence over a field with its name outside `state`
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(deserialize_with = "typed::state")]
    pub state: Option<Fields>,
    /// Fields of the state
    #[serde(flatten)]
    pub fields: Fields,
}

impl From<StateWrite> for ModeWrite {
    fn from(write: StateWrite) -> ModeWrite {
        ModeWrite {
            mode: write.mode,
            session_id: write.session_id,
            state: write.state,
            fields: write.fields,
        }
    }
}

operation! {
    /// Read the state of a mode in the form of its file: the session's state, or else the root's
    "state-read": Reads(StateRead {
        /// Name of the mode, or `skill-active`
        #[serde(deserialize_with = "typed::mode")]
        #[schemars(with = "StateName")]
        mode: String,
        /// Session; its state takes precedence over the state of the root
        #[serde(deserialize_with = "typed::session_id")]
        session_id: Option<String>,
    }) -> StateShown = Team::state_read,
    refuses = [UnsupportedMode]
}

operation! {
    /// List the active modes in the order of their starts
    "state-list-active": Reads(StateListActive {
        /// Session; its states take precedence over the states of the root
        #[serde(deserialize_with = "typed::session_id")]
        session_id: Option<String>,
    }) -> ActiveModes = Team::state_list_active
}

operation! {
    /// Read the status of a mode, or of every mode that has a state
    "state-get-status": Reads(StateGetStatus {
        /// Name of the mode, or `skill-active`; every mode with a state if absent
        #[serde(deserialize_with = "typed::maybe_mode")]
        #[schemars(with = "Option<StateName>")]
        mode: Option<String>,
        /// Session; its states take precedence over the states of the root
        #[serde(deserialize_with = "typed::session_id")]
        session_id: Option<String>,
    }) -> StateStatuses = Team::state_get_status,
    refuses = [UnsupportedMode]
}

/// A state in the form of its file, or `{exists: false, mode}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StateShown {
    /// False if the mode has no state; else absent
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exists: Option<bool>,
    /// Fields of the state
    #[serde(flatten)]
    pub fields: Fields,
}

/// The answer `{success, mode, path, transition?}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StateWritten {
    /// Always true
    pub success: bool,
    /// The mode, or `skill-active`
    pub mode: String,
    /// File of the state, relative to the data root
    pub path: String,
    /// Message about modes that were completed because of the write; absent if none was completed
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transition: Option<String>,
    /// Warnings about outdated spellings, each with the present value
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// The JSON object `{cleared, mode, path}`; for all sessions `{cleared, mode, all_sessions, removed, paths, warning}`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StateCleared {
    /// Always true: no state is left
    pub cleared: bool,
    /// The mode, or `skill-active`
    pub mode: String,
    /// File of the state, relative to the data root
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// True if all sessions were cleared; else absent
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub all_sessions: Option<bool>,
    /// Number of states removed
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub removed: Option<u64>,
    /// Files of the removed states, relative to the data root
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paths: Option<Vec<String>>,
    /// Remark on the effect on all sessions
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
}

/// The JSON object `{active_modes}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ActiveModes {
    /// Active modes in the order of their starts
    pub active_modes: Vec<Mode>,
}

/// The JSON object `{statuses}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StateStatuses {
    /// Status by mode
    pub statuses: BTreeMap<String, StateStatus>,
}

/// Status of a mode.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StateStatus {
    /// True if the mode is active
    pub active: bool,
    /// Phase of the mode
    pub phase: Option<String>,
    /// File of the state, relative to the data root
    pub path: String,
    /// Content of the file
    pub data: Fields,
}

/// A name in a state operation: a mode or the list of active skills.
enum StateName {
    Mode(Mode),
    Skills,
}

impl JsonSchema for StateName {
    fn schema_name() -> Cow<'static, str> {
        "StateName".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let modes = Mode::ALL.into_iter().map(StateName::Mode);
        let names = modes.chain([StateName::Skills]).map(|named| named.name());
        json_schema!({
            "type": "string",
            "description": "A mode, or the list of active skills",
            "enum": names.collect::<Vec<_>>(),
        })
    }
}

impl StateName {
    fn read(name: &str) -> Result<StateName, Refusal> {
        let name = name.trim();
        for (part, rule) in [
            ("..", "must not contain \"..\""),
            ("/", "must not contain path separators"),
            ("\\", "must not contain path separators"),
        ] {
            if name.contains(part) {
                return Err(Refusal::invalid("mode", name, rule));
            }
        }
        match name {
            SKILL_ACTIVE => Ok(StateName::Skills),
            name => skill::mode(name).map(StateName::Mode),
        }
    }
    fn name(&self) -> &'static str {
        match self {
            StateName::Mode(mode) => mode.name(),
            StateName::Skills => SKILL_ACTIVE,
        }
    }
}

impl Team {
    /// Reads the state of a mode, or the list of active skills.
    pub fn state_read(&mut self, read: StateRead) -> Result<StateShown> {
        let named = StateName::read(&read.mode)?;
        let scope = scope(read.session_id.as_deref())?;
        self.query(|live, _| {
            Ok(match found(live, &named, &scope)? {
                Some((_, fields)) => StateShown {
                    exists: None,
                    fields,
                },
                None => StateShown {
                    exists: Some(false),
                    fields: object(json!({"mode": named.name()})),
                },
            })
        })
    }

    /// Writes the state of a mode, or the metadata of the list of active skills.
    ///
    /// # Errors
    /// Fails like [`Team::mode_write`], and with `mode_not_active` if the list names a skill that is not active.
    pub fn state_write(&mut self, write: ModeWrite) -> Result<StateWritten> {
        let named = StateName::read(&write.mode)?;
        match named {
            StateName::Skills => self.execute(act(
                CommandTerms::new(Authority::Anyone).members_only(),
                move |ctx, live| write_skills(write.clone(), live, ctx.now),
            )),
            StateName::Mode(mode) => {
                let mode = mode.name().to_owned();
                let answer = self.mode_write(ModeWrite { mode, ..write })?;
                Ok(StateWritten {
                    success: true,
                    mode: named.name().to_owned(),
                    path: answer.shown.path,
                    transition: answer.message,
                    warnings: answer.warnings,
                })
            }
        }
    }

    /// Clears the state of a mode, or the metadata of the list of active skills.
    pub fn state_clear(&mut self, clear: ModeClear) -> Result<StateCleared> {
        let named = StateName::read(&clear.mode)?;
        if let StateName::Skills = named {
            return self.execute(act(
                CommandTerms::new(Authority::Anyone).members_only(),
                move |ctx, live| clear_skills(&clear, live, ctx.now),
            ));
        }
        let scope = scope(clear.session_id.as_deref())?;
        let mode = named.name().to_owned();
        let cleared = self.mode_clear(ModeClear { mode, ..clear })?;
        Ok(match cleared.all_sessions {
            true => everywhere(named.name(), cleared.paths),
            false => one(named.name(), path(self.name(), &scope, named.name())),
        })
    }

    /// Lists the active modes.
    pub fn state_list_active(&mut self, list: StateListActive) -> Result<ActiveModes> {
        let scope = scope(list.session_id.as_deref())?;
        self.query(|live, _| {
            Ok(ActiveModes {
                active_modes: decision::active(live, &scope)?,
            })
        })
    }

    /// Returns the status of a mode, or of all modes with a state.
    pub fn state_get_status(&mut self, get: StateGetStatus) -> Result<StateStatuses> {
        let named = get.mode.as_deref().map(StateName::read).transpose()?;
        let scope = scope(get.session_id.as_deref())?;
        self.query(|live, _| {
            let all = match &named {
                Some(named) => vec![named.name()],
                None => Mode::ALL.map(Mode::name).to_vec(),
            };
            let mut statuses = BTreeMap::new();
            for name in all {
                let named = StateName::read(name)?;
                if let Some((at, data)) = found(live, &named, &scope)? {
                    statuses.insert(name.to_owned(), status(live, &at, name, data));
                }
            }
            Ok(StateStatuses { statuses })
        })
    }
}

/// Returns the state that a caller in the scope sees, and the scope of that state.
fn found(live: &Live, named: &StateName, scope: &Scope) -> Result<Option<(Scope, Fields)>> {
    match named {
        StateName::Mode(mode) => {
            let states = visible(live, scope)?;
            let state = states.into_iter().find(|state| state.mode == *mode);
            Ok(state.map(|state| (state.scope.clone(), state.shown())))
        }
        StateName::Skills => {
            for scope in decision::visible_from(scope) {
                if let Some(fields) = skills_state(live, &scope)? {
                    return Ok(Some((scope, fields)));
                }
            }
            Ok(None)
        }
    }
}

fn status(live: &Live, scope: &Scope, name: &str, data: Fields) -> StateStatus {
    let phase = ["current_phase", "phase"]
        .into_iter()
        .find_map(|field| data.get(field).and_then(Value::as_str));
    StateStatus {
        active: data.get("active") == Some(&Value::Bool(true)),
        phase: phase.map(str::to_owned),
        path: path(live.team_name(), scope, name),
        data,
    }
}

fn one(name: &str, path: String) -> StateCleared {
    StateCleared {
        cleared: true,
        mode: name.to_owned(),
        path: Some(path),
        ..StateCleared::default()
    }
}

fn everywhere(name: &str, paths: Vec<String>) -> StateCleared {
    let warning = format!("{name} was cleared at the root and in every session of the team");
    StateCleared {
        cleared: true,
        mode: name.to_owned(),
        all_sessions: Some(true),
        removed: Some(paths.len() as u64),
        paths: Some(paths),
        warning: Some(warning),
        ..StateCleared::default()
    }
}

/// Writes the metadata of the list of active skills.
fn write_skills(write: ModeWrite, live: &Live, now: Timestamp) -> Acted<StateWritten> {
    let scope = scope(write.session_id.as_deref())?;
    let mut decision = ModeDecision::new(live, now);
    let metadata = metadata(write, &decision, &scope)?;
    if !metadata.is_empty() {
        decision.sync(&scope, metadata, None)?;
    }
    decision.see(&scope)?;
    let written = StateWritten {
        success: true,
        mode: SKILL_ACTIVE.to_owned(),
        path: path(decision.team(), &scope, SKILL_ACTIVE),
        transition: None,
        warnings: Vec::new(),
    };
    Ok((written, decision.into_events()))
}

/// Returns the metadata to store with the list of active skills. Refuses a list that contains inactive modes.
fn metadata(write: ModeWrite, decision: &ModeDecision<'_>, scope: &Scope) -> Result<Fields> {
    let mut given = write.fields;
    put(&mut given, "state", write.state);
    let mut given = contract::flattened(given)?;
    let active = decision.active(scope)?;
    let entries = match given.remove("active_skills") {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(entries)) => entries,
        Some(other) => {
            let rule = "must be a list of skills";
            return Err(Refusal::invalid("active_skills", other, rule).into());
        }
    };
    let listed = entries
        .iter()
        .filter(|entry| entry.get("active") != Some(&Value::Bool(false)))
        .filter_map(|entry| entry.get("skill").and_then(Value::as_str));
    let named = given.get("skill").and_then(Value::as_str);
    let claimed = given.get("active") == Some(&Value::Bool(true));
    for name in listed.chain(named.filter(|_| claimed)) {
        if let Some(mode) = Mode::from_name(name)
            && !active.contains(&mode)
        {
            return Err(unlisted(mode, scope).into());
        }
    }
    let primary = named.and_then(Mode::from_name);
    given.retain(|field, _| !DERIVED.contains(&field.as_str()) && field != "mode");
    if let Some(primary) = primary.filter(|mode| active.contains(mode)) {
        given.insert("skill".into(), primary.name().into());
    }
    Ok(given)
}

fn unlisted(mode: Mode, scope: &Scope) -> Refusal {
    let message = format!("active_skills may only list active modes, but {mode} is not active");
    let refusal = Refusal::new(Code::ModeNotActive, message).field("active_skills");
    not_active_in(refusal, scope, mode)
}

/// Clears the metadata of the list of active skills.
fn clear_skills(clear: &ModeClear, live: &Live, now: Timestamp) -> Acted<StateCleared> {
    let acting = scope(clear.session_id.as_deref())?;
    let mut scopes = vec![acting.clone()];
    if clear.all_sessions {
        let sessions = live.mode_sessions(None, usize::MAX)?;
        scopes.extend(sessions.into_iter().map(Scope::Session));
    }
    let mut decision = ModeDecision::new(live, now);
    let path = |scope: &Scope| path(live.team_name(), scope, SKILL_ACTIVE);
    let mut paths = Vec::new();
    for scope in scopes {
        let known = live.mode_scope(&scope)?;
        let mut gone = known.map(|known| known.metadata).unwrap_or_default();
        if gone.is_empty() {
            continue;
        }
        for value in gone.values_mut() {
            *value = Value::Null;
        }
        decision.sync(&scope, gone, None)?;
        paths.push(path(&scope));
    }
    let cleared = match clear.all_sessions {
        true => everywhere(SKILL_ACTIVE, paths),
        false => one(SKILL_ACTIVE, path(&acting)),
    };
    Ok((cleared, decision.into_events()))
}
