//! Workflow modes: starting, changing, ending and showing modes. The rules of modes are pure functions in [`rules`].

pub mod clear;
pub mod end;
pub mod explain;
pub mod outcome;
pub(crate) mod prelude;
pub mod prompt;
pub mod rules;
pub mod sessions;
pub mod show;
pub mod start;
pub mod state;
pub mod write;
