//! Times in answers, and the tolerance for clocks that differ.

use std::time::Instant;
use teamlog_engine::Timestamp;

/// Tolerance for times in the future. It covers differences between the clocks of machines that share a log, and events in
/// quick succession, which get stamps a microsecond apart.
pub(crate) const AHEAD_TOLERATED_MICROS: i64 = 1_000_000;

/// Returns the milliseconds since `started`.
pub(crate) fn millis(started: Instant) -> u64 {
    u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX)
}

/// Formats a time in the contract's form, with milliseconds.
pub fn milliseconds(time: Timestamp) -> String {
    let mut text = time.to_string();
    // Removes three of the six digits of `.ffffffZ`.
    text.truncate(text.len() - 4);
    text.push('Z');
    text
}
