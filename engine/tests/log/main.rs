//! Tests of the log from outside, in both formats: its bytes, its promises, and its recovery from crashes and damage.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[macro_use]
#[path = "../support/cases.rs"]
mod cases;
#[macro_use]
#[path = "../support/given.rs"]
mod given;

mod adoption;
mod ahead;
mod appends;
mod backup;
mod chain;
mod codec;
#[allow(dead_code, reason = "journals in crates of their own use more of it")]
mod conformance;
mod convert;
mod crash;
mod fixtures;
mod flips;
mod journal;
mod limits;
mod lock;
mod memory;
mod projection;
mod reads;
mod receipts;
mod refs;
mod repair;
mod replica;
mod rollback;
mod sequel;
#[path = "../support/mod.rs"]
mod support;
mod unsynced;
mod verify;
mod watch;
