//! `mode-write` and `mode-update`. `mode-write` writes the state of a mode, active or not; `mode-update` changes the state of
//! an active mode.
//!
//! The steps are: merge the call's fields into the old state, check the mode's rules, settle the outcome, decide on the other
//! active modes if the mode becomes active, write. A call that breaks a rule writes nothing.

use crate::mode::prelude::*;
use crate::mode::rules::contract::Written;
use crate::mode::rules::decision::ORIGIN;
use crate::mode::start;
use crate::operation::Rules;

operation! {
    /// Change fields of an active mode; a final phase or outcome ends the mode
    "mode-update": Records(ModeUpdate {
        /// Name of the mode
        #[schemars(with = "Mode")]
        #[arg(value_name = "MODE")]
        mode: String,
        /// Session of the mode; the root if absent, or if the session has no state of the mode
        session_id: Option<String>,
        /// Current phase; a final phase ends the mode
        #[arg(long = "phase", value_name = "PHASE")]
        current_phase: Option<String>,
        /// Number of the current iteration
        #[arg(long, value_name = "N", value_parser = crate::argv::whole::<u64>)]
        iteration: Option<u64>,
        /// More fields of the state
        set: Option<Fields>,
        /// Fields to remove, separated by commas
        #[arg(long, value_name = "NAME,NAME", value_delimiter = ',')]
        unset: Option<Vec<String>>,
    }) -> ModeAnswer as mode_update,
    refuses = [UnsupportedMode, ModeNotActive, WorkerNotFound]
}

operation! {
    /// Write the state of a mode; its outcome decides if the mode is active
    "mode-write": Records(ModeWrite) -> ModeAnswer = Team::mode_write,
    refuses = [UnsupportedMode, ModeDenied, WorkerNotFound],
    rules = Rules {
        keeps_lookalikes: true,
        ..Rules::COMMON
    }
}

/// Input of `mode-write`. Unknown fields become fields of the state.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ModeWrite {
    /// The mode
    #[schemars(with = "Mode")]
    #[serde(deserialize_with = "typed::mode")]
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

/// Fields that every state has.
const KEPT: [&str; 3] = ["active", "mode", "updated_at"];

impl Team {
    /// Writes the state of a mode.
    pub fn mode_write(&mut self, write: ModeWrite) -> Result<ModeAnswer> {
        self.execute(write)
    }
}

impl Command for ModeWrite {
    type Decided = Decided;
    type Answer = ModeAnswer;

    fn terms(&self) -> CommandTerms<'_> {
        CommandTerms::new(Authority::Anyone).members_only()
    }

    fn decide(&self, ctx: &Ctx, live: &Live) -> Result<Decision<Decided>> {
        let mode = skill::mode(&self.mode)?;
        let scope = scope(self.session_id.as_deref())?;
        let mut given = self.fields.clone();
        put(&mut given, "state", self.state.clone());
        let given = start::given(contract::flattened(given)?);
        let mut decision = ModeDecision::for_call(ctx, live);
        let now = decision.now();
        let before = decision
            .state(&scope, mode)?
            .filter(|state| !is_tombstone(state));
        let fields = before.as_ref().map(|state| &state.fields);
        let written = contract::write(mode, fields, &given, now)?;
        let becomes_active =
            written.is_active() && !before.as_ref().is_some_and(WorkingState::is_active);
        let (transition, changed) = match becomes_active {
            true => {
                let told = decision.reconcile(&scope, mode, Source::Write)?;
                let mut state = written.state;
                // A mode that becomes active drops the origin of its earlier start.
                state.retain(|field, _| given.contains_key(field) || !ORIGIN.contains(&&**field));
                seed::fill(&mut state, now);
                if !told.auto_completed.is_empty() {
                    put(&mut state, "transition_message", told.message.clone());
                }
                decision.start(&scope, mode, state)?;
                if !given.contains_key("input_lock") {
                    decision.lock_input(&scope, mode)?;
                }
                (Some(told), true)
            }
            false => (None, settle(&mut decision, &scope, mode, before, &written)?),
        };
        decision.see(&scope)?;
        let decided = Decided {
            transition,
            warnings: written.warnings,
            changed,
            ..Decided::new(mode, scope.clone(), scope)
        };
        decided.granted(decision)
    }

    fn answer(&self, decided: &Decided, after: &After<'_>) -> Result<ModeAnswer> {
        decided.answer(after.live)
    }
}

impl ModeUpdate {
    fn given(&self) -> Fields {
        let mut given = start::given(self.set.clone().unwrap_or_default());
        put(&mut given, "current_phase", self.current_phase.as_deref());
        put(&mut given, "iteration", self.iteration);
        given
    }

    fn unset(&self) -> Result<&[String], Refusal> {
        let unset = self.unset.as_deref().unwrap_or_default();
        for field in unset {
            if KEPT.contains(&field.as_str()) {
                let kept = KEPT.join(", ");
                let rule = format!("must not contain {kept}: every state has these fields");
                return Err(Refusal::invalid("unset", field, &rule));
            }
        }
        Ok(unset)
    }
}

impl Command for ModeUpdate {
    type Decided = Decided;
    type Answer = ModeAnswer;

    fn terms(&self) -> CommandTerms<'_> {
        CommandTerms::new(Authority::Anyone).members_only()
    }

    fn decide(&self, ctx: &Ctx, live: &Live) -> Result<Decision<Decided>> {
        let mut decision = ModeDecision::for_call(ctx, live);
        let mode = skill::mode(&self.mode)?;
        let acting = scope(self.session_id.as_deref())?;
        let (given, unset) = (self.given(), self.unset()?);
        let (scope, state) = decision.running(&acting, mode)?;
        let mut kept = state.fields.clone();
        kept.retain(|field, _| !unset.contains(field));
        let written = contract::write(mode, Some(&kept), &given, decision.now())?;
        let changed = settle(&mut decision, &scope, mode, Some(state), &written)?;
        decision.see(&acting)?;
        let decided = Decided {
            warnings: written.warnings,
            changed,
            ..Decided::new(mode, scope, acting)
        };
        decided.granted(decision)
    }

    fn answer(&self, decided: &Decided, after: &After<'_>) -> Result<ModeAnswer> {
        decided.answer(after.live)
    }
}

/// Records the difference between the old and the new state. Returns true if there is a difference.
fn settle(
    decision: &mut ModeDecision<'_>,
    scope: &Scope,
    mode: Mode,
    before: Option<WorkingState>,
    written: &Written,
) -> Result<bool> {
    let was_active = before.as_ref().is_some_and(WorkingState::is_active);
    let there = decision.state(scope, mode)?.map(|state| state.fields);
    let (set, unset) = difference(&there.unwrap_or_default(), &written.state);
    if set.is_empty() && unset.is_empty() && before.is_some() {
        return Ok(false);
    }
    if !was_active || written.is_active() {
        decision.change(Change::Updated, scope, mode, set, unset)?;
        return Ok(true);
    }
    let (change, exit) = ending(written.run);
    let ending = Ending {
        change,
        exit,
        set,
        unset,
    };
    decision.end(scope, mode, ending)?;
    if written.run == RunOutcome::Cancelled {
        decision.cancel_linked(scope, mode, &written.state)?;
    }
    Ok(true)
}

/// Returns the change that an outcome makes to an active mode, and the reason to release the mode's lock. A mode that waits for its user
/// keeps its lock.
fn ending(run: RunOutcome) -> (Change, Option<Exit>) {
    match run {
        RunOutcome::Finish => (Change::Completed, Some(Exit::Success)),
        RunOutcome::Failed => (Change::Failed, Some(Exit::Error)),
        RunOutcome::Cancelled => (Change::Canceled, Some(Exit::Abort)),
        RunOutcome::BlockedOnUser | RunOutcome::Continue | RunOutcome::Progress => {
            (Change::Updated, None)
        }
    }
}

/// Returns the fields to set and the fields to remove in order to turn `before` into `after`.
fn difference(before: &Fields, after: &Fields) -> (Fields, Vec<String>) {
    let set = after
        .iter()
        .filter(|(field, value)| before.get(*field) != Some(value))
        .map(|(field, value)| (field.clone(), value.clone()))
        .collect();
    let unset = before.keys().filter(|field| !after.contains_key(*field));
    (set, unset.cloned().collect())
}
