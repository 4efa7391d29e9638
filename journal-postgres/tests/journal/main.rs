//! Tests of the journal on PostgreSQL, on a cluster for the tests: a primary and two synchronous standbys.
//!
//! These tests need PostgreSQL's programs, and run if `TEAMLOG_POSTGRES` names their directory (`/usr/lib/postgresql/15/bin`).
//! The rules for every journal are among the engine's tests.
#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a helper of tests may panic as tests do, and says what was skipped and what a round came to"
)]

mod authority;
mod cluster;
#[path = "../../../engine/tests/log/conformance.rs"]
mod conformance;
mod doubt;
mod former;
mod history;
mod managed;
mod moved;
mod pooler;
#[path = "../../../engine/tests/support/ports.rs"]
mod ports;
mod postgres;
mod proxy;
mod tls;
