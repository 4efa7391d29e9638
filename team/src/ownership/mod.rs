//! Edits, assignments and reviews of tasks, and agents that leave the team or change their name.
//! The holder of a task gets a message if another agent edits or assigns the task.

pub mod assign;
pub mod edit;
pub mod rename;
pub mod retire;
pub mod review;
pub(crate) mod takeover;
