//! `mode-complete`, `mode-fail`, `mode-cancel`: ends an active mode.
//!
//! | operation | phase | `run_outcome` | `lifecycle_outcome` |
//! |---|---|---|---|
//! | `mode-complete` | `complete`, of deep-interview `completed` | `finish` | `finished` |
//! | `mode-fail` | `failed` | `failed` | `failed` |
//! | `mode-cancel` | `cancelled` | `cancelled` | `userinterlude` |

use crate::mode::prelude::*;

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
        self.execute(End {
            mode: complete.mode,
            session_id: complete.session_id,
            change: Change::Completed,
            said: complete.note,
        })
    }

    /// Says that an active mode failed.
    pub fn mode_fail(&mut self, fail: ModeFail) -> Result<ModeAnswer> {
        self.execute(End {
            mode: fail.mode,
            session_id: fail.session_id,
            change: Change::Failed,
            said: fail.error,
        })
    }

    /// Cancels an active mode; with `forge` also the `ultrawork` that it is linked to.
    pub fn mode_cancel(&mut self, cancel: ModeCancel) -> Result<ModeAnswer> {
        self.execute(End {
            mode: cancel.mode,
            session_id: cancel.session_id,
            change: Change::Canceled,
            said: cancel.reason,
        })
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

impl Changes for End {
    fn decide(&self, mut board: Board<'_>) -> Result<Decision<Decided>> {
        let mode = skill::mode(&self.mode)?;
        let acting = scope(self.session_id.as_deref())?;
        let (scope, state) = board.running(&acting, mode)?;
        board.end(&scope, mode, self.ending(mode)?)?;
        if self.change == Change::Canceled {
            board.cancel_linked(&scope, mode, &state.fields)?;
        }
        board.see(&acting)?;
        Decided::new(mode, scope, acting).granted(board)
    }
}
