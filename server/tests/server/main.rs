//! The daemon and its routes: called without sockets, spoken to as clients do, and from outside byte by byte.
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
mod wire;
