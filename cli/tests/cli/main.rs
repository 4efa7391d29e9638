//! Tests of the command line as a process: arguments, files and environment are the input; output and exit code are the result.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test that cannot go on fails"
)]

#[macro_use]
#[path = "../../../engine/tests/support/cases.rs"]
mod cases;

mod actors;
mod agent_hooks;
mod agents;
mod answers;
mod api;
mod append;
mod approvals;
mod board;
mod bootstrap;
mod claims;
#[allow(dead_code, reason = "a part of it is for the journal's own tests")]
#[path = "../../../journal-postgres/tests/journal/cluster.rs"]
mod cluster;
mod completions;
mod contract;
mod crowd;
mod cuts;
mod daemon;
mod dashboard;
mod delivery;
mod demo;
mod doctor;
#[path = "../../../team/tests/commands/drawing.rs"]
mod drawing;
mod everyday;
mod everyday_lines;
mod exclusion;
mod fence;
mod follow;
mod forward;
mod full;
mod guides;
mod harness;
mod hints;
mod hosts;
mod import;
mod inbox;
mod init;
mod inputs;
mod integrity;
mod kills;
mod leftovers;
mod mcp;
mod mistyped;
mod modes;
mod moving;
mod next_steps;
mod operations;
mod paths;
mod people;
#[path = "../../../engine/tests/support/ports.rs"]
mod ports;
mod prelude;
mod printed;
mod processes;
mod projections;
mod prompts;
mod races;
mod reference;
mod refused;
mod remote;
mod replay;
mod restart;
mod rollback;
mod roots;
#[path = "../../../team/tests/commands/scenario.rs"]
mod scenario;
mod schema_document;
mod schemas;
mod sharing;
mod sqlite;
mod stopped;
mod subscription_posts;
mod subscriptions;
mod surface;
mod surfaces;
mod syscalls;
mod tasks;
mod terminal;
mod threads;
mod times;
mod trace;
mod trust;
mod waiters;
#[allow(dead_code, reason = "other tests use more of it")]
#[path = "../../../engine/tests/support/waiting.rs"]
mod waiting;
