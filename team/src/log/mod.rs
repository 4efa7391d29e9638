//! The log: appending, reading, following, comparing, exporting, verifying and rebuilding.

pub mod append;
pub mod append_batch;
pub mod append_event;
pub mod await_event;
pub mod convert;
pub mod diff;
pub mod event_type;
pub mod events;
pub mod exclusion;
pub mod export;
pub(crate) mod facts;
pub(crate) mod lines;
pub mod points;
pub mod read_events;
pub mod recorded;
pub mod rehydrate;
pub mod replay;
pub mod replay_events;
pub mod sync_views;
pub mod tail;
pub mod team_event;
pub mod text;
pub mod traces;
pub mod verify;
