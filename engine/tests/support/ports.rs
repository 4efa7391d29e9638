//! Ports for servers that a test starts, stops and starts again.

use std::net::TcpListener;
use std::sync::atomic::{AtomicU32, Ordering};

/// Below what Linux gives to connections that go out (32,768 and up): one of those takes the port of a server that is stopped,
/// which then does not start again.
const FIRST: u32 = 10_000;
const COUNT: u32 = 22_000;

/// How many this process has looked at.
static LOOKED_AT: AtomicU32 = AtomicU32::new(0);

/// A loopback port that nobody listens on.
pub fn free_port() -> u16 {
    // Test programs that run beside each other begin far from each other.
    let begin = std::process::id().wrapping_mul(2_654_435_761) >> 16;
    let next = |_| {
        let at = begin + LOOKED_AT.fetch_add(1, Ordering::Relaxed);
        u16::try_from(FIRST + at % COUNT).unwrap()
    };
    let mut ports = (0..COUNT).map(next);
    let free = ports.find(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok());
    free.expect("a port that nobody listens on")
}
