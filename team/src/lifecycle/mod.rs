//! The life of a team: creation, joining, timeouts, closing, deletion.

pub(crate) mod await_ack;
pub mod cleanup;
pub(crate) mod closing;
pub mod config;
pub mod freshness;
pub mod gauges;
pub mod init;
pub mod join;
pub mod journal;
pub mod machines;
pub mod manifest;
pub mod membership;
pub mod purge;
pub mod read_team;
pub mod setup;
pub(crate) mod sharing;
pub mod status;
pub mod storage;
pub mod teams;
pub mod tick;

pub use crate::handle::ignored;
