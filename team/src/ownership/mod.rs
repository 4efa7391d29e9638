//! Edits and assignments of tasks, also of tasks that another agent holds. The holder gets a message.

pub mod assign;
pub mod edit;
pub(crate) mod takeover;
