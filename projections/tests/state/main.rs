//! Tests of the state of a team and its views, after given events.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on panics")]

#[macro_use]
#[path = "../../../engine/tests/support/cases.rs"]
mod cases;
#[macro_use]
#[path = "../../../engine/tests/support/given.rs"]
mod given;

mod checks;
mod claims;
mod folds;
mod histories;
mod mailbox;
mod modes;
mod ready;
mod real;
mod replica;
mod runs;
mod staff;
mod support;
mod threads;
mod usage;
mod views;
