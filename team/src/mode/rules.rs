//! Workflow modes: their compatibility, the form of their states, and requests in prompts.
//!
//! Most rules are pure functions. These functions take sets of modes, states as JSON objects, texts and times, and return
//! decisions. Only `decision`, `reconcile` and `seed` read recorded states.

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
