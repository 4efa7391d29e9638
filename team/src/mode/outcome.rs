//! `mode-outcome`: how a state reads: whether it ended, and how.

use crate::mode::prelude::*;
use crate::mode::rules::reading::Reading;

operation! {
    /// Read from a state whether its mode ended, and how
    "mode-outcome": Reads(ModeOutcome {
        /// The mode whose state is read
        #[schemars(with = "Option<Mode>")]
        mode: Option<String>,
        /// The session; else the state for everybody
        session_id: Option<String>,
        /// A state to read instead
        state: Option<Fields>,
    }) -> Reading = Team::mode_outcome,
    refuses = [UnsupportedMode, ModeNotFound]
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
