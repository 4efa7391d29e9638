//! Runs a command while the kernel limits its writes to its agent's paths: the places ([`grounds`]), the rules for them
//! ([`rules`]), and the life of the process ([`fenced`]) with all its descendants ([`family`]).

mod family;
pub mod fenced;
pub mod grounds;
pub mod rules;

/// Set for a fenced command, so that `teamlog` inside can explain why the data root cannot be written.
pub const VARIABLE: &str = "TEAMLOG_GUARD_EXEC";
