//! Workflow modes: which may be active together, how their states are written, and what a prompt asks for.
//!
//! Everything here is pure: sets of modes, states as JSON objects, texts and times go in, decisions come out.

pub mod contract;
pub mod denial;
pub mod outcome;
pub mod phase;
pub mod skill;
pub mod transition;
