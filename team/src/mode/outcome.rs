//! `mode-outcome`: how a state reads: whether it ended, and how.

use crate::mode::rules::board::Board;
use crate::mode::rules::reading::{self, Reading};
use crate::mode::rules::shown::{missing, scope};
use crate::mode::rules::skill;
use crate::prelude::*;
use crate::projections::mode::Mode;
use crate::projections::mode::event::Fields;

operation! {
    /// Read from a state whether its mode ended, and how
    "mode-outcome": Reads(ModeOutcome) -> Reading = Team::mode_outcome,
    refuses = [UnsupportedMode, ModeNotFound]
}

/// What `mode-outcome` is asked: about the state of a mode, or about one that is given.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ModeOutcome {
    /// The mode whose state is read
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Mode>")]
    pub mode: Option<String>,
    /// The session; else the state for everybody
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// A state to read instead
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<Fields>,
}

impl Team {
    /// How a state reads.
    pub fn mode_outcome(&mut self, asked: ModeOutcome) -> Result<Reading> {
        match (&asked.mode, &asked.state) {
            (None, Some(state)) => Ok(reading::read(state)?),
            (Some(mode), None) => {
                let mode = skill::mode(mode)?;
                let scope = scope(asked.session_id.as_deref())?;
                self.query(|live, _| {
                    let board = Board::new(live, Timestamp::default());
                    match board.visible(&scope, mode)? {
                        Some((_, state)) => Ok(reading::read(&state.fields)?),
                        None => Err(missing(mode, &scope).into()),
                    }
                })
            }
            _ => {
                let message = "mode must be given, or state, and not both";
                Err(Refusal::new(Code::InvalidInput, message)
                    .field("mode")
                    .into())
            }
        }
    }
}
