//! Times as answers show them, and how far clocks may differ.

use std::time::Instant;
use teamlog_engine::Timestamp;

/// Clocks of machines that share a log differ, and events that come at once are stamped a microsecond apart.
pub(crate) const AHEAD_TOLERATED_MICROS: i64 = 1_000_000;

/// Returns the milliseconds since `started`.
pub(crate) fn millis(started: Instant) -> u64 {
    u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX)
}

/// A time as the contract writes it.
pub fn milliseconds(time: Timestamp) -> String {
    let mut text = time.to_string();
    // `.ffffffZ`: three digits of the fraction go.
    text.truncate(text.len() - 4);
    text.push('Z');
    text
}
