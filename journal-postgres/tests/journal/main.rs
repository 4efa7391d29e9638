//! The journal on PostgreSQL, against a cluster of the test's own: a primary and two synchronous standbys.
//!
//! These tests need PostgreSQL's programs, and run where `TEAMLOG_POSTGRES` names their directory
//! (`/usr/lib/postgresql/15/bin`). The conformance suite is held against the journal in memory in any case.
#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a helper of tests may panic as tests do, and says what was skipped and what a round came to"
)]

mod cluster;
mod conformance;
mod doubt;
mod history;
mod proxy;
mod tls;
