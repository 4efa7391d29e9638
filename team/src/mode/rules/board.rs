//! The states of modes as a command sees them while it decides: those that are recorded, and over them what the command
//! is about to record, so that each step of a longer decision stands on the one before.

use crate::mode::prelude::*;
use crate::projections::mode::SessionLife;
use crate::projections::mode::event::{
    InputLock, ModeChanged, ModeCleared, ModeFact, ModeStarted, SessionEnded, SessionSeen,
    SkillsSynced,
};
use crate::time::AHEAD_TOLERATED_MICROS;
use teamlog_engine::JsonError;

/// Most bytes of a state as JSON text.
pub const STATE_BYTES_MAX: usize = 256 << 10;

/// What a state that becomes active keeps of where that was done.
pub(crate) const ORIGIN: [&str; 5] = [
    "tmux_pane_id",
    "tmux_pane_set_at",
    "owner_rcs_session_id",
    "owner_codex_session_id",
    "owner_codex_thread_id",
];

/// How many signs of life a quiet session records within the time after which it counts as stale.
const SIGNS: u64 = 24;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Standing {
    pub fields: Fields,
    /// Orders the active ones: the event that made it so.
    activated: u64,
    pub trace: Option<String>,
}

impl Standing {
    pub fn is_active(&self) -> bool {
        self.fields.get("active") == Some(&Value::Bool(true))
    }
}

pub(crate) struct Board<'a> {
    live: &'a Live,
    now: Timestamp,
    /// What the command did so far; `None` where a state went.
    changed: BTreeMap<(Scope, Mode), Option<Standing>>,
    events: Vec<NewEvent>,
    origin: Origin,
    /// Sessions for which another event of this command already is a sign of life.
    seen: BTreeSet<Scope>,
}

impl<'a> Board<'a> {
    pub fn new(live: &'a Live, now: Timestamp) -> Board<'a> {
        Board {
            live,
            now,
            changed: BTreeMap::new(),
            events: Vec::new(),
            origin: Origin::default(),
            seen: BTreeSet::new(),
        }
    }
    /// The states as the command of a call sees them: what becomes active keeps where the call came from.
    pub fn for_call(ctx: &Ctx, live: &'a Live) -> Board<'a> {
        Board {
            origin: ctx.control.origin.clone(),
            ..Board::new(live, ctx.now)
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

    // --- what there is --------------------------------------------------------------------------

    pub fn state(&self, scope: &Scope, mode: Mode) -> Result<Option<Standing>> {
        if let Some(changed) = self.changed.get(&(scope.clone(), mode)) {
            return Ok(changed.clone());
        }
        let state = self.live.mode_state(scope, mode)?;
        Ok(state.map(|state| Standing {
            fields: state.fields,
            activated: state.activated,
            trace: state.trace_id,
        }))
    }

    pub fn active_state(&self, scope: &Scope, mode: Mode) -> Result<Option<Standing>> {
        Ok(self.state(scope, mode)?.filter(Standing::is_active))
    }

    /// The state that a caller in this scope sees, and where it lies: in the session, else at the root.
    pub fn visible(&self, scope: &Scope, mode: Mode) -> Result<Option<(Scope, Standing)>> {
        for scope in visible_from(scope) {
            if let Some(state) = self.state(&scope, mode)? {
                return Ok(Some((scope, state)));
            }
        }
        Ok(None)
    }

    /// The state by which a mode is active already for a caller in this scope: the session's, else the root's, even if an ended
    /// state of the session hides it.
    pub fn already_active(&self, scope: &Scope, mode: Mode) -> Result<Option<(Scope, Standing)>> {
        for scope in visible_from(scope) {
            if let Some(state) = self.active_state(&scope, mode)? {
                return Ok(Some((scope, state)));
            }
        }
        Ok(None)
    }

    /// The modes that are active in one scope alone, each with what orders it.
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

    /// The modes that are active for a caller in a scope, in the order in which they started.
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

    /// The modes that another one in this scope may collide with, in the order in which they started: those of the
    /// session, and those of the root even where a state of the session hides them.
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

    /// Where each mode that [`Board::beside`] names is active.
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

    /// Whether a session ended, or gave no sign of life for so long that it holds up nobody.
    pub fn is_stale(&self, session: &str) -> Result<bool> {
        let life = self.live.session_life(session)?;
        let limit = self.live.setting(Setting::SessionStale)?.0.number();
        Ok(life.is_some_and(|life| !life.is_live(self.now, limit)))
    }

    // --- what is done ---------------------------------------------------------------------------

    /// Notes that somebody acts in a scope. It is recorded only if a mode is active in the session, no other event of
    /// this command shows it, and the last sign of life is not recent.
    pub fn see(&mut self, scope: &Scope) -> Result<()> {
        let Some(session) = scope.session() else {
            return Ok(());
        };
        if self.seen.contains(scope) || self.active_in(scope)?.is_empty() {
            return Ok(());
        }
        let limit = self.live.setting(Setting::SessionStale)?.0.number();
        let life = self.live.session_life(session)?;
        // A time ahead of now comes from a wrong clock, and would keep the session alive for too long.
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

    /// The time of a sign of life, where its event cannot say it: behind events of a clock that ran ahead.
    fn seen_at(&self, scope: &Scope) -> Option<Timestamp> {
        let ahead = self.live.last_at().is_some_and(|last| self.is_ahead(last));
        (ahead && *scope != Scope::Root).then_some(self.now)
    }

    /// Whether a time of the log lies further ahead than times of events that come at once do.
    fn is_ahead(&self, at: Timestamp) -> bool {
        at > self.now.plus_micros(AHEAD_TOLERATED_MICROS)
    }

    /// Ends a session: what is active in it, or waits for its user, is canceled. The modes that were active are answered.
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
            SessionEnd::Stale => "its session gave no sign of life for long",
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

    /// Records what moves no state.
    pub fn record(&mut self, made: Result<NewEvent, JsonError>) -> Result<()> {
        self.events.push(made.map_err(unstorable)?);
        Ok(())
    }

    /// Puts a new state in the place of whatever was there.
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
        let was_active = before.as_ref().is_some_and(Standing::is_active);
        let mut fields = before.map(|state| state.fields).unwrap_or_default();
        for field in &unset {
            fields.remove(field);
        }
        fields.extend(set.clone());
        self.keep(scope, mode, fields, trace.clone(), !was_active)?;
        if change != Change::AutoCompleted {
            self.seen.insert(scope.clone());
        }
        let changed = change.of(ModeChanged {
            mode,
            scope: scope.clone(),
            set,
            unset,
            seen_at: self.seen_at(scope),
        });
        self.record(changed.event(DEFAULT_ACTOR, trace.as_deref()))
    }

    /// Takes a state away, or leaves a tombstone in its place.
    pub fn clear(&mut self, scope: &Scope, mode: Mode, tombstone: bool) -> Result<()> {
        let trace = self.state(scope, mode)?.and_then(|state| state.trace);
        let left = tombstone.then(|| Standing {
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

    /// Changes the lock on input that a state holds.
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

    /// Says what stands beside the list of active skills of a scope, and what the list is at this moment.
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

    /// Adds the fields of ownership to a state that becomes active; those of the caller win.
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
            // What this command records comes behind all that is recorded, in this order.
            _ => self.live.seq() + 1 + self.events.len() as u64,
        };
        let state = Standing {
            fields,
            activated,
            trace,
        };
        self.changed.insert((scope.clone(), mode), Some(state));
        Ok(())
    }
}

/// The scopes that a caller in one sees, the nearest first.
pub(crate) fn visible_from(scope: &Scope) -> Vec<Scope> {
    match scope {
        Scope::Root => vec![Scope::Root],
        session => vec![session.clone(), Scope::Root],
    }
}

fn check_size(field: &'static str, fields: &Fields) -> Result<(), Refusal> {
    // Into memory nothing fails.
    let bytes = serde_json::to_vec(fields).map_or(0, |text| text.len());
    if bytes <= STATE_BYTES_MAX {
        return Ok(());
    }
    let message =
        format!("{field} must be at most {STATE_BYTES_MAX} bytes long as JSON, but is {bytes}");
    Err(Refusal::new(Code::TooLarge, message).field(field))
}

/// The JSON that a caller gave is nested too deeply to be stored.
fn unstorable(error: JsonError) -> Refusal {
    let message = format!("state must be JSON that can be stored: {error}");
    Refusal::new(Code::InvalidInput, message).field("state")
}

/// Puts a field among others, if it is given.
pub(crate) fn put(fields: &mut Fields, field: &str, value: Option<impl Into<Value>>) {
    if let Some(value) = value {
        fields.insert(field.to_owned(), value.into());
    }
}

/// The fields of an object of `json!`.
pub(crate) fn object(value: Value) -> Fields {
    match value {
        Value::Object(fields) => fields,
        _ => Fields::new(),
    }
}

/// Whether a state only says that it was cleared.
pub(crate) fn is_tombstone(state: &Standing) -> bool {
    let phase = state.fields.get("current_phase").and_then(Value::as_str);
    state.fields.is_empty() || (!state.is_active() && phase == Some("cleared"))
}

/// The modes that are active for a caller in a scope; see [`Board::active`].
pub(crate) fn active(live: &Live, scope: &Scope) -> Result<Vec<Mode>> {
    Board::new(live, Timestamp::default()).active(scope)
}
