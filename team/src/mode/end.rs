//! `mode-complete`, `mode-fail`, `mode-cancel`: ends an active mode.
//!
//! | operation | phase | `run_outcome` | `lifecycle_outcome` |
//! |---|---|---|---|
//! | `mode-complete` | `complete`, of deep-interview `completed` | `finish` | `finished` |
//! | `mode-fail` | `failed` | `failed` | `failed` |
//! | `mode-cancel` | `cancelled` | `cancelled` | `userinterlude` |

use crate::mode::rules::board::Board;
use crate::mode::rules::reconcile::{Ending, Exit, end, ended, is_waiting, not_active};
use crate::mode::rules::shown::{Decided, ModeAnswer, scope};
use crate::mode::rules::{phase, skill};
use crate::mode::start::put;
use crate::prelude::*;
use crate::projections::mode::event::{Change, Fields};
use crate::projections::mode::{Mode, Scope};

operation! {
    /// Complete an active mode
    "mode-complete": Records(ModeComplete) -> ModeAnswer = Team::mode_complete,
    refuses = [UnsupportedMode, ModeNotActive]
}

operation! {
    /// Say that an active mode failed
    "mode-fail": Records(ModeFail) -> ModeAnswer = Team::mode_fail,
    refuses = [UnsupportedMode, ModeNotActive]
}

operation! {
    /// Cancel an active mode, and what it is linked to
    "mode-cancel": Records(ModeCancel) -> ModeAnswer = Team::mode_cancel,
    refuses = [UnsupportedMode, ModeNotActive]
}

/// What `mode-complete` is asked.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ModeComplete {
    /// The mode
    #[schemars(with = "Mode")]
    pub mode: String,
    /// The session; a mode that has no state there is completed at the root
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// What came out of it
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// What `mode-fail` is asked.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ModeFail {
    /// The mode
    #[schemars(with = "Mode")]
    pub mode: String,
    /// The session; a mode that has no state there fails at the root
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// Why
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// What `mode-cancel` is asked.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ModeCancel {
    /// The mode
    #[schemars(with = "Mode")]
    pub mode: String,
    /// The session; a mode that has no state there is canceled at the root
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// Why
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// How it ends.
#[derive(Debug, Clone)]
enum How {
    Completed(Option<String>),
    Failed(Option<String>),
    Canceled(Option<String>),
}

#[derive(Debug, Clone)]
struct Job {
    team: String,
    mode: String,
    session_id: Option<String>,
    how: How,
}

impl Team {
    /// Completes an active mode.
    pub fn mode_complete(&mut self, complete: ModeComplete) -> Result<ModeAnswer> {
        self.end_mode(
            complete.mode,
            complete.session_id,
            How::Completed(complete.note),
        )
    }

    /// Says that an active mode failed.
    pub fn mode_fail(&mut self, fail: ModeFail) -> Result<ModeAnswer> {
        self.end_mode(fail.mode, fail.session_id, How::Failed(fail.error))
    }

    /// Cancels an active mode; with `forge` also the `ultrawork` that it is linked to.
    pub fn mode_cancel(&mut self, cancel: ModeCancel) -> Result<ModeAnswer> {
        self.end_mode(cancel.mode, cancel.session_id, How::Canceled(cancel.reason))
    }

    fn end_mode(
        &mut self,
        mode: String,
        session_id: Option<String>,
        how: How,
    ) -> Result<ModeAnswer> {
        let team = self.name().to_owned();
        self.execute(Job {
            team,
            mode,
            session_id,
            how,
        })
    }
}

impl How {
    fn ending(&self, mode: Mode) -> Result<Ending, Refusal> {
        let (change, exit, set) = match self {
            How::Completed(note) => {
                let mut set = ended(phase::complete(mode), "finish", "finished");
                put(&mut set, "completion_note", note.clone());
                (Change::Completed, Exit::Success, set)
            }
            How::Failed(error) => {
                let mut set = ended("failed", "failed", "failed");
                if let Some(error) = error {
                    put(&mut set, "error", Some(names::filled("error", error)?));
                }
                (Change::Failed, Exit::Error, set)
            }
            How::Canceled(reason) => {
                let mut set = ended("cancelled", "cancelled", "userinterlude");
                put(&mut set, "stop_reason", reason.clone());
                (Change::Canceled, Exit::Abort, set)
            }
        };
        Ok(Ending {
            change,
            exit: Some(exit),
            set,
            unset: Vec::new(),
        })
    }
}

impl Command for Job {
    type Decided = Decided;
    type Answer = ModeAnswer;

    fn decide(&self, live: &Live, now: Timestamp) -> Result<Decision<Decided>> {
        let mode = skill::mode(&self.mode)?;
        let acting = scope(self.session_id.as_deref())?;
        let mut board = Board::new(live, now);
        let Some((scope, state)) = board.visible(&acting, mode)? else {
            return Err(not_active(mode, &self.team, &acting).into());
        };
        if !state.is_active() {
            return Err(not_active(mode, &self.team, &scope).into());
        }
        end(&mut board, &scope, mode, self.how.ending(mode)?)?;
        if matches!(self.how, How::Canceled(_)) && linked(mode, &state.fields) {
            cancel_linked(&mut board, &scope)?;
        }
        board.see(&acting)?;
        let decided = Decided {
            mode,
            scope,
            acting,
            transition: None,
            warnings: Vec::new(),
            changed: true,
        };
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
        let ending = How::Canceled(Some(reason.to_owned())).ending(mode)?;
        end(board, &Scope::Root, mode, ending)?;
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
    let reason = "the forge that it is linked to was canceled".to_owned();
    let ending = How::Canceled(Some(reason)).ending(Mode::Ultrawork)?;
    end(board, scope, Mode::Ultrawork, ending)
}
