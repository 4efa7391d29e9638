//! The differences between the modes: one row of rules per mode. A new mode needs a row here and a name in [`Mode`].

use crate::mode::prelude::*;
use crate::mode::rules::phase::STARTING;
use crate::mode::rules::seed::ITERATIONS_MAX;

/// The rules of a mode.
pub struct ModeRules {
    /// Phase of the mode when a prompt starts it.
    pub prompted_phase: &'static str,
    /// First round and maximum number of rounds when a prompt starts the mode.
    pub prompted_rounds: (u64, u64),
    /// Phase of the completed mode.
    pub completed_phase: &'static str,
    /// Extra fields of the mode's initial state; `null` for a mode without extra fields.
    pub fields: fn() -> Value,
    /// True if the gate defers the mode until a plan exists.
    pub gated: bool,
    /// Names that are no ordinary words.
    pub coined: &'static [&'static str],
    /// Names that are also ordinary words.
    pub ordinary: &'static [&'static str],
    /// Names that are no longer used.
    pub retired: &'static [&'static str],
    /// Modes whose start completes this mode.
    pub hands_off_to: &'static [Mode],
    /// Modes that may be active together with this mode. If mode A lists B, then B lists A.
    pub overlaps: &'static [Mode],
}

/// Rules of a mode without peculiarities.
const PLAIN: ModeRules = ModeRules {
    prompted_phase: STARTING,
    prompted_rounds: (0, ITERATIONS_MAX),
    completed_phase: "complete",
    fields: || Value::Null,
    gated: false,
    coined: &[],
    ordinary: &[],
    retired: &[],
    hands_off_to: &[],
    overlaps: &[],
};

const AUTOPILOT: ModeRules = ModeRules {
    prompted_phase: "blueprint",
    prompted_rounds: (1, 10),
    fields: || {
        json!({
            "review_cycle": 0,
            "state": {
                "phase_cycle": ["blueprint", "forge", "code-review"],
                "handoff_artifacts": {"blueprint": null, "forge": null, "code_review": null},
                "review_verdict": null,
                "return_to_blueprint_reason": null,
            },
        })
    },
    gated: true,
    coined: &["autopilot", "autoforge"],
    hands_off_to: &[Mode::Blueprint],
    ..PLAIN
};

const AUTORESEARCH: ModeRules = ModeRules {
    prompted_phase: "executing",
    coined: &["autoresearch"],
    ..PLAIN
};

const TEAM: ModeRules = ModeRules {
    gated: true,
    ordinary: &["team", "crew", "swarm"],
    retired: &["ultrapilot", "pipeline"],
    overlaps: &[Mode::Forge],
    ..PLAIN
};

const FORGE: ModeRules = ModeRules {
    gated: true,
    ordinary: &["forge"],
    ..PLAIN
};

const ULTRAWORK: ModeRules = ModeRules {
    prompted_phase: "planning",
    fields: || json!({"reinforcement_count": 0}),
    gated: true,
    coined: &["ultrawork", "ulw"],
    retired: &["ecomode"],
    overlaps: &Mode::ALL,
    ..PLAIN
};

const ULTRAQA: ModeRules = ModeRules {
    prompted_phase: "planning",
    coined: &["ultraqa"],
    ..PLAIN
};

const BLUEPRINT: ModeRules = ModeRules {
    prompted_phase: "planning",
    fields: || json!({"planning_complete": false}),
    ordinary: &["blueprint"],
    hands_off_to: &[Mode::Team, Mode::Forge, Mode::Autopilot],
    ..PLAIN
};

const DEEP_INTERVIEW: ModeRules = ModeRules {
    prompted_phase: "intent-first",
    completed_phase: "completed",
    coined: &["deep-interview"],
    ordinary: &["brief"],
    hands_off_to: &[Mode::Blueprint],
    ..PLAIN
};

/// Returns the rules of a mode.
pub fn rules(mode: Mode) -> &'static ModeRules {
    match mode {
        Mode::Autopilot => &AUTOPILOT,
        Mode::Autoresearch => &AUTORESEARCH,
        Mode::Team => &TEAM,
        Mode::Forge => &FORGE,
        Mode::Ultrawork => &ULTRAWORK,
        Mode::Ultraqa => &ULTRAQA,
        Mode::Blueprint => &BLUEPRINT,
        Mode::DeepInterview => &DEEP_INTERVIEW,
    }
}

/// A function that returns one list of names from the rules of a mode.
pub type NamesOf = fn(&ModeRules) -> &'static [&'static str];

/// Returns the mode whose list contains `name`.
pub fn named(name: &str, list: NamesOf) -> Option<Mode> {
    let mut modes = Mode::ALL.into_iter();
    modes.find(|mode| list(rules(*mode)).contains(&name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mode_begins_and_ends_in_a_phase() {
        assert_eq!(
            Mode::ALL.map(|mode| rules(mode).prompted_phase).join(" "),
            "blueprint executing starting starting planning planning planning intent-first"
        );
        assert_eq!(rules(Mode::DeepInterview).completed_phase, "completed");
        assert_eq!(rules(Mode::Forge).completed_phase, "complete");
    }
}
