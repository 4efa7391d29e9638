//! Edits, assignments and reviews of tasks. The holder of a task gets a message if another agent edits or assigns it.

pub mod assign;
pub mod edit;
pub mod review;
pub(crate) mod takeover;
