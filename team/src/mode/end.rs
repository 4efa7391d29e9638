//! `mode-complete`, `mode-fail`, `mode-cancel`: end an active mode. They set these values:
//!
//! | operation | phase | `run_outcome` | `lifecycle_outcome` |
//! |---|---|---|---|
//! | `mode-complete` | `complete`, for deep-interview `completed` | `finish` | `finished` |
//! | `mode-fail` | `failed` | `failed` | `failed` |
//! | `mode-cancel` | `cancelled` | `cancelled` | `userinterlude` |

use crate::mode::prelude::*;
use crate::mode::rules::table::rules;

operation! {
    /// Complete an active mode
    "mode-complete": Records(ModeComplete {
        /// Name of the mode
        #[schemars(with = "Mode")]
        #[arg(value_name = "MODE")]
        mode: String,
        /// Session of the mode; the root if absent, or if the session has no state of the mode
        session_id: Option<String>,
        /// Result of the mode
        #[arg(long, value_name = "TEXT")]
        note: Option<String>,
    }) -> ModeAnswer as mode_complete,
    refuses = [UnsupportedMode, ModeNotActive, WorkerNotFound]
}

operation! {
    /// Mark an active mode as failed
    "mode-fail": Records(ModeFail {
        /// Name of the mode
        #[schemars(with = "Mode")]
        #[arg(value_name = "MODE")]
        mode: String,
        /// Session of the mode; the root if absent, or if the session has no state of the mode
        session_id: Option<String>,
        /// Reason of the failure
        #[arg(long, value_name = "TEXT")]
        error: Option<String>,
    }) -> ModeAnswer as mode_fail,
    refuses = [UnsupportedMode, ModeNotActive, WorkerNotFound]
}

operation! {
    /// Cancel an active mode, and the mode linked to it
    "mode-cancel": Records(ModeCancel {
        /// Name of the mode
        #[schemars(with = "Mode")]
        #[arg(value_name = "MODE")]
        mode: String,
        /// Session of the mode; the root if absent, or if the session has no state of the mode
        session_id: Option<String>,
        /// Reason of the cancellation
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
    }) -> ModeAnswer as mode_cancel,
    refuses = [UnsupportedMode, ModeNotActive, WorkerNotFound]
}

impl Command for ModeComplete {
    type Decided = Decided;
    type Answer = ModeAnswer;

    fn terms(&self) -> CommandTerms<'_> {
        CommandTerms::new(Authority::Anyone).members_only()
    }

    fn decide(&self, ctx: &Ctx, live: &Live) -> Result<Decision<Decided>> {
        end(
            ModeDecision::for_call(ctx, live),
            (&self.mode, self.session_id.as_deref()),
            |mode| {
                let mut set = ended(rules(mode).completed_phase, Lifecycle::Finished);
                put(&mut set, "completion_note", self.note.as_deref());
                Ok(Ending::new(Change::Completed, Exit::Success, set))
            },
        )
    }

    fn answer(&self, decided: &Decided, after: &After<'_>) -> Result<ModeAnswer> {
        decided.answer(after.live)
    }
}

impl Command for ModeFail {
    type Decided = Decided;
    type Answer = ModeAnswer;

    fn terms(&self) -> CommandTerms<'_> {
        CommandTerms::new(Authority::Anyone).members_only()
    }

    fn decide(&self, ctx: &Ctx, live: &Live) -> Result<Decision<Decided>> {
        end(
            ModeDecision::for_call(ctx, live),
            (&self.mode, self.session_id.as_deref()),
            |_| {
                let mut set = ended("failed", Lifecycle::Failed);
                let error = self
                    .error
                    .as_deref()
                    .map(|error| names::filled("error", error));
                put(&mut set, "error", error.transpose()?);
                Ok(Ending::new(Change::Failed, Exit::Error, set))
            },
        )
    }

    fn answer(&self, decided: &Decided, after: &After<'_>) -> Result<ModeAnswer> {
        decided.answer(after.live)
    }
}

impl Command for ModeCancel {
    type Decided = Decided;
    type Answer = ModeAnswer;

    fn terms(&self) -> CommandTerms<'_> {
        CommandTerms::new(Authority::Anyone).members_only()
    }

    fn decide(&self, ctx: &Ctx, live: &Live) -> Result<Decision<Decided>> {
        end(
            ModeDecision::for_call(ctx, live),
            (&self.mode, self.session_id.as_deref()),
            |_| Ok(Ending::canceled(self.reason.as_deref())),
        )
    }

    fn answer(&self, decided: &Decided, after: &After<'_>) -> Result<ModeAnswer> {
        decided.answer(after.live)
    }
}

/// Returns the events that cancel an active mode, for a command that reverses its start.
pub(crate) fn canceled(
    ctx: &Ctx,
    live: &Live,
    mode: (&str, Option<&str>),
    reason: &str,
) -> Result<Vec<NewEvent>> {
    let decision = ModeDecision::for_call(ctx, live);
    match end(decision, mode, |_| Ok(Ending::canceled(Some(reason))))? {
        Decision::Granted(_, events) => Ok(events),
        Decision::Denied(refusal, _) => Err(refusal.into()),
    }
}

fn end(
    mut decision: ModeDecision<'_>,
    (mode, session): (&str, Option<&str>),
    ending: impl Fn(Mode) -> Result<Ending, Refusal>,
) -> Result<Decision<Decided>> {
    let mode = skill::mode(mode)?;
    let acting = scope(session)?;
    let (scope, state) = decision.running(&acting, mode)?;
    let ending = ending(mode)?;
    let is_canceled = ending.change == Change::Canceled;
    decision.end(&scope, mode, ending)?;
    if is_canceled {
        decision.cancel_linked(&scope, mode, &state.fields)?;
    }
    decision.see(&acting)?;
    Decided::new(mode, scope, acting).granted(decision)
}
