//! Tests of exports into SQLite: equality with the answers of operations, files of other programs, replaced logs, kills, readers.

#![expect(
    clippy::unwrap_used,
    reason = "a helper of tests may panic as tests do"
)]

#[macro_use]
#[path = "../../../engine/tests/support/cases.rs"]
mod cases;
mod comparison;
mod document;
mod equality;
mod files;
mod processes;
#[allow(dead_code, reason = "other tests use more of it")]
#[path = "../../../team/tests/commands/scenario.rs"]
mod scenario;
mod world;
