//! `mode-complete`, `mode-fail`, `mode-cancel`: ends an active mode.
//!
//! | operation | phase | `run_outcome` | `lifecycle_outcome` |
//! |---|---|---|---|
//! | `mode-complete` | `complete`, of deep-interview `completed` | `finish` | `finished` |
//! | `mode-fail` | `failed` | `failed` | `failed` |
//! | `mode-cancel` | `cancelled` | `cancelled` | `userinterlude` |

use crate::mode::prelude::*;
use crate::mode::rules::phase;
use crate::mode::rules::reconcile::{active, end, ended, is_waiting};

operation! {
    /// Complete an active mode
    "mode-complete": Records(ModeComplete {
        /// The mode
        #[schemars(with = "Mode")]
        mode: String,
        /// The session; a mode that has no state there is completed at the root
        session_id: Option<String>,
        /// What came out of it
        note: Option<String>,
    }) -> ModeAnswer = Team::mode_complete,
    refuses = [UnsupportedMode, ModeNotActive]
}

operation! {
    /// Say that an active mode failed
    "mode-fail": Records(ModeFail {
        /// The mode
        #[schemars(with = "Mode")]
        mode: String,
        /// The session; a mode that has no state there fails at the root
        session_id: Option<String>,
        /// Why
        error: Option<String>,
    }) -> ModeAnswer = Team::mode_fail,
    refuses = [UnsupportedMode, ModeNotActive]
}

operation! {
    /// Cancel an active mode, and what it is linked to
    "mode-cancel": Records(ModeCancel {
        /// The mode
        #[schemars(with = "Mode")]
        mode: String,
        /// The session; a mode that has no state there is canceled at the root
        session_id: Option<String>,
        /// Why
        reason: Option<String>,
    }) -> ModeAnswer = Team::mode_cancel,
    refuses = [UnsupportedMode, ModeNotActive]
}

/// An end of a mode: how, and what is said of it.
#[derive(Debug, Clone)]
struct End {
    mode: String,
    session_id: Option<String>,
    change: Change,
    said: Option<String>,
}

impl Team {
    /// Completes an active mode.
    pub fn mode_complete(&mut self, complete: ModeComplete) -> Result<ModeAnswer> {
        self.execute(self.asked(End {
            mode: complete.mode,
            session_id: complete.session_id,
            change: Change::Completed,
            said: complete.note,
        }))
    }

    /// Says that an active mode failed.
    pub fn mode_fail(&mut self, fail: ModeFail) -> Result<ModeAnswer> {
        self.execute(self.asked(End {
            mode: fail.mode,
            session_id: fail.session_id,
            change: Change::Failed,
            said: fail.error,
        }))
    }

    /// Cancels an active mode; with `forge` also the `ultrawork` that it is linked to.
    pub fn mode_cancel(&mut self, cancel: ModeCancel) -> Result<ModeAnswer> {
        self.execute(self.asked(End {
            mode: cancel.mode,
            session_id: cancel.session_id,
            change: Change::Canceled,
            said: cancel.reason,
        }))
    }
}

impl End {
    fn ending(&self, mode: Mode) -> Result<Ending, Refusal> {
        let said = self.said.as_deref();
        Ok(match self.change {
            Change::Completed => {
                let mut set = ended(phase::complete(mode), Lifecycle::Finished);
                put(&mut set, "completion_note", said);
                Ending::new(self.change, Exit::Success, set)
            }
            Change::Failed => {
                let mut set = ended("failed", Lifecycle::Failed);
                let error = said.map(|error| names::filled("error", error));
                put(&mut set, "error", error.transpose()?);
                Ending::new(self.change, Exit::Error, set)
            }
            _ => Ending::canceled(said),
        })
    }
}

impl Command for Asked<End> {
    type Decided = Decided;
    type Answer = ModeAnswer;

    fn decide(&self, live: &Live, now: Timestamp) -> Result<Decision<Decided>> {
        let mode = skill::mode(&self.input.mode)?;
        let acting = scope(self.input.session_id.as_deref())?;
        let mut board = Board::new(live, now);
        let (scope, state) = active(&board, &self.team, &acting, mode)?;
        end(&mut board, &scope, mode, self.input.ending(mode)?)?;
        if self.input.change == Change::Canceled && linked(mode, &state.fields) {
            cancel_linked(&mut board, &scope)?;
        }
        board.see(&acting)?;
        let decided = Decided::new(mode, scope, acting);
        Ok(Decision::Granted(decided, board.into_events()))
    }

    fn answer(&self, decided: &Decided, after: &After<'_>) -> Result<ModeAnswer> {
        decided.answer(after.live, &self.team)
    }
}

/// The modes of the root that are active, or wait there for their user.
pub(crate) fn open_at_root(board: &Board<'_>) -> Result<Vec<Mode>> {
    let mut open = Vec::new();
    for mode in Mode::ALL {
        let state = board.state(&Scope::Root, mode)?;
        if state.is_some_and(|state| state.is_active() || is_waiting(&state)) {
            open.push(mode);
        }
    }
    Ok(open)
}

/// Cancels all of those.
pub(crate) fn cancel_root(board: &mut Board<'_>, reason: &str) -> Result<()> {
    for mode in open_at_root(board)? {
        end(board, &Scope::Root, mode, Ending::canceled(Some(reason)))?;
    }
    Ok(())
}

/// Whether a forge takes an ultrawork along when it is canceled.
pub(super) fn linked(mode: Mode, fields: &Fields) -> bool {
    mode == Mode::Forge && fields.get("linked_ultrawork") == Some(&Value::Bool(true))
}

pub(super) fn cancel_linked(board: &mut Board<'_>, scope: &Scope) -> Result<()> {
    if board.active_state(scope, Mode::Ultrawork)?.is_none() {
        return Ok(());
    }
    let reason = "the forge that it is linked to was canceled";
    end(
        board,
        scope,
        Mode::Ultrawork,
        Ending::canceled(Some(reason)),
    )
}
