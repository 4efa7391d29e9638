//! The journal on NATS, against a cluster of the test's own: three servers on loopback ports.
//!
//! These tests need a server, and run where `TEAMLOG_NATS` names its program. What every journal does stands with the engine's tests.
#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a helper of tests may panic as tests do, and says what was skipped"
)]

#[path = "../../../journal-postgres/tests/journal/authority.rs"]
mod authority;
mod cluster;
#[path = "../../../engine/tests/log/conformance.rs"]
mod conformance;
mod faults;
mod nats;
#[path = "../../../engine/tests/support/ports.rs"]
mod ports;
mod raw;
mod tls;
mod traps;
