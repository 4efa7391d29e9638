//! The meaning of a team's events: their vocabulary, their payloads, the folds over them, and the view files built from
//! the state.
//!
//! All derived data can be deleted and rebuilt from the log. A fold is a pure function of the events so far: no clock,
//! no I/O, no randomness. This crate does not know commands, arguments or sockets.
//!
//! Reading functions fail with I/O errors, with damage of the log (`Corrupt`) or of derived files (`Derived`), and with
//! events that do not have the format of their kind (`Undecodable`). Functions that build events fail if their data are
//! nested too deep. `# Errors` sections list only other errors.
//!
//! Start at [`Live`] for the state of a team, at [`rehydrate`](rebuild::rehydrate) for rebuilding it, and at
//! [`Message`] for messages between agents.
#![forbid(unsafe_code)]

pub mod agent_token;
pub mod artifact;
pub mod audit;
pub mod bootstrap;
mod common;
pub mod delivery;
pub mod error;
pub mod event;
pub mod event_index;
pub mod fact;
pub mod feed;
mod fields;
mod files;
pub mod hidden;
mod identifier;
pub mod live;
pub mod loss;
pub mod message;
pub mod mode;
pub mod natural;
pub mod pipeline;
mod postings;
mod prelude;
pub mod rebuild;
pub mod refs;
pub mod refused;
pub mod response;
mod schema;
pub mod script;
pub mod search;
pub mod spelling;
pub mod state;
pub mod tag;
pub mod task;
pub mod team;
pub mod terms;
pub mod thread;
pub mod tx;
pub mod usage;
pub mod views;
pub mod vocabulary;
mod words;
pub mod worker;

pub use delivery::DeadLetter;
pub use error::{Error, Result};
pub use fact::Fact;
pub use feed::{PostCounts, PostInfo};
pub use live::Live;
pub use message::{Envelope, InvalidMessage, Message, MessageType, Names, Priority};
pub use refs::RefKind;
pub use state::TeamState;
pub use task::{Status, Task, TaskFilter};
pub use team::settings::{Policy, Setting};
pub use teamlog_engine::words;
pub use thread::Thread;
