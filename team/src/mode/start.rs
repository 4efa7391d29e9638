//! `mode-start`: makes a mode active, in a session or at the root.

use crate::mode::prelude::*;

operation! {
    /// Make a mode active, unless it conflicts with the active modes
    "mode-start": Records(ModeStart {
        /// Name of the mode
        #[schemars(with = "Mode")]
        #[arg(value_name = "MODE")]
        mode: String,
        /// Session of the mode; the root if absent
        session_id: Option<String>,
        /// Description of the mode's work
        #[arg(long = "task", value_name = "TEXT")]
        task_description: Option<String>,
        /// First phase; `starting` if absent
        #[arg(long = "phase", value_name = "PHASE")]
        current_phase: Option<String>,
        /// Largest number of iterations; 50 if absent
        #[arg(long, value_name = "N", value_parser = crate::argv::whole::<u64>)]
        max_iterations: Option<u64>,
        /// More fields of the state
        set: Option<Fields>,
    }) -> ModeAnswer as mode_start,
    refuses = [UnsupportedMode, ModeDenied, WorkerNotFound]
}

/// Fields that a caller cannot set. The log sets these fields, except the working directory, which
/// the log does not need.
const OWN: [&str; 7] = [
    "workingDirectory",
    "mode",
    "session_id",
    "updated_at",
    "schema_version",
    "schemaVersion",
    "seq",
];

/// Returns the caller's fields without the fields in [`OWN`].
pub(crate) fn given(mut fields: Fields) -> Fields {
    fields.retain(|field, _| !OWN.contains(&field.as_str()));
    fields
}

impl ModeStart {
    fn given(&self) -> Fields {
        let mut given = given(self.set.clone().unwrap_or_default());
        let task = self.task_description.as_deref();
        put(&mut given, "task_description", task);
        put(&mut given, "current_phase", self.current_phase.as_deref());
        put(&mut given, "max_iterations", self.max_iterations);
        given.insert("active".into(), true.into());
        given
    }
}

impl Command for ModeStart {
    type Decided = Decided;
    type Answer = ModeAnswer;

    fn terms(&self) -> CommandTerms<'_> {
        CommandTerms::new(Authority::Anyone).members_only()
    }

    fn decide(&self, ctx: &Ctx, live: &Live) -> Result<Decision<Decided>> {
        let mode = skill::mode(&self.mode)?;
        let scope = scope(self.session_id.as_deref())?;
        let mut decision = ModeDecision::for_call(ctx, live);
        if let Some((at, _)) = decision.already_active(&scope, mode)? {
            decision.see(&scope)?;
            let unchanged = Decided {
                changed: false,
                ..Decided::new(mode, at, scope)
            };
            return unchanged.granted(decision);
        }
        let seeded = seed::started(mode, decision.now());
        let written = contract::write(mode, Some(&seeded), &self.given(), decision.now())?;
        let transition = decision.reconcile(&scope, mode, Source::Start)?;
        let mut state = written.state;
        if !transition.auto_completed.is_empty() {
            put(&mut state, "transition_message", transition.message.clone());
        }
        decision.start(&scope, mode, state)?;
        decision.lock_input(&scope, mode)?;
        let started = Decided {
            transition: Some(transition),
            warnings: written.warnings,
            ..Decided::new(mode, scope.clone(), scope)
        };
        started.granted(decision)
    }

    fn answer(&self, decided: &Decided, after: &After<'_>) -> Result<ModeAnswer> {
        decided.answer(after.live)
    }
}
