//! Tests that start other processes, apart from tests with locks: between its fork and its exec, a child holds every
//! lock of its parent.
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test fails by panicking, and says why it skips"
)]

#[macro_use]
#[path = "../support/given.rs"]
mod given;

mod format_doc;
#[path = "../support/mod.rs"]
mod support;
mod syscalls;
