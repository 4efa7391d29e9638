//! Initial states of modes, and the input lock of an interview.
//!
//! [`ModeRules`](super::table::ModeRules) has the differences between the modes. Every mode that a command starts begins in
//! the phase `starting`.

use crate::mode::prelude::*;
use crate::mode::rules::table::rules;

/// Default maximum number of rounds.
pub const ITERATIONS_MAX: u64 = 50;
/// Words of consent that an interview does not accept as answers.
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

/// Returns the initial state of a mode started by a command.
pub fn started(mode: Mode, now: Timestamp) -> Fields {
    let mut state = begun(phase::STARTING, now, 0, ITERATIONS_MAX);
    state.extend(object((rules(mode).fields)()));
    state
}

/// Returns the initial state of a mode started by a prompt.
pub fn prompted(mode: Mode, now: Timestamp) -> Fields {
    let rules = rules(mode);
    let (iteration, most) = rules.prompted_rounds;
    let mut state = begun(rules.prompted_phase, now, iteration, most);
    state.extend(object((rules.fields)()));
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

/// Adds the required fields to a state that becomes active by a write.
pub(crate) fn fill(state: &mut Fields, now: Timestamp) {
    for (field, value) in begun(phase::STARTING, now, 0, ITERATIONS_MAX) {
        state.entry(field).or_insert(value);
    }
}

/// Returns the input lock of a mode that has just become active.
pub(crate) fn lock(now: Timestamp) -> Fields {
    object(json!({
        "active": true,
        "scope": "deep-interview-auto-approval",
        "acquired_at": now.to_string(),
        "blocked_inputs": BLOCKED_INPUTS,
        "message": "deep-interview waits for an answer of the user; words of approval do not answer for them",
    }))
}
