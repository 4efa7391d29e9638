//! Workflow modes: which may be active together, how their states are written, and what a prompt requests.
//!
//! Most of it is pure: sets of modes, states as JSON objects, texts and times go in, decisions come out. Only `decision`,
//! `reconcile` and `seed` know what is recorded.

pub(crate) mod contract;
pub(crate) mod decision;
pub mod denial;
pub mod outcome;
pub(crate) mod phase;
pub mod prompt;
pub mod reading;
pub(crate) mod reconcile;
pub(crate) mod seed;
pub mod shown;
pub(crate) mod skill;
pub(crate) mod table;
pub mod transition;
pub(crate) mod typed;
