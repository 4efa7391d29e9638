//! `mode-start`: makes a mode active, in a session or for everybody.

use crate::mode::prelude::*;
use crate::mode::rules::reconcile::reconcile;
use crate::mode::rules::{contract, seed};

operation! {
    /// Make a mode active, unless those that are active do not go with it
    "mode-start": Records(ModeStart {
        /// The mode
        #[schemars(with = "Mode")]
        mode: String,
        /// The session; else it starts for everybody
        session_id: Option<String>,
        /// What it is to do
        task_description: Option<String>,
        /// The phase to begin with; else `starting`
        current_phase: Option<String>,
        /// Rounds at most; else 50
        max_iterations: Option<u64>,
        /// More fields of its state
        set: Option<Fields>,
    }) -> ModeAnswer = Team::mode_start,
    refuses = [UnsupportedMode, ModeDenied]
}

/// Fields that the log knows better than any caller, and where a caller stands, which means nothing to it.
const OWN: [&str; 7] = [
    "workingDirectory",
    "mode",
    "session_id",
    "updated_at",
    "schema_version",
    "schemaVersion",
    "seq",
];

impl Team {
    /// Makes a mode active. Where it is so already, nothing changes.
    pub fn mode_start(&mut self, start: ModeStart) -> Result<ModeAnswer> {
        self.execute(self.asked(start))
    }
}

/// The fields that a caller gave, without those that are not the caller's.
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

impl Asked<ModeStart> {
    fn start(&self, board: &mut Board<'_>, mode: Mode, scope: &Scope) -> Result<Decided> {
        let seeded = seed::started(mode, board.now());
        let written = contract::write(mode, Some(&seeded), &self.input.given(), board.now())?;
        let transition = reconcile(board, &self.team, scope, mode, Source::Start)?;
        let mut state = written.state;
        if !transition.auto_completed.is_empty() {
            put(&mut state, "transition_message", transition.message.clone());
        }
        board.start(scope, mode, state)?;
        seed::lock_input(board, scope, mode)?;
        Ok(Decided {
            transition: Some(transition),
            warnings: written.warnings,
            ..Decided::new(mode, scope.clone(), scope.clone())
        })
    }
}

impl Command for Asked<ModeStart> {
    type Decided = Decided;
    type Answer = ModeAnswer;

    fn decide(&self, live: &Live, now: Timestamp) -> Result<Decision<Decided>> {
        let mode = skill::mode(&self.input.mode)?;
        let scope = scope(self.input.session_id.as_deref())?;
        let mut board = Board::new(live, now).from(&self.origin);
        let decided = match board.visible(&scope, mode)? {
            Some((at, state)) if state.is_active() => {
                board.see(&scope)?;
                Decided {
                    changed: false,
                    ..Decided::new(mode, at, scope)
                }
            }
            _ => self.start(&mut board, mode, &scope)?,
        };
        Ok(Decision::Granted(decided, board.into_events()))
    }

    fn answer(&self, decided: &Decided, after: &After<'_>) -> Result<ModeAnswer> {
        decided.answer(after.live, &self.team)
    }
}
