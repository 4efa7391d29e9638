//! `mode-start`: makes a mode active, in a session or for everybody.

use crate::handle::command::Origin;
use crate::mode::rules::board::Board;
use crate::mode::rules::reconcile::{Source, reconcile};
use crate::mode::rules::shown::{Decided, ModeAnswer, scope};
use crate::mode::rules::{contract, seed, skill};
use crate::prelude::*;
use crate::projections::mode::event::Fields;
use crate::projections::mode::{Mode, Scope};

operation! {
    /// Make a mode active, unless those that are active do not go with it
    "mode-start": Records(ModeStart) -> ModeAnswer = Team::mode_start,
    refuses = [UnsupportedMode, ModeDenied]
}

/// What `mode-start` is asked.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ModeStart {
    /// The mode
    #[schemars(with = "Mode")]
    pub mode: String,
    /// The session; else it starts for everybody
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// What it is to do
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_description: Option<String>,
    /// The phase to begin with; else `starting`
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current_phase: Option<String>,
    /// Rounds at most; else 50
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_iterations: Option<u64>,
    /// More fields of its state
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub set: Option<Fields>,
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

#[derive(Debug, Clone)]
struct Job {
    team: String,
    origin: Origin,
    start: ModeStart,
}

impl Team {
    /// Makes a mode active. Where it is so already, nothing changes.
    pub fn mode_start(&mut self, start: ModeStart) -> Result<ModeAnswer> {
        self.execute(Job {
            team: self.name().to_owned(),
            origin: self.control.origin.clone(),
            start,
        })
    }
}

/// The fields that a caller gave, without those that are not the caller's.
pub(crate) fn given(mut fields: Fields) -> Fields {
    fields.retain(|field, _| !OWN.contains(&field.as_str()));
    fields
}

/// Puts a field among those that were given, if it was.
pub(crate) fn put(given: &mut Fields, field: &str, value: Option<impl Into<Value>>) {
    if let Some(value) = value {
        given.insert(field.to_owned(), value.into());
    }
}

impl ModeStart {
    fn given(&self) -> Fields {
        let mut given = given(self.set.clone().unwrap_or_default());
        put(
            &mut given,
            "task_description",
            self.task_description.clone(),
        );
        put(&mut given, "current_phase", self.current_phase.clone());
        put(&mut given, "max_iterations", self.max_iterations);
        // What ends it contradicts that.
        given.insert("active".into(), true.into());
        given
    }
}

impl Job {
    fn start(&self, board: &mut Board<'_>, mode: Mode, scope: &Scope) -> Result<Decided> {
        let seeded = seed::started(mode, board.now());
        let written = contract::write(mode, Some(&seeded), &self.start.given(), board.now())?;
        let transition = reconcile(board, &self.team, scope, mode, Source::Start)?;
        let mut state = written.state;
        if !transition.auto_completed.is_empty() {
            put(&mut state, "transition_message", transition.message.clone());
        }
        board.start(scope, mode, state)?;
        seed::lock_input(board, scope, mode)?;
        Ok(Decided {
            mode,
            scope: scope.clone(),
            acting: scope.clone(),
            transition: Some(transition),
            warnings: written.warnings,
            changed: true,
        })
    }
}

impl Command for Job {
    type Decided = Decided;
    type Answer = ModeAnswer;

    fn decide(&self, live: &Live, now: Timestamp) -> Result<Decision<Decided>> {
        let mode = skill::mode(&self.start.mode)?;
        let scope = scope(self.start.session_id.as_deref())?;
        let mut board = Board::new(live, now).from(&self.origin);
        if let Some(decided) = already(&board, mode, &scope)? {
            board.see(&scope)?;
            return Ok(Decision::Granted(decided, board.into_events()));
        }
        let decided = self.start(&mut board, mode, &scope)?;
        Ok(Decision::Granted(decided, board.into_events()))
    }

    fn answer(&self, decided: &Decided, after: &After<'_>) -> Result<ModeAnswer> {
        decided.answer(after.live, &self.team)
    }
}

/// What there is to answer where the state that counts is active already, that of the session or that of the root.
fn already(board: &Board<'_>, mode: Mode, scope: &Scope) -> Result<Option<Decided>> {
    let visible = board.visible(scope, mode)?;
    let active = visible.filter(|(_, state)| state.is_active());
    Ok(active.map(|(at, _)| Decided {
        mode,
        scope: at,
        acting: scope.clone(),
        transition: None,
        warnings: Vec::new(),
        changed: false,
    }))
}
