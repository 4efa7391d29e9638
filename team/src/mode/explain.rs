//! `mode-explain`: explains the effect of starting a mode, without starting it.

use crate::mode::prelude::*;

operation! {
    /// Explain the effect of starting a mode, without starting it
    "mode-explain": Reads(ModeExplain {
        /// Name of the mode
        #[schemars(with = "Mode")]
        mode: String,
        /// Session of the mode; the root if absent
        session_id: Option<String>,
    }) -> Transition as mode_explain,
    refuses = [UnsupportedMode]
}

impl ModeExplain {
    /// Returns the effect of starting the mode. A denial is part of the answer and not an error.
    fn answer(&self, live: &Live) -> Result<Transition> {
        let mode = skill::mode(&self.mode)?;
        let scope = scope(self.session_id.as_deref())?;
        let mut decision = ModeDecision::new(live, Timestamp::default());
        match decision.reconcile(&scope, mode, Source::Start) {
            Err(Failure::Refused(refusal)) => {
                let denied = refusal.told(Code::ModeDenied);
                denied.ok_or_else(|| refusal.into())
            }
            decided => decided,
        }
    }
}

/// Explains the start of a mode while the given modes are active, without a team. Ignores unknown names in `active`.
pub fn explain(active: &[&str], mode: &str, review: Review) -> Result<Transition, Refusal> {
    let active: Vec<Mode> = active
        .iter()
        .filter_map(|name| Mode::from_name(name))
        .collect();
    Ok(decide(&active, skill::mode(mode)?, review))
}
