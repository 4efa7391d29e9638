//! Workflow modes: which may be active together, how their states are written, and what a prompt requests.
//!
//! Most of these files are pure: functions of sets of modes, states as JSON objects, texts and times. Only `board`,
//! `reconcile` and `seed` know recorded events.

pub(crate) mod board;
pub(crate) mod contract;
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
