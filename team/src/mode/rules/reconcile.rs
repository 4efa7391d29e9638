//! What becomes of the modes that are active when another one becomes so, in this order: decide, complete those that hand
//! over (in the session, then at the root), bring the list of skills in line. Whoever asked then starts the mode.
//!
//! What becomes active at the root becomes so for every session, so that each session with active modes has its say; one
//! "no" refuses all. A session that gave no sign of life for long holds up nobody: instead of saying no it ends.

use crate::mode::rules::board::{Board, Standing, visible_from};
use crate::mode::rules::denial::{self, Action, Place, session_option};
use crate::mode::rules::prompt::lock;
use crate::mode::rules::reading::is_asked;
use crate::mode::rules::transition::{Denial, Kind, Review, Transition, decide};
use crate::prelude::*;
use crate::projections::mode::event::{Change, Fields, ModeTransitioned, SessionEnd};
use crate::projections::mode::{Mode, Scope};
use crate::projections::words;

words! {
    /// What sort of request makes a mode active, as its traces name it.
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

/// Decides what becomes of making a mode active in a scope, and ends what hands over to it. The mode itself is left to
/// the caller. What is answered names all that was completed, in sessions as well.
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

/// What whoever asked is told: also of what hands over in sessions, where the root itself has nothing to hand over.
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

/// What becomes of it in one scope.
fn decided(board: &Board<'_>, scope: &Scope, mode: Mode) -> Result<Transition> {
    Ok(decide(&board.beside(scope)?, mode, review(board, scope)?))
}

/// The refusal, where any scope says no. It names all that is in the way, wherever that is.
fn denied(
    board: &Board<'_>,
    team: &str,
    all: &[(Scope, Transition)],
    source: Source,
) -> Result<Option<Refusal>> {
    let mut whole: Option<Transition> = None;
    let mut places: Vec<Place> = Vec::new();
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
        let ending = Ending {
            change: Change::Updated,
            exit: Some(Exit::Handoff),
            set: Fields::new(),
            unset: Vec::new(),
        };
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
        let mut set = ended("cancelled", "cancelled", "userinterlude");
        let why = match reason {
            SessionEnd::Ended => "its session ended",
            SessionEnd::Stale => "its session gave no sign of life for long",
        };
        set.insert("stop_reason".into(), why.into());
        let ending = Ending {
            change: Change::Canceled,
            exit: Some(Exit::Abort),
            set,
            unset: Vec::new(),
        };
        end(board, &scope, mode, ending)?;
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
    if transition.kind != Kind::AutoComplete {
        return Ok(());
    }
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
    let mut set = ended("completed", "finish", "finished");
    set.insert("auto_completed_reason".into(), reason.into());
    set.insert("completion_note".into(), note.into());
    set.insert("transition_source".into(), source.name().into());
    set.insert("transition_target_mode".into(), destination.name().into());
    let ending = Ending {
        change: Change::AutoCompleted,
        exit: Some(Exit::Handoff),
        set,
        unset: Vec::new(),
    };
    end(board, scope, mode, ending)
}

/// The fields of a state that is over.
pub(crate) fn ended(phase: &str, run: &str, lifecycle: &str) -> Fields {
    let mut set = Fields::new();
    set.insert("active".into(), false.into());
    set.insert("current_phase".into(), phase.into());
    set.insert("run_outcome".into(), run.into());
    set.insert("lifecycle_outcome".into(), lifecycle.into());
    set
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
    let Some(Value::Object(lock)) = state.fields.get("input_lock") else {
        return Ok(());
    };
    if lock.get("active") != Some(&Value::Bool(true)) {
        return Ok(());
    }
    let mut lock = lock.clone();
    lock.insert("active".into(), false.into());
    lock.insert("released_at".into(), board.now().to_string().into());
    lock.insert("exit_reason".into(), exit.name().into());
    board.lock(scope, mode, false, lock)
}

/// What becomes of a question that is pending: nobody is to answer it any more, unless all is done.
fn settled_question(board: &Board<'_>, fields: &Fields, exit: Exit) -> Option<Value> {
    let Some(Value::Object(question)) = fields.get("question_enforcement") else {
        return None;
    };
    if question.get("status").and_then(Value::as_str) != Some("pending") {
        return None;
    }
    let now = board.now().to_string();
    let mut question = question.clone();
    match exit {
        Exit::Success => {
            question.insert("status".into(), "satisfied".into());
            question.insert("satisfied_at".into(), now.into());
        }
        Exit::Error | Exit::Abort | Exit::Handoff => {
            question.insert("status".into(), "cleared".into());
            question.insert("cleared_at".into(), now.into());
            question.insert("clear_reason".into(), exit.name().into());
        }
    }
    Some(question.into())
}

/// A refusal of what needs an active mode.
pub(crate) fn not_active(mode: Mode, team: &str, scope: &Scope) -> Refusal {
    use crate::refusal::Code;
    let place = match scope.session() {
        None => "at the root".to_owned(),
        Some(session) => format!("in session {session}"),
    };
    let message = format!("mode must be active {place}, but {mode} is not");
    let session = scope.session().map(session_option);
    let hint = format!(
        "teamlog mode start {team} {mode}{}",
        session.unwrap_or_default()
    );
    Refusal::new(Code::ModeNotActive, message)
        .field("mode")
        .hint(hint)
}
