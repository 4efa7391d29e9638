//! What a mode's state is when it starts, and what it locks.
//!
//! | mode | phase of a prompt | beside that |
//! |---|---|---|
//! | forge | `starting` | |
//! | blueprint | `planning` | `planning_complete` |
//! | autopilot | `blueprint` | its cycle of phases, and at most 10 rounds from the first |
//! | team | `starting` | |
//! | ultraqa | `planning` | |
//! | ultrawork | `planning` | `reinforcement_count` |
//! | autoresearch | `executing` | |
//! | deep-interview | `intent-first` | a lock on input |
//!
//! A command starts every mode in the phase `starting`.

use crate::mode::prelude::*;

/// Most rounds of a mode, unless its caller says otherwise.
pub const ITERATIONS_MAX: u64 = 50;
/// The same of autopilot that a prompt starts.
const AUTOPILOT_ITERATIONS_MAX: u64 = 10;
/// What is kept back from an interview: words that would answer for the user.
pub const BLOCKED_INPUTS: [&str; 8] = [
    "yes",
    "y",
    "proceed",
    "continue",
    "ok",
    "sure",
    "go ahead",
    "next i should",
];

/// The state with which a command starts a mode.
pub fn started(mode: Mode, now: Timestamp) -> Fields {
    let mut state = begun(phase::STARTING, now, 0, ITERATIONS_MAX);
    state.extend(particulars(mode));
    state
}

/// The state with which a prompt starts a mode.
pub fn prompted(mode: Mode, now: Timestamp) -> Fields {
    let (iteration, most) = match mode {
        Mode::Autopilot => (1, AUTOPILOT_ITERATIONS_MAX),
        _ => (0, ITERATIONS_MAX),
    };
    let mut state = begun(phase::seeded(mode), now, iteration, most);
    state.extend(particulars(mode));
    state
}

fn begun(phase: &str, now: Timestamp, iteration: u64, most: u64) -> Fields {
    object(json!({
        "active": true,
        "current_phase": phase,
        "started_at": now.to_string(),
        "run_outcome": "continue",
        "iteration": iteration,
        "max_iterations": most,
    }))
}

/// What a state lacks that becomes active by a write.
pub(crate) fn fill(state: &mut Fields, now: Timestamp) {
    for (field, value) in begun(phase::STARTING, now, 0, ITERATIONS_MAX) {
        state.entry(field).or_insert(value);
    }
}

/// Fields that only one mode has.
fn particulars(mode: Mode) -> Fields {
    object(match mode {
        Mode::Autopilot => json!({
            "review_cycle": 0,
            "state": {
                "phase_cycle": ["blueprint", "forge", "code-review"],
                "handoff_artifacts": {"blueprint": null, "forge": null, "code_review": null},
                "review_verdict": null,
                "return_to_blueprint_reason": null,
            },
        }),
        Mode::Blueprint => json!({"planning_complete": false}),
        Mode::Ultrawork => json!({"reinforcement_count": 0}),
        _ => Value::Null,
    })
}

/// The lock on input of a mode that just became active.
pub(crate) fn lock(now: Timestamp) -> Fields {
    object(json!({
        "active": true,
        "scope": "deep-interview-auto-approval",
        "acquired_at": now.to_string(),
        "blocked_inputs": BLOCKED_INPUTS,
        "message": "deep-interview waits for an answer of the user; words of approval do not answer for them",
    }))
}
