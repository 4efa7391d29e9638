//! The engine of teamlog: a durable, ordered, checksummed log of events, its index and its checkpoints.
//!
//! It knows nothing of tasks, agents, HTTP or terminals. What an event means is the business of the
//! crates above; here an event is an envelope, a payload of canonical JSON, and a place in the log.
//!
//! Imports run in one direction. From the bottom: names, limits and values ([`layout`], [`limits`], [`timestamp`],
//! [`event`], [`storage`]); the files of a log ([`identity`], [`head`], [`segment`], [`codec`], [`witness`], [`lock`]) and the rule of
//! their order ([`sequence`], [`tail`]); [`reader`], and beside it [`chain`] and [`journal`]; [`recovery`]; [`writer`];
//! [`log`], which puts these together; and what works on a whole log: [`receipt`], [`verify`], [`copy`], [`convert`],
//! [`repair`], [`backup`].
//! [`derived`] stands beside the log and knows its events only by their places.
//!
//! What reads or writes may fail by I/O, and what reads a log by damage (`Corrupt`); `# Errors` stands where there is more to
//! say.
//!
//! Start at [`Log`]: `create` or `open` one, take its [`Exclusive`] lock to write, or a [`Reader`] to read.
#![deny(unsafe_code)]

pub mod adoption;
pub mod backup;
mod blob;
pub mod chain;
pub mod clock;
pub mod codec;
pub mod comparison;
pub mod convert;
pub mod copy;
pub mod derived;
pub mod error;
pub mod event;
pub mod event_id;
pub mod head;
pub mod identifier;
pub mod identity;
pub mod journal;
pub mod json;
pub mod layout;
pub mod limits;
pub mod lock;
pub mod log;
pub mod options;
pub mod place;
mod prelude;
pub mod reader;
pub mod receipt;
pub mod recovery;
pub mod refs;
pub mod repair;
pub mod segment;
pub mod sequence;
pub mod storage;
pub mod tail;
pub mod timestamp;
pub mod uuid;
pub mod verify;
pub mod watch;
pub mod witness;
mod words;
pub mod writer;

pub use clock::{Clock, ManualClock, SystemClock};
pub use error::{Error, JournalFault, Result, Rollback};
pub use event::{Cause, Event, NewEvent};
pub use event_id::{EventId, IdSource, RandomIds, SeededIds};
pub use head::Head;
pub use identity::{Format, Identity, JournalIdentity};
pub use json::{Json, JsonError};
pub use log::{Exclusive, Log, NewLog, RolledBackLog};
pub use options::LogOptions;
pub use place::Place;
pub use reader::{Reader, Span};
pub use receipt::{Receipt, Standing};
pub use refs::{Ref, RefNames, Refs};
pub use timestamp::Timestamp;
pub use watch::Watch;
pub use witness::Witness;
pub use writer::{CommitError, Committed, Durability, JOBS_OF_GROUPS, State, Writer, WriterCounts};
