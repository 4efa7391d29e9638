//! Tests of the daemon and its routes: called without sockets, over HTTP, and with raw bytes.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a helper of tests may panic and tell as tests do"
)]

mod client;
mod documented;
mod http;
mod routes;
mod segment;
#[path = "../../../engine/tests/support/waiting.rs"]
mod waiting;
mod wire;
