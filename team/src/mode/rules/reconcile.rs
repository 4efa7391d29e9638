//! Reconciles the active modes with a mode that starts. First decides if the mode may start. Then completes the modes that hand over to the
//! new mode, in sessions before the root, and updates the list of skills. The caller starts the mode afterwards.
//!
//! A mode at the root is active for every session. So the start of such a mode is checked against every session with active
//! modes, and one denial refuses the start. A stale session is ended instead of checked.

use crate::mode::prelude::*;
use crate::mode::rules::prompt::lock;
use crate::projections::mode::event::ModeTransitioned;

words! {
    /// The request that starts a mode. Events contain its name.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Source {
        /// A prompt.
        Prompt = "keyword-detector",
        /// `mode start`.
        Start = "startMode",
        /// A write of a state.
        Write = "state-operations",
    }
}

impl Source {
    /// Returns the verb for the text of a denial.
    pub fn verb(self) -> &'static str {
        match self {
            Source::Prompt => "activate",
            Source::Start => "start",
            Source::Write => "write",
        }
    }
}

words! {
    /// Reason for releasing an input lock.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Exit {
        /// The locked mode finished.
        Success = "success",
        /// The locked mode failed.
        Error = "error",
        /// The locked mode was canceled.
        Abort = "abort",
        /// The locked mode handed over to another mode.
        Handoff = "handoff",
    }
}

impl ModeDecision<'_> {
    /// Decides if a mode may become active in a scope, and ends the modes that hand over to this mode. The caller starts the
    /// mode. The answer names every completed mode, also the modes of sessions.
    pub fn reconcile(&mut self, scope: &Scope, mode: Mode, source: Source) -> Result<Transition> {
        let mut all = vec![(scope.clone(), self.decided(scope, mode)?)];
        if *scope == Scope::Root {
            for session in self.active_sessions()? {
                let said = self.decided(&session, mode)?;
                match session.session() {
                    Some(name) if !said.is_allowed() && self.is_stale(name)? => {
                        self.end_session(name, SessionEnd::Stale, None)?;
                    }
                    _ => all.push((session, said)),
                }
            }
        }
        self.check_denied(&all, source)?;
        for (at, transition) in &all {
            let tells = match at == scope {
                true => !transition.current.is_empty(),
                false => !transition.auto_completed.is_empty(),
            };
            if tells && !transition.changes_nothing() {
                let trace = self.story(at, transition)?;
                let told = told(at, transition, source);
                self.record(told.event(DEFAULT_ACTOR, trace.as_deref()))?;
            }
        }
        // Sessions come first, because their states hide the states of the root.
        for (at, transition) in all.iter().rev() {
            self.complete_sources(at, transition, source)?;
        }
        self.take_over(scope, mode)?;
        Ok(all_told(&all, mode))
    }

    fn decided(&self, scope: &Scope, mode: Mode) -> Result<Transition> {
        Ok(decide(&self.beside(scope)?, mode, self.review(scope)?))
    }

    /// Refuses the start if any scope denies the transition. The refusal names every blocking mode with its scope.
    fn check_denied(&self, all: &[(Scope, Transition)], source: Source) -> Result<()> {
        let mut whole: Option<Transition> = None;
        let mut places: Vec<ActiveMode> = Vec::new();
        let mut sessions = Vec::new();
        let mut at_root = false;
        for (scope, denied) in all.iter().filter(|(_, one)| !one.is_allowed()) {
            join(&mut places, self.places(scope)?);
            sessions.extend(scope.session());
            at_root |= *scope == Scope::Root;
            match &mut whole {
                None => whole = Some(denied.clone()),
                Some(whole) => {
                    join(&mut whole.current, denied.current.iter().copied());
                    join(&mut whole.resulting, denied.resulting.iter().copied());
                    join(&mut whole.blocking, denied.blocking.iter().copied());
                    if denied.denial == Some(Denial::Rollback) {
                        whole.denial = denied.denial;
                    }
                }
            }
        }
        let Some(mut whole) = whole else {
            return Ok(());
        };
        denial::word(&mut whole, source, Some(self.team()), &places);
        let refusal = denial::refusal(&whole);
        Err(match &*sessions {
            [] => refusal,
            [one] if !at_root => refusal.detail("session_id", *one),
            _ => refusal.detail("sessions", sessions),
        }
        .into())
    }

    /// Ends an interview that waits for its answer. Such an interview is inactive, but keeps its lock and question until a
    /// mode starts that cannot be active together with it.
    fn take_over(&mut self, scope: &Scope, mode: Mode) -> Result<()> {
        let interview = Mode::DeepInterview;
        let beside = decide(&[interview], mode, Review::Unknown).kind == Kind::Overlap;
        if mode == interview || beside {
            return Ok(());
        }
        for scope in visible_from(scope) {
            if self
                .state(&scope, interview)?
                .is_some_and(|state| is_waiting(&state))
            {
                let ending = Ending::new(Change::Updated, Exit::Handoff, Fields::new());
                self.end(&scope, interview, ending)?;
            }
        }
        Ok(())
    }

    /// Returns the modes of a scope that are active or wait for their user. The flag is true for active modes.
    pub fn open_in(&self, scope: &Scope) -> Result<Vec<(Mode, bool)>> {
        let mut open = Vec::new();
        for mode in Mode::ALL {
            if let Some(state) = self.state(scope, mode)?
                && (state.is_active() || is_waiting(&state))
            {
                open.push((mode, state.is_active()));
            }
        }
        Ok(open)
    }

    /// Returns the review in autopilot's state. The review is clean only if both of its verdicts are clean.
    pub fn review(&self, scope: &Scope) -> Result<Review> {
        for scope in visible_from(scope) {
            if let Some(state) = self.active_state(&scope, Mode::Autopilot)? {
                return Ok(verdict(&state.fields));
            }
        }
        Ok(Review::Unknown)
    }

    /// Returns the trace of a hand-off, which is the trace of the first mode that hands over.
    fn story(&self, scope: &Scope, transition: &Transition) -> Result<Option<String>> {
        let Some(mode) = transition.auto_completed.first() else {
            return Ok(None);
        };
        let state = self.visible(scope, *mode)?;
        Ok(state.and_then(|(_, state)| state.trace))
    }

    /// Ends the modes that hand over, in every scope where they are active. Updates the lists of skills.
    fn complete_sources(
        &mut self,
        scope: &Scope,
        transition: &Transition,
        source: Source,
    ) -> Result<()> {
        let trace = self.story(scope, transition)?;
        let mut touched = Vec::new();
        for mode in &transition.auto_completed {
            for scope in visible_from(scope) {
                if self.active_state(&scope, *mode)?.is_some() {
                    self.end(&scope, *mode, auto_completed(*mode, transition, source))?;
                    join(&mut touched, [scope]);
                }
            }
        }
        for scope in touched {
            self.sync(&scope, Fields::new(), trace.as_deref())?;
        }
        Ok(())
    }

    /// Ends an active mode: changes its state and releases its lock. Keeps an earlier `completed_at`.
    pub fn end(&mut self, scope: &Scope, mode: Mode, mut ending: Ending) -> Result<()> {
        let Some(state) = self.state(scope, mode)? else {
            return Ok(());
        };
        let blank = |value: &Value| value.as_str().is_none_or(|text| text.trim().is_empty());
        let set = &mut ending.set;
        if state.fields.get("completed_at").is_none_or(blank) {
            set.entry("completed_at")
                .or_insert_with(|| self.now().to_string().into());
        }
        let question = ending
            .exit
            .and_then(|exit| settled_question(self.now(), &state.fields, exit));
        if let Some(question) = question {
            set.entry("question_enforcement").or_insert(question);
        }
        self.change(ending.change, scope, mode, ending.set, ending.unset)?;
        match ending.exit {
            Some(exit) => self.release(scope, mode, exit),
            None => Ok(()),
        }
    }

    /// Cancels the mode `ultrawork` if the canceled mode `forge` is linked to it.
    pub fn cancel_linked(&mut self, scope: &Scope, mode: Mode, fields: &Fields) -> Result<()> {
        let linked =
            mode == Mode::Forge && fields.get("linked_ultrawork") == Some(&Value::Bool(true));
        if !linked || self.active_state(scope, Mode::Ultrawork)?.is_none() {
            return Ok(());
        }
        let reason = "the forge that it is linked to was canceled";
        self.end(scope, Mode::Ultrawork, Ending::canceled(Some(reason)))
    }

    /// Locks the input of a mode that has just become active, if the mode has an input lock.
    pub fn lock_input(&mut self, scope: &Scope, mode: Mode) -> Result<()> {
        match mode.locks_input() {
            true => self.lock(scope, mode, true, seed::lock(self.now())),
            false => Ok(()),
        }
    }

    pub fn release(&mut self, scope: &Scope, mode: Mode, exit: Exit) -> Result<()> {
        let state = self.state(scope, mode)?;
        let Some(mut lock) = state.and_then(|state| lock::held(&state.fields).cloned()) else {
            return Ok(());
        };
        lock.insert("active".into(), false.into());
        lock.insert("released_at".into(), self.now().to_string().into());
        lock.insert("exit_reason".into(), exit.name().into());
        self.lock(scope, mode, false, lock)
    }

    /// Returns the active state of a mode for a caller in a scope, and the scope of that state.
    pub fn running(&self, acting: &Scope, mode: Mode) -> Result<(Scope, WorkingState)> {
        let visible = self.visible(acting, mode)?;
        let scope = visible.as_ref().map_or(acting, |(scope, _)| scope);
        let place = match scope.session() {
            None => "at the root".to_owned(),
            Some(session) => format!("in session {session}"),
        };
        let message = format!("{mode} is not active {place}");
        let refusal = Refusal::new(Code::ModeNotActive, message).field("mode");
        let refusal = not_active_in(refusal, scope, mode);
        let active = visible.filter(|(_, state)| state.is_active());
        active.ok_or_else(|| refusal.into())
    }
}

/// Adds the mode and its session to a refusal with the code `mode_not_active`.
pub fn not_active_in(refusal: Refusal, scope: &Scope, mode: Mode) -> Refusal {
    let refusal = refusal.detail("mode", mode.name());
    match scope.session() {
        Some(session) => refusal.detail("session_id", session),
        None => refusal,
    }
}

/// Combines the transitions of all scopes into one. The result also names hand-offs in sessions, even if the root has no hand-off.
fn all_told(all: &[(Scope, Transition)], mode: Mode) -> Transition {
    let own = all.first().map(|(_, own)| own.clone());
    let mut told = own.unwrap_or_else(|| decide(&[], mode, Review::Unknown));
    for (_, transition) in all.iter().filter(|(_, one)| one.kind == Kind::AutoComplete) {
        told.kind = Kind::AutoComplete;
        join(
            &mut told.auto_completed,
            transition.auto_completed.iter().copied(),
        );
        told.message = told.message.or_else(|| transition.message.clone());
    }
    told
}

/// Returns true if an inactive state has an input lock or a question to the user.
pub(crate) fn is_waiting(state: &WorkingState) -> bool {
    !state.is_active() && (lock::held(&state.fields).is_some() || is_asked(&state.fields))
}

fn verdict(fields: &Fields) -> Review {
    let nested = || {
        fields
            .get("state")
            .and_then(|state| state.get("review_verdict"))
    };
    let said = fields.get("review_verdict").filter(|said| !said.is_null());
    let Some(Value::Object(said)) = said.or_else(nested) else {
        return Review::Unknown;
    };
    let is = |field: &str, word: &str| said.get(field).and_then(Value::as_str) == Some(word);
    let clean = is("recommendation", "APPROVE")
        && is("architectural_status", "CLEAR")
        && said.get("clean") != Some(&Value::Bool(false));
    match clean {
        true => Review::Clean,
        false => Review::NotClean,
    }
}

fn told(scope: &Scope, transition: &Transition, source: Source) -> ModeTransitioned {
    ModeTransitioned {
        mode: transition.requested,
        requested: transition.requested,
        scope: scope.clone(),
        kind: transition.kind.name(),
        current: transition.current.clone(),
        resulting: transition.resulting.clone(),
        auto_completed: transition.auto_completed.clone(),
        message: transition.message.clone(),
        source: source.name(),
    }
}

fn auto_completed(mode: Mode, transition: &Transition, source: Source) -> Ending {
    let destination = transition.requested;
    let reason = transition.message.clone().unwrap_or_default();
    let note = format!("{mode} was completed because {destination} took over from it");
    let mut set = ended("completed", Lifecycle::Finished);
    set.extend(object(json!({
        "auto_completed_reason": reason,
        "completion_note": note,
        "transition_source": source.name(),
        "transition_target_mode": destination,
    })));
    Ending::new(Change::AutoCompleted, Exit::Handoff, set)
}

/// Returns the fields of an ended state.
pub(crate) fn ended(phase: &str, outcome: Lifecycle) -> Fields {
    object(json!({
        "active": false,
        "current_phase": phase,
        "run_outcome": outcome.run(),
        "lifecycle_outcome": outcome,
    }))
}

/// The way in which a mode ends.
pub(crate) struct Ending {
    pub change: Change,
    /// Reason for releasing the input lock; `None` keeps the lock.
    pub exit: Option<Exit>,
    pub set: Fields,
    pub unset: Vec<String>,
}

impl Ending {
    pub fn new(change: Change, exit: Exit, set: Fields) -> Ending {
        Ending {
            change,
            exit: Some(exit),
            set,
            unset: Vec::new(),
        }
    }

    /// Creates the ending of a mode that the user canceled.
    pub fn canceled(reason: Option<&str>) -> Ending {
        let mut set = ended("cancelled", Lifecycle::UserInterlude);
        put(&mut set, "stop_reason", reason);
        Ending::new(Change::Canceled, Exit::Abort, set)
    }
}

/// Returns the pending question with the status that it has after the end of the mode: satisfied after a success, else cleared.
fn settled_question(now: Timestamp, fields: &Fields, exit: Exit) -> Option<Value> {
    let Some(Value::Object(question)) = fields.get("question_enforcement") else {
        return None;
    };
    if question.get("status").and_then(Value::as_str) != Some("pending") {
        return None;
    }
    let now = now.to_string();
    let mut question = question.clone();
    question.extend(object(match exit {
        Exit::Success => json!({"status": "satisfied", "satisfied_at": now}),
        _ => json!({"status": "cleared", "cleared_at": now, "clear_reason": exit.name()}),
    }));
    Some(question.into())
}
