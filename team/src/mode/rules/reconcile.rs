//! What happens to the active modes when another one starts: decide, complete those that hand over (in the session,
//! then at the root), update the list of skills. The caller then starts the mode.
//!
//! A mode that starts at the root is active for every session, so every session with active modes is asked, and one
//! denial refuses it. A session that was silent for too long is ended instead of denying anything.

use crate::mode::prelude::*;
use crate::mode::rules::denial::{self, Action, ActiveMode, session_option};
use crate::mode::rules::prompt::lock;
use crate::mode::rules::reading::is_asked;
use crate::mode::rules::transition::{Denial, Kind, Review, Transition, decide};
use crate::projections::mode::event::{ModeTransitioned, SessionEnd};
use crate::projections::words;

words! {
    /// Which request starts a mode, as the events name it.
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
    fn action(self) -> Action {
        match self {
            Source::Prompt => Action::Activate,
            Source::Start => Action::Start,
            Source::Write => Action::Write,
        }
    }
}

words! {
    /// Why a lock on input ends.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Exit {
        /// What it protected is done.
        Success = "success",
        /// It failed.
        Error = "error",
        /// It was called off.
        Abort = "abort",
        /// Another mode took over.
        Handoff = "handoff",
    }
}

/// Decides whether a mode may become active in a scope, and ends the modes that hand over to it. Starting the mode is
/// left to the caller. The answer names every mode that was completed, also in sessions.
pub(crate) fn reconcile(
    board: &mut Board<'_>,
    team: &str,
    scope: &Scope,
    mode: Mode,
    source: Source,
) -> Result<Transition> {
    let mut all = vec![(scope.clone(), decided(board, scope, mode)?)];
    if *scope == Scope::Root {
        for session in board.active_sessions()? {
            let said = decided(board, &session, mode)?;
            match session.session() {
                Some(name) if !said.is_allowed() && board.is_stale(name)? => {
                    end_session(board, name, SessionEnd::Stale, None)?;
                }
                _ => all.push((session, said)),
            }
        }
    }
    if let Some(refusal) = denied(board, team, &all, source)? {
        return Err(refusal.into());
    }
    for (at, transition) in &all {
        let tells = match at == scope {
            true => !transition.current.is_empty(),
            false => !transition.auto_completed.is_empty(),
        };
        if tells && !transition.changes_nothing() {
            let trace = story(board, at, transition)?;
            let told = told(at, transition, source);
            board.record(told.event(DEFAULT_ACTOR, trace.as_deref()))?;
        }
    }
    // Sessions first: a state of theirs lies over that of the root.
    for (at, transition) in all.iter().rev() {
        complete_sources(board, at, transition, source)?;
    }
    take_over(board, scope, mode)?;
    Ok(all_told(&all, mode))
}

/// The answer for the caller. It names hand-offs in sessions, too, even where the root hands nothing over.
fn all_told(all: &[(Scope, Transition)], mode: Mode) -> Transition {
    let own = all.first().map(|(_, own)| own.clone());
    let mut told = own.unwrap_or_else(|| decide(&[], mode, Review::Unknown));
    for (_, transition) in all.iter().filter(|(_, one)| one.kind == Kind::AutoComplete) {
        told.kind = Kind::AutoComplete;
        for mode in &transition.auto_completed {
            if !told.auto_completed.contains(mode) {
                told.auto_completed.push(*mode);
            }
        }
        told.message = told.message.or_else(|| transition.message.clone());
    }
    told
}

/// The transition in one scope.
fn decided(board: &Board<'_>, scope: &Scope, mode: Mode) -> Result<Transition> {
    Ok(decide(&board.beside(scope)?, mode, review(board, scope)?))
}

/// The refusal, if the transition is denied in any scope. It names every mode that is in the way, and where.
fn denied(
    board: &Board<'_>,
    team: &str,
    all: &[(Scope, Transition)],
    source: Source,
) -> Result<Option<Refusal>> {
    let mut whole: Option<Transition> = None;
    let mut places: Vec<ActiveMode> = Vec::new();
    let mut sessions = Vec::new();
    let mut at_root = false;
    for (scope, denied) in all.iter().filter(|(_, one)| !one.is_allowed()) {
        for place in board.places(scope)? {
            if !places.contains(&place) {
                places.push(place);
            }
        }
        sessions.extend(scope.session());
        at_root |= *scope == Scope::Root;
        match &mut whole {
            None => whole = Some(denied.clone()),
            Some(whole) => {
                join(&mut whole.current, &denied.current);
                join(&mut whole.resulting, &denied.resulting);
                join(&mut whole.blocking, &denied.blocking);
                if denied.denial == Some(Denial::Rollback) {
                    whole.denial = denied.denial;
                }
            }
        }
    }
    let Some(mut whole) = whole else {
        return Ok(None);
    };
    denial::word(&mut whole, source.action(), Some(team), &places);
    let refusal = denial::refusal(&whole);
    Ok(Some(match &*sessions {
        [] => refusal,
        [one] if !at_root => refusal.detail("session_id", *one),
        _ => refusal.detail("sessions", sessions),
    }))
}

fn join(modes: &mut Vec<Mode>, more: &[Mode]) {
    for mode in more {
        if !modes.contains(mode) {
            modes.push(*mode);
        }
    }
}

/// An interview that waits for its answer is not active, and yet keeps its lock and its question: both end where a mode
/// starts that does not go beside it.
fn take_over(board: &mut Board<'_>, scope: &Scope, mode: Mode) -> Result<()> {
    let interview = Mode::DeepInterview;
    let beside = decide(&[interview], mode, Review::Unknown).kind == Kind::Overlap;
    if mode == interview || beside {
        return Ok(());
    }
    for scope in visible_from(scope) {
        let state = board.state(&scope, interview)?;
        if !state.is_some_and(|state| is_waiting(&state)) {
            continue;
        }
        let ending = Ending::new(Change::Updated, Exit::Handoff, Fields::new());
        end(board, &scope, interview, ending)?;
    }
    Ok(())
}

/// Whether a state that is not active holds its lock on input, or a question to the user.
pub(crate) fn is_waiting(state: &Standing) -> bool {
    !state.is_active() && (lock::held(&state.fields).is_some() || is_asked(&state.fields))
}

/// Ends a session: what is active in it, or waits for its user, is canceled. The modes that were active are answered.
pub(crate) fn end_session(
    board: &mut Board<'_>,
    session: &str,
    reason: SessionEnd,
    note: Option<String>,
) -> Result<Vec<Mode>> {
    let scope = Scope::Session(session.to_owned());
    let mut canceled = Vec::new();
    for mode in Mode::ALL {
        let Some(state) = board.state(&scope, mode)? else {
            continue;
        };
        if !state.is_active() && !is_waiting(&state) {
            continue;
        }
        if state.is_active() {
            canceled.push(mode);
        }
        let why = match reason {
            SessionEnd::Ended => "its session ended",
            SessionEnd::Stale => "its session gave no sign of life for long",
        };
        end(board, &scope, mode, Ending::canceled(Some(why)))?;
    }
    board.end_session(session, reason, note)?;
    Ok(canceled)
}

/// What the state of autopilot says of its review: clean only where both verdicts say so.
pub(crate) fn review(board: &Board<'_>, scope: &Scope) -> Result<Review> {
    for scope in visible_from(scope) {
        if let Some(state) = board.active_state(&scope, Mode::Autopilot)? {
            return Ok(verdict(&state.fields));
        }
    }
    Ok(Review::Unknown)
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

/// The story that a hand-off belongs to: that of the first mode that hands over.
fn story(board: &Board<'_>, scope: &Scope, transition: &Transition) -> Result<Option<String>> {
    let Some(mode) = transition.auto_completed.first() else {
        return Ok(None);
    };
    let state = board.visible(scope, *mode)?;
    Ok(state.and_then(|(_, state)| state.trace))
}

/// Ends the modes that hand over, each wherever it is active; then says so beside the lists of skills.
fn complete_sources(
    board: &mut Board<'_>,
    scope: &Scope,
    transition: &Transition,
    source: Source,
) -> Result<()> {
    let trace = story(board, scope, transition)?;
    let mut touched = Vec::new();
    for mode in &transition.auto_completed {
        for scope in visible_from(scope) {
            if board.active_state(&scope, *mode)?.is_some() {
                auto_complete(board, &scope, *mode, transition, source)?;
                if !touched.contains(&scope) {
                    touched.push(scope);
                }
            }
        }
    }
    for scope in touched {
        board.sync(&scope, Fields::new(), trace.as_deref())?;
    }
    Ok(())
}

fn auto_complete(
    board: &mut Board<'_>,
    scope: &Scope,
    mode: Mode,
    transition: &Transition,
    source: Source,
) -> Result<()> {
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
    let ending = Ending::new(Change::AutoCompleted, Exit::Handoff, set);
    end(board, scope, mode, ending)
}

/// The fields of a state that is over.
pub(crate) fn ended(phase: &str, outcome: Lifecycle) -> Fields {
    object(json!({
        "active": false,
        "current_phase": phase,
        "run_outcome": outcome.run(),
        "lifecycle_outcome": outcome,
    }))
}

/// How an active mode ends.
#[derive(Debug, Clone)]
pub(crate) struct Ending {
    pub change: Change,
    /// What its lock on input is released for; `None` keeps it.
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

    /// Its user stepped in.
    pub fn canceled(reason: Option<&str>) -> Ending {
        let mut set = ended("cancelled", Lifecycle::UserInterlude);
        put(&mut set, "stop_reason", reason);
        Ending::new(Change::Canceled, Exit::Abort, set)
    }
}

/// Ends an active mode: changes its state, then releases what it holds. The time of an end that was there already stays.
pub(crate) fn end(
    board: &mut Board<'_>,
    scope: &Scope,
    mode: Mode,
    mut ending: Ending,
) -> Result<()> {
    let Some(state) = board.state(scope, mode)? else {
        return Ok(());
    };
    let blank = |value: &Value| value.as_str().is_none_or(|text| text.trim().is_empty());
    if state.fields.get("completed_at").is_none_or(blank) {
        let now = board.now().to_string();
        let set = &mut ending.set;
        set.entry("completed_at").or_insert_with(|| now.into());
    }
    let question = ending
        .exit
        .and_then(|exit| settled_question(board, &state.fields, exit));
    if let Some(question) = question {
        let set = &mut ending.set;
        set.entry("question_enforcement").or_insert(question);
    }
    board.change(ending.change, scope, mode, ending.set, ending.unset)?;
    match ending.exit {
        Some(exit) => release(board, scope, mode, exit),
        None => Ok(()),
    }
}

/// Releases the lock on input that a mode holds.
pub(crate) fn release(board: &mut Board<'_>, scope: &Scope, mode: Mode, exit: Exit) -> Result<()> {
    let Some(state) = board.state(scope, mode)? else {
        return Ok(());
    };
    let Some(mut lock) = lock::held(&state.fields).cloned() else {
        return Ok(());
    };
    lock.insert("active".into(), false.into());
    lock.insert("released_at".into(), board.now().to_string().into());
    lock.insert("exit_reason".into(), exit.name().into());
    board.lock(scope, mode, false, lock)
}

/// How a pending question ends: satisfied on success, else cleared.
fn settled_question(board: &Board<'_>, fields: &Fields, exit: Exit) -> Option<Value> {
    let Some(Value::Object(question)) = fields.get("question_enforcement") else {
        return None;
    };
    if question.get("status").and_then(Value::as_str) != Some("pending") {
        return None;
    }
    let now = board.now().to_string();
    let mut question = question.clone();
    question.extend(object(match exit {
        Exit::Success => json!({"status": "satisfied", "satisfied_at": now}),
        _ => json!({"status": "cleared", "cleared_at": now, "clear_reason": exit.name()}),
    }));
    Some(question.into())
}

/// The active state of a mode that a caller in a scope sees, and where it lies.
pub(crate) fn active(
    board: &Board<'_>,
    team: &str,
    acting: &Scope,
    mode: Mode,
) -> Result<(Scope, Standing)> {
    let visible = board.visible(acting, mode)?;
    let scope = visible.as_ref().map_or(acting, |(scope, _)| scope);
    let place = match scope.session() {
        None => "at the root".to_owned(),
        Some(session) => format!("in session {session}"),
    };
    let message = format!("mode must be active {place}, but {mode} is not");
    let refusal = Refusal::new(Code::ModeNotActive, message).field("mode");
    let refusal = refusal.hint(to_start(team, scope, mode));
    let active = visible.filter(|(_, state)| state.is_active());
    active.ok_or_else(|| refusal.into())
}

/// The command that starts a mode in a scope.
pub(crate) fn to_start(team: &str, scope: &Scope, mode: Mode) -> String {
    let session = scope.session().map(session_option).unwrap_or_default();
    format!("teamlog mode start {team} {mode}{session}")
}
