//! The states of modes during a decision. Changes of the current command replace the recorded states, so each step of a decision sees the
//! effects of the earlier steps.

use crate::mode::prelude::*;
use crate::projections::mode::SessionLife;
use crate::projections::mode::event::{
    InputLock, ModeChanged, ModeCleared, ModeFact, ModeStarted, SessionEnded, SessionSeen,
    SkillsSynced,
};
use crate::time::AHEAD_TOLERATED_MICROS;
use teamlog_engine::JsonError;

/// Maximum size of a state as JSON text, in bytes.
pub const STATE_BYTES_MAX: usize = 256 << 10;

/// Fields about the origin of a mode's activation.
pub(crate) const ORIGIN: [&str; 5] = [
    "tmux_pane_id",
    "tmux_pane_set_at",
    "owner_rcs_session_id",
    "owner_codex_session_id",
    "owner_codex_thread_id",
];

/// Maximum number of activity events that a session records within the stale time.
const SIGNS: u64 = 24;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct WorkingState {
    pub fields: Fields,
    /// Seq of the event that activated the mode. Active modes are ordered by this seq.
    activated: u64,
    pub trace: Option<String>,
}

impl WorkingState {
    pub fn is_active(&self) -> bool {
        self.fields.get("active") == Some(&Value::Bool(true))
    }
}

pub(crate) struct ModeDecision<'a> {
    live: &'a Live,
    now: Timestamp,
    /// States that the command has changed so far; `None` for a removed state.
    changed: BTreeMap<(Scope, Mode), Option<WorkingState>>,
    events: Vec<NewEvent>,
    origin: Origin,
    /// Sessions for which an event of this command already counts as activity.
    seen: BTreeSet<Scope>,
}

impl<'a> ModeDecision<'a> {
    pub fn new(live: &'a Live, now: Timestamp) -> ModeDecision<'a> {
        ModeDecision {
            live,
            now,
            changed: BTreeMap::new(),
            events: Vec::new(),
            origin: Origin::default(),
            seen: BTreeSet::new(),
        }
    }
    /// Creates the decision for the command of a call. A mode that becomes active gets the origin of the call.
    pub fn for_call(ctx: &Ctx, live: &'a Live) -> ModeDecision<'a> {
        ModeDecision {
            origin: ctx.control.origin.clone(),
            ..ModeDecision::new(live, ctx.now)
        }
    }
    pub fn now(&self) -> Timestamp {
        self.now
    }
    pub fn team(&self) -> &'a str {
        self.live.team_name()
    }
    pub fn into_events(self) -> Vec<NewEvent> {
        self.events
    }

    pub fn state(&self, scope: &Scope, mode: Mode) -> Result<Option<WorkingState>> {
        if let Some(changed) = self.changed.get(&(scope.clone(), mode)) {
            return Ok(changed.clone());
        }
        let state = self.live.mode_state(scope, mode)?;
        Ok(state.map(|state| WorkingState {
            fields: state.fields,
            activated: state.activated,
            trace: state.trace_id,
        }))
    }

    pub fn active_state(&self, scope: &Scope, mode: Mode) -> Result<Option<WorkingState>> {
        Ok(self.state(scope, mode)?.filter(WorkingState::is_active))
    }

    /// Returns the state that a caller in this scope sees, with the scope of that state: the session's state, else the root's
    /// state.
    pub fn visible(&self, scope: &Scope, mode: Mode) -> Result<Option<(Scope, WorkingState)>> {
        for scope in visible_from(scope) {
            if let Some(state) = self.state(&scope, mode)? {
                return Ok(Some((scope, state)));
            }
        }
        Ok(None)
    }

    /// Returns the active state of a mode for a caller in a scope: the session's state, else the root's state. In this function, an
    /// ended state of the session does not hide the root's active state.
    pub fn already_active(
        &self,
        scope: &Scope,
        mode: Mode,
    ) -> Result<Option<(Scope, WorkingState)>> {
        for scope in visible_from(scope) {
            if let Some(state) = self.active_state(&scope, mode)? {
                return Ok(Some((scope, state)));
            }
        }
        Ok(None)
    }

    /// Returns the modes that are active in exactly this scope, each with the seq of its activation.
    fn active_in(&self, scope: &Scope) -> Result<Vec<(u64, Mode)>> {
        let mut active: Vec<(u64, Mode)> = Vec::new();
        if let Some(own) = self.live.mode_scope(scope)? {
            let recorded = own
                .active()
                .into_iter()
                .map(|one| (one.activated, one.mode));
            active.extend(recorded);
        }
        for mode in Mode::ALL {
            if let Some(changed) = self.changed.get(&(scope.clone(), mode)) {
                active.retain(|(_, other)| *other != mode);
                if let Some(state) = changed.as_ref().filter(|state| state.is_active()) {
                    active.push((state.activated, mode));
                }
            }
        }
        Ok(active)
    }

    /// Returns the modes that are active for a caller in a scope, in the order of their starts.
    pub fn active(&self, scope: &Scope) -> Result<Vec<Mode>> {
        let mut active = Vec::new();
        for mode in Mode::ALL {
            if let Some((_, state)) = self.visible(scope, mode)?
                && state.is_active()
            {
                active.push((state.activated, mode));
            }
        }
        active.sort_unstable();
        Ok(active.into_iter().map(|(_, mode)| mode).collect())
    }

    /// Returns the modes with which a new mode in this scope can conflict, in the order of their starts. These are the modes of the session
    /// and the modes of the root. Modes of the root are included even if a state of the session hides them.
    pub fn beside(&self, scope: &Scope) -> Result<Vec<Mode>> {
        let mut all = Vec::new();
        for scope in visible_from(scope) {
            all.extend(self.active_in(&scope)?);
        }
        all.sort();
        let mut modes = Vec::new();
        join(&mut modes, all.into_iter().map(|(_, mode)| mode));
        Ok(modes)
    }

    /// Returns the modes of [`ModeDecision::beside`], each with the scope in which it is active.
    pub fn places(&self, scope: &Scope) -> Result<Vec<ActiveMode>> {
        let mut places = Vec::new();
        for scope in visible_from(scope) {
            for (_, mode) in self.active_in(&scope)? {
                let scope = scope.clone();
                places.push(ActiveMode { mode, scope });
            }
        }
        Ok(places)
    }

    pub fn active_sessions(&self) -> Result<Vec<Scope>> {
        let recorded = self.live.active_sessions()?.into_iter().map(Scope::Session);
        let mut sessions: BTreeSet<Scope> = recorded.collect();
        sessions.extend(self.changed.keys().map(|(scope, _)| scope.clone()));
        let mut found = Vec::new();
        for scope in sessions {
            if scope != Scope::Root && !self.active_in(&scope)?.is_empty() {
                found.push(scope);
            }
        }
        Ok(found)
    }

    /// Returns true if a session has ended, or if the session was inactive for so long that its
    /// modes no longer block other modes.
    pub fn is_stale(&self, session: &str) -> Result<bool> {
        let life = self.live.session_life(session)?;
        let limit = self.live.setting(Setting::SessionStale)?.0.number();
        Ok(life.is_some_and(|life| !life.is_live(self.now, limit)))
    }

    /// Records activity in a scope. Records nothing if no mode is active in the session, if another event of this command counts
    /// as activity, or if the last recorded activity is recent.
    pub fn see(&mut self, scope: &Scope) -> Result<()> {
        let Some(session) = scope.session() else {
            return Ok(());
        };
        if self.seen.contains(scope) || self.active_in(scope)?.is_empty() {
            return Ok(());
        }
        let limit = self.live.setting(Setting::SessionStale)?.0.number();
        let life = self.live.session_life(session)?;
        // A time in the future comes from a wrong clock, and would keep the session alive for too long.
        let sound = |life: &SessionLife| !self.is_ahead(life.seen_at);
        if life.is_some_and(|life| sound(&life) && life.is_live(self.now, limit / SIGNS)) {
            return Ok(());
        }
        let seen = ModeFact::SessionSeen(SessionSeen {
            session: session.to_owned(),
            seen_at: self.seen_at(scope),
        });
        self.seen.insert(scope.clone());
        self.record(seen.event(DEFAULT_ACTOR, None))
    }

    /// Returns the present time if the log's times are ahead because of a wrong clock. Otherwise returns `None`, because the event's own
    /// time is right.
    fn seen_at(&self, scope: &Scope) -> Option<Timestamp> {
        let ahead = self.live.last_at().is_some_and(|last| self.is_ahead(last));
        (ahead && *scope != Scope::Root).then_some(self.now)
    }

    /// Returns true if a time in the log is in the future. Tolerates the small lead that many events in quick succession cause.
    fn is_ahead(&self, at: Timestamp) -> bool {
        at > self.now.plus_micros(AHEAD_TOLERATED_MICROS)
    }

    /// Ends a session: cancels its modes that are active or wait for their user. Returns the modes that were active.
    pub fn end_session(
        &mut self,
        session: &str,
        reason: SessionEnd,
        note: Option<String>,
    ) -> Result<Vec<Mode>> {
        let scope = Scope::Session(session.to_owned());
        let mut canceled = Vec::new();
        let why = match reason {
            SessionEnd::Ended => "its session ended",
            SessionEnd::Stale => "its session was inactive for too long",
        };
        for (mode, is_active) in self.open_in(&scope)? {
            canceled.extend(is_active.then_some(mode));
            self.end(&scope, mode, Ending::canceled(Some(why)))?;
        }
        let life = self.live.session_life(session)?;
        let ended = ModeFact::SessionEnded(SessionEnded {
            session: session.to_owned(),
            reason,
            last_seen_at: life.map(|life| life.seen_at),
            note,
        });
        self.record(ended.event(DEFAULT_ACTOR, None))?;
        Ok(canceled)
    }

    /// Records an event without effect on the states.
    pub fn record(&mut self, made: Result<NewEvent, JsonError>) -> Result<()> {
        self.events.push(made.map_err(unstorable)?);
        Ok(())
    }

    /// Replaces the state of a mode with a new active state.
    pub fn start(&mut self, scope: &Scope, mode: Mode, mut fields: Fields) -> Result<()> {
        if let Some(session) = scope.session() {
            fields.insert("session_id".into(), session.into());
        }
        self.own(scope, mode, &mut fields);
        let started = ModeFact::Started(ModeStarted {
            mode,
            scope: scope.clone(),
            state: fields.clone(),
            seen_at: self.seen_at(scope),
        });
        self.keep(scope, mode, fields, None, true)?;
        self.seen.insert(scope.clone());
        self.record(started.event(DEFAULT_ACTOR, None))
    }

    pub fn change(
        &mut self,
        change: Change,
        scope: &Scope,
        mode: Mode,
        set: Fields,
        unset: Vec<String>,
    ) -> Result<()> {
        let before = self.state(scope, mode)?;
        let trace = before.as_ref().and_then(|state| state.trace.clone());
        let was_active = before.as_ref().is_some_and(WorkingState::is_active);
        let mut fields = before.map(|state| state.fields).unwrap_or_default();
        for field in &unset {
            fields.remove(field);
        }
        fields.extend(set.clone());
        self.keep(scope, mode, fields, trace.clone(), !was_active)?;
        if change != Change::AutoCompleted {
            self.seen.insert(scope.clone());
        }
        let changed = change.into_fact(ModeChanged {
            mode,
            scope: scope.clone(),
            set,
            unset,
            seen_at: self.seen_at(scope),
        });
        self.record(changed.event(DEFAULT_ACTOR, trace.as_deref()))
    }

    /// Removes a state. With `tombstone`, leaves a tombstone in its place.
    pub fn clear(&mut self, scope: &Scope, mode: Mode, tombstone: bool) -> Result<()> {
        let trace = self.state(scope, mode)?.and_then(|state| state.trace);
        let left = tombstone.then(|| WorkingState {
            fields: Fields::new(),
            activated: 0,
            trace: trace.clone(),
        });
        self.changed.insert((scope.clone(), mode), left);
        let cleared = ModeFact::Cleared(ModeCleared {
            mode,
            scope: scope.clone(),
            tombstone,
        });
        self.record(cleared.event(DEFAULT_ACTOR, trace.as_deref()))
    }

    /// Changes the input lock of a state.
    pub fn lock(&mut self, scope: &Scope, mode: Mode, locked: bool, lock: Fields) -> Result<()> {
        let Some(mut state) = self.state(scope, mode)? else {
            return Ok(());
        };
        let trace = state.trace.clone();
        state
            .fields
            .insert("input_lock".into(), lock.clone().into());
        self.changed.insert((scope.clone(), mode), Some(state));
        let lock = InputLock {
            mode,
            scope: scope.clone(),
            input_lock: lock,
        };
        let changed = match locked {
            true => ModeFact::InputLocked(lock),
            false => ModeFact::InputUnlocked(lock),
        };
        self.record(changed.event(DEFAULT_ACTOR, trace.as_deref()))
    }

    /// Records new metadata for a scope's list of active skills, together with the present list.
    pub fn sync(&mut self, scope: &Scope, metadata: Fields, trace: Option<&str>) -> Result<()> {
        check_size("metadata", &metadata)?;
        let mut active = self.active_in(scope)?;
        active.sort();
        let synced = ModeFact::SkillsSynced(SkillsSynced {
            scope: scope.clone(),
            skills: active.into_iter().map(|(_, mode)| mode).collect(),
            metadata,
        });
        self.record(synced.event(DEFAULT_ACTOR, trace))
    }

    /// Adds the fields about the origin to a state that becomes active. Fields of the caller take precedence.
    fn own(&self, scope: &Scope, mode: Mode, fields: &mut Fields) {
        let thread = fields.get("thread_id").and_then(Value::as_str);
        let thread = thread.map(str::to_owned);
        let mut put = |field: &str, value: Option<&str>| {
            if let Some(value) = value {
                fields.entry(field).or_insert_with(|| value.into());
            }
        };
        if let Some(pane) = &self.origin.tmux_pane {
            put("tmux_pane_id", Some(pane));
            put("tmux_pane_set_at", Some(&self.now.to_string()));
        }
        if mode == Mode::Forge {
            let session = scope.session().or(self.origin.rcs_session.as_deref());
            put("owner_rcs_session_id", session);
            put(
                "owner_codex_session_id",
                self.origin.codex_session.as_deref(),
            );
            put("owner_codex_thread_id", thread.as_deref());
        }
    }

    fn keep(
        &mut self,
        scope: &Scope,
        mode: Mode,
        fields: Fields,
        trace: Option<String>,
        anew: bool,
    ) -> Result<()> {
        check_size("state", &fields)?;
        let activated = match self.state(scope, mode)? {
            Some(before) if !anew => before.activated,
            // The command's events, in this order, get the seqs that follow the last recorded
            // event.
            _ => self.live.seq() + 1 + self.events.len() as u64,
        };
        let state = WorkingState {
            fields,
            activated,
            trace,
        };
        self.changed.insert((scope.clone(), mode), Some(state));
        Ok(())
    }
}

/// Returns the scopes that a caller in a scope sees, nearest scope first.
pub(crate) fn visible_from(scope: &Scope) -> Vec<Scope> {
    match scope {
        Scope::Root => vec![Scope::Root],
        session => vec![session.clone(), Scope::Root],
    }
}

fn check_size(field: &'static str, fields: &Fields) -> Result<(), Refusal> {
    // Serializing to memory cannot fail.
    let bytes = serde_json::to_vec(fields).map_or(0, |text| text.len());
    if bytes <= STATE_BYTES_MAX {
        return Ok(());
    }
    let message =
        format!("{field} must be at most {STATE_BYTES_MAX} bytes long as JSON, but is {bytes}");
    Err(Refusal::new(Code::TooLarge, message).field(field))
}

/// Returns the refusal for JSON that is nested too deeply to be stored.
fn unstorable(error: JsonError) -> Refusal {
    let message = format!("state cannot be stored: {error}");
    Refusal::new(Code::InvalidInput, message).field("state")
}

/// Sets a field if a value is given.
pub(crate) fn put(fields: &mut Fields, field: &str, value: Option<impl Into<Value>>) {
    if let Some(value) = value {
        fields.insert(field.to_owned(), value.into());
    }
}

/// Returns the fields of an object that was made with `json!`.
pub(crate) fn object(value: Value) -> Fields {
    match value {
        Value::Object(fields) => fields,
        _ => Fields::new(),
    }
}

/// Returns true if a state is only a tombstone, which records that the mode was cleared.
pub(crate) fn is_tombstone(state: &WorkingState) -> bool {
    let phase = state.fields.get("current_phase").and_then(Value::as_str);
    state.fields.is_empty() || (!state.is_active() && phase == Some("cleared"))
}

/// Returns the modes that are active for a caller in a scope; see [`ModeDecision::active`].
pub(crate) fn active(live: &Live, scope: &Scope) -> Result<Vec<Mode>> {
    ModeDecision::new(live, Timestamp::default()).active(scope)
}
