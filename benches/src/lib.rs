//! Shared parts of the measurements: events, logs and teams, contestants that run in turns, tables, fresh directories, and the
//! released program and its daemon.
#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, clippy::unwrap_used)]

pub mod child;
pub mod daemon;
pub mod directory;
pub mod events;
pub mod group_commit;
pub mod past;
pub mod release;
pub mod rounds;
pub mod scan;
pub mod table;
pub mod workspace;
