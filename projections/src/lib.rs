//! What the events of a team mean: their vocabulary, their stored shapes, the folds over them, and the view
//! files that the folds feed.
//!
//! Everything here can be thrown away and rebuilt from the log. A fold is a pure function of the events before
//! it: no clock, no I/O, no randomness. It has never heard of commands, arguments or sockets.
//!
//! What reads may fail by I/O, by damage of the log (`Corrupt`) or of what is derived from it (`Derived`), and by an event
//! that has not the shape of its kind (`Undecodable`); what makes an event, where something in it is nested too deep.
//! `# Errors` stands where there is more to say.
//!
//! Start at [`Live`] for the state of a team, at [`rehydrate`](rebuild::rehydrate) for rebuilding it, and at
//! [`Message`] for what agents send each other.
#![forbid(unsafe_code)]

pub mod agent_token;
pub mod artifact;
pub mod audit;
pub mod bootstrap;
mod common;
pub mod delivery;
pub mod error;
pub mod event;
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
mod prelude;
pub mod rebuild;
pub mod refs;
pub mod refused;
pub mod response;
mod schema;
pub mod spelling;
pub mod state;
pub mod task;
pub mod team;
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
