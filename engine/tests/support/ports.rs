//! Ports for servers that a test starts, stops and starts again.

use std::net::TcpListener;
use std::sync::atomic::{AtomicU32, Ordering};

/// Lowest port to try. Ports from 32,768 on are excluded, because Linux gives them to outgoing connections: such a connection
/// could take the port of a stopped server, which then could not start again.
const FIRST: u32 = 10_000;
const COUNT: u32 = 22_000;

/// Number of ports that this process has tried.
static LOOKED_AT: AtomicU32 = AtomicU32::new(0);

/// Returns a loopback port without a listener.
pub fn free_port() -> u16 {
    // Test programs that run at the same time start at distant ports.
    let begin = std::process::id().wrapping_mul(2_654_435_761) >> 16;
    let next = |_| {
        let at = begin + LOOKED_AT.fetch_add(1, Ordering::Relaxed);
        u16::try_from(FIRST + at % COUNT).unwrap()
    };
    let mut ports = (0..COUNT).map(next);
    let free = ports.find(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok());
    free.expect("a port that nobody listens on")
}
