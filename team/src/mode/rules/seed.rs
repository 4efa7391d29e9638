//! What a mode's state is when it starts, and what it locks.
//!
//! [`ModeRules`](super::table::ModeRules) says how the modes differ.
//! A command starts every mode in the phase `starting`.

use crate::mode::prelude::*;
use crate::mode::rules::table::rules;

/// Most rounds of a mode, unless its caller says otherwise.
pub const ITERATIONS_MAX: u64 = 50;
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
    state.extend(object((rules(mode).fields)()));
    state
}

/// The state with which a prompt starts a mode.
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

/// What a state lacks that becomes active by a write.
pub(crate) fn fill(state: &mut Fields, now: Timestamp) {
    for (field, value) in begun(phase::STARTING, now, 0, ITERATIONS_MAX) {
        state.entry(field).or_insert(value);
    }
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
