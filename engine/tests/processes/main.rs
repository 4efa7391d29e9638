//! Tests that start other processes. They are in their own program, because a child process holds every lock of its parent
//! between fork and exec. That would disturb tests of locks.
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
