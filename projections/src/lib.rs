//! What the events of a team mean: their vocabulary, their stored shapes, the folds over them, and the view
//! files that the folds feed.
//!
//! Everything here can be thrown away and rebuilt from the log. A fold is a pure function of the events before
//! it: no clock, no I/O, no randomness. It has never heard of commands, arguments or sockets.
//!
//! Start at [`Live`] for the state of a team, at [`rehydrate`](rehydrate::rehydrate) for rebuilding it, and at
//! [`Message`] for what agents send each other.
#![forbid(unsafe_code)]

pub mod activity;
pub mod artifacts;
pub mod audit;
pub mod bootstrap;
pub mod deliveries;
pub mod error;
pub mod fact;
pub mod feed;
mod fields;
pub mod live;
pub mod message;
pub mod messages;
pub mod modes;
pub mod natural;
pub mod rehydrate;
pub mod responses;
mod schema;
pub mod settings;
pub mod spelling;
pub mod staff;
pub mod tasks;
pub mod team;
pub mod threads;
pub mod transitions;
pub mod tx;
pub mod usage;
pub mod views;
pub mod vocabulary;
pub mod workers;

pub use deliveries::DeadLetter;
pub use error::{Error, Result};
pub use fact::Fact;
pub use live::Live;
pub use message::{Envelope, InvalidMessage, Message, MessageType, Names, Priority};
pub use settings::{Policy, Setting};
pub use tasks::{Status, Task, TaskFilter};
pub use threads::Thread;
