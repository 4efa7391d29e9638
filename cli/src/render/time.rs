//! Formats times, durations and counts for people. All times are UTC.

/// Microseconds in a second.
pub const SECOND: i64 = 1_000_000;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// Formats a duration in microseconds with at most two units: `0s`, `250µs`, `1.5ms`, `4.2s`, `3m 07s`, `2h 05m`, `3d 04h`.
pub fn span(micros: i64) -> String {
    let m = micros.max(0);
    match m {
        0 => "0s".to_owned(),
        1..1_000 => format!("{m}µs"),
        1_000..SECOND => format!("{}ms", tenths(m, 1_000)),
        SECOND..MINUTE => format!("{}s", tenths(m, SECOND)),
        MINUTE..HOUR => format!("{}m {:02}s", m / MINUTE, m % MINUTE / SECOND),
        HOUR..DAY => format!("{}h {:02}m", m / HOUR, m % HOUR / MINUTE),
        _ => format!("{}d {:02}h", m / DAY, m % DAY / HOUR),
    }
}

/// Formats a duration in milliseconds.
pub fn took(ms: u64) -> String {
    match i64::try_from(ms) {
        Ok(0) => "under 1ms".to_owned(),
        Ok(ms) => span(ms.saturating_mul(1_000)),
        Err(_) => format!("{ms}ms"),
    }
}

/// Formats the time since `then` with one unit: `just now`, `12s ago`, `3m ago`, `2h ago`, `5d ago`. Formats a time in the
/// future as `in 3m`.
pub fn ago(now_micros: i64, then_micros: i64) -> String {
    let gap = now_micros.saturating_sub(then_micros);
    let size = gap.saturating_abs();
    if gap <= -SECOND {
        return format!("in {}", about(size));
    }
    let text = match size {
        0..SECOND => return "just now".to_owned(),
        SECOND..MINUTE => format!("{}s", size / SECOND),
        MINUTE..HOUR => format!("{}m", size / MINUTE),
        HOUR..DAY => format!("{}h", size / HOUR),
        _ => format!("{}d", size / DAY),
    };
    format!("{text} ago")
}

/// Formats a remaining time rounded to the nearest second, minute, hour or day. Rounding keeps 14m59s at `15m`.
pub fn about(micros: i64) -> String {
    let nearest = |unit: i64| micros.max(0).saturating_add(unit / 2) / unit;
    match (nearest(SECOND), nearest(MINUTE), nearest(HOUR)) {
        (seconds @ 0..60, _, _) => format!("{seconds}s"),
        (_, minutes @ 0..60, _) => format!("{minutes}m"),
        (_, _, hours @ 0..24) => format!("{hours}h"),
        _ => format!("{}d", nearest(DAY)),
    }
}

/// Formats a count with separators: `35,440`.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// Formats a count with a noun: `1 event`, `2 events`.
pub fn plural(number: u64, noun: &str) -> String {
    let s = if number == 1 { "" } else { "s" };
    format!("{} {noun}{s}", count(number))
}

/// Formats a number of bytes with one unit: `812 B`, `3.4 KiB`, `64.0 MiB`.
pub fn bytes(number: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if number < 1024 {
        return format!("{number} B");
    }
    let mut tenths = u128::from(number) * 10 / 1024;
    let mut unit = 0;
    while tenths >= 10_240 && unit + 1 < UNITS.len() {
        tenths /= 1024;
        unit += 1;
    }
    format!("{}.{} {}", tenths / 10, tenths % 10, UNITS[unit])
}

fn tenths(micros: i64, unit: i64) -> String {
    match (micros / unit, micros % unit * 10 / unit) {
        (whole, 0) => whole.to_string(),
        (whole, tenth) => format!("{whole}.{tenth}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_change_units_at_their_edges() {
        for (micros, text) in [
            (-5, "0s"),
            (0, "0s"),
            (999, "999µs"),
            (1_500, "1.5ms"),
            (999_999, "999.9ms"),
            (SECOND, "1s"),
            (59_960_000, "59.9s"),
            (MINUTE + 7 * SECOND, "1m 07s"),
            (2 * HOUR + 5 * MINUTE, "2h 05m"),
            (3 * DAY + 4 * HOUR, "3d 04h"),
        ] {
            assert_eq!(span(micros), text);
        }
    }

    #[test]
    fn the_past_is_ago_and_the_future_is_in() {
        assert_eq!(ago(10, 0), "just now");
        assert_eq!(ago(90 * SECOND, 0), "1m ago");
        assert_eq!(ago(0, 3 * HOUR), "in 3h");
        assert_eq!(ago(i64::MAX, i64::MIN), "106751991d ago");
    }

    #[test]
    fn what_is_left_is_told_to_the_nearest_unit() {
        for (micros, text) in [
            (-5, "0s"),
            (SECOND, "1s"),
            (59 * SECOND + 600_000, "1m"),
            (15 * MINUTE, "15m"),
            (15 * MINUTE - 3_000, "15m"),
            (14 * MINUTE + 20 * SECOND, "14m"),
            (59 * MINUTE + 40 * SECOND, "1h"),
            (23 * HOUR + 45 * MINUTE, "1d"),
            (i64::MAX, "106751991d"),
        ] {
            assert_eq!(about(micros), text);
        }
        assert_eq!(ago(3_000, 15 * MINUTE), "in 15m");
    }

    #[test]
    fn counts_and_bytes() {
        for (n, text) in [
            (0, "0"),
            (999, "999"),
            (1_000, "1,000"),
            (1_234_567, "1,234,567"),
        ] {
            assert_eq!(count(n), text);
        }
        for (n, text) in [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1.0 KiB"),
            (64 << 20, "64.0 MiB"),
            (u64::MAX, "16777215.9 TiB"),
        ] {
            assert_eq!(bytes(n), text);
        }
        assert_eq!(plural(1, "event"), "1 event");
        assert_eq!(plural(2, "event"), "2 events");
    }
}
