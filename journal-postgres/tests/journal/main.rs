//! The journal on PostgreSQL, against a cluster of the test's own: a primary and two synchronous standbys.
//!
//! These tests need PostgreSQL's programs, and run where `TEAMLOG_POSTGRES` names their directory
//! (`/usr/lib/postgresql/15/bin`). What every journal does stands with the engine's tests.
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
