//! Times in answers, and the tolerance for clocks that differ.

use std::time::Instant;
use teamlog_engine::Timestamp;

/// Tolerance for the clocks of machines that share a log, and for events in quick succession, which are stamped a
/// microsecond apart.
pub(crate) const AHEAD_TOLERATED_MICROS: i64 = 1_000_000;

/// Returns the milliseconds since `started`.
pub(crate) fn millis(started: Instant) -> u64 {
    u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX)
}

/// Formats a time as the contract does, with milliseconds.
pub fn milliseconds(time: Timestamp) -> String {
    let mut text = time.to_string();
    // Remove three digits of `.ffffffZ`.
    text.truncate(text.len() - 4);
    text.push('Z');
    text
}
