//! The command line as a process: what goes in by argv, files and environment, what comes out, and with which code.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on fails"
)]

mod answers;
mod api;
mod append;
mod bootstrap;
mod claims;
mod completions;
mod contract;
mod daemon;
mod delivery;
mod demo;
mod doctor;
mod follow;
mod forward;
mod harness;
mod import;
mod inbox;
mod init;
mod integrity;
mod kills;
mod mcp;
mod modes;
mod moving;
mod operations;
mod paths;
mod processes;
mod prompts;
mod races;
mod reference;
mod replay;
#[path = "../../../team/tests/commands/scenario.rs"]
mod scenario;
mod schemas;
mod sharing;
mod surface;
mod tasks;
mod terminal;
mod trace;
mod trust;
mod waiters;
