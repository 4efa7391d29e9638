//! Tests that start other processes. They are apart from tests with locks, because a child holds every lock of its parent between
//! fork and exec.
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
