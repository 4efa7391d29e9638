//! `mode-outcome`: tells from a state if the mode has ended, and with which outcome.

use crate::mode::prelude::*;
use crate::mode::rules::reading::Reading;

operation! {
    /// Read from a state if its mode has ended, and with which outcome
    "mode-outcome": Reads(ModeOutcome {
        /// Name of the mode whose state is read
        #[schemars(with = "Option<Mode>")]
        mode: Option<String>,
        /// Session of the state; the root if absent
        session_id: Option<String>,
        /// State to read instead of the stored state
        state: Option<Fields>,
    }) -> Reading as mode_outcome,
    refuses = [UnsupportedMode, ModeNotFound]
}

impl ModeOutcome {
    fn answer(&self, live: &Live) -> Result<Reading> {
        match (&self.mode, &self.state) {
            (None, Some(state)) => Ok(reading::read(state)?),
            (Some(mode), None) => {
                let mode = skill::mode(mode)?;
                let scope = scope(self.session_id.as_deref())?;
                let decision = ModeDecision::new(live, Timestamp::default());
                match decision.visible(&scope, mode)? {
                    Some((_, state)) => Ok(reading::read(&state.fields)?),
                    None => Err(missing(mode, &scope).into()),
                }
            }
            _ => {
                let message = "give either mode or state";
                let refusal = Refusal::new(Code::InvalidInput, message);
                Err(refusal.field("mode").into())
            }
        }
    }
}
