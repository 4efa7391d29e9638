//! A team's life: begun, set up, joined, kept in time, closed, deleted.

pub mod cleanup;
pub(crate) mod closing;
pub mod config;
pub mod freshness;
pub mod ignored;
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
pub mod teams;
pub mod tick;
