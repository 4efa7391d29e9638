//! The commands and queries, one a file: input, rule, answer.
//!
//! A mutation is a [`Decide`]: a pure function of state, input and time. A query is a plain function of state.

pub mod ack;
pub mod append;
pub mod append_batch;
pub mod export;
pub mod head;
pub mod import_events;
pub mod import_messages;
pub mod init;
pub mod read;
pub mod rehydrate;
pub mod replay;
pub mod send;
pub mod status;
pub mod task_assign;
pub mod task_show;
pub mod task_update;
pub mod tasks;
pub mod trace;
pub mod verify;
