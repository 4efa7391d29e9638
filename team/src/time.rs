//! Times in answers, and the tolerance for clocks that differ.

use crate::refusal::shown;
use std::time::Instant;
use teamlog_engine::Timestamp;

/// Tolerance for times in the future. The tolerance covers differences between the clocks of machines that share a log. It also
/// covers events in quick succession, which get times a microsecond apart.
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

const HOUR_SECONDS: i64 = 60 * 60;
const DAY_SECONDS: i64 = 24 * HOUR_SECONDS;
/// Names of the days of a week; the first day of 1970 was a Thursday.
const WEEKDAYS: [&str; 7] = [
    "thursday",
    "friday",
    "saturday",
    "sunday",
    "monday",
    "tuesday",
    "wednesday",
];
/// Forms in which a person can write a time.
const FORMS: &str = "a time must look like 2026-12-01, 2026-12-01T09:00:00Z, friday, tomorrow, today or 3d (also m, h, w)";

/// The time of day that is meant by a date without a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DayEdge {
    /// The first second of the day.
    Start,
    /// The last second of the day.
    End,
}

/// Reads a time in the form that a person writes: a time, a date, `today`, `tomorrow`, the name of a weekday, or a duration. A weekday
/// means the next day with that name, and a duration starts at `now`. Days are days of UTC.
///
/// # Errors
/// Names the text and the forms.
pub(crate) fn point(text: &str, now: Timestamp, edge: DayEdge) -> Result<Timestamp, String> {
    let refuse = || format!("{FORMS}, but is {}", shown(text));
    let word = text.trim().to_lowercase();
    let seconds = now.micros().div_euclid(1_000_000);
    let today = seconds.div_euclid(DAY_SECONDS);
    let in_days = match &*word {
        "today" => Some(0),
        "tomorrow" => Some(1),
        _ => days_until(&word, today),
    };
    let found = match in_days {
        Some(days) => at_edge(today.saturating_add(days).saturating_mul(DAY_SECONDS), edge),
        None => match duration(&word) {
            Some(duration) => seconds.checked_add(duration),
            None => {
                let time = Timestamp::parse(text.trim()).map_err(|_| refuse())?;
                if text.trim().len() > "2026-12-01".len() {
                    return Ok(time);
                }
                at_edge(time.micros().div_euclid(1_000_000), edge)
            }
        },
    };
    let micros = found.and_then(|seconds| seconds.checked_mul(1_000_000));
    micros.and_then(Timestamp::from_micros).ok_or_else(refuse)
}

/// Forms of a past time.
const PAST_FORMS: &str = "a time must look like 2026-11-21, 2026-11-21T10:00:00Z, yesterday, today, or 90m, 2h, 3d, 1w for as long ago";

/// Reads a past time in the form that a person writes at `now`: a time, a date, `today`, `yesterday`, or a duration before
/// now. A day means its start. Days are days of UTC. A time before 1970 counts as the start of 1970.
///
/// # Errors
/// Names the text and the forms.
pub(crate) fn past_point(text: &str, now: Timestamp) -> Result<Timestamp, String> {
    let refuse = || format!("{PAST_FORMS}, but is {}", shown(text));
    let word = text.trim().to_lowercase();
    let seconds = now.micros().div_euclid(1_000_000);
    let today = seconds - seconds.rem_euclid(DAY_SECONDS);
    let found = match &*word {
        "now" => Some(seconds),
        "today" => Some(today),
        "yesterday" => Some(today.saturating_sub(DAY_SECONDS).max(0)),
        _ if word.starts_with('+') => None,
        _ => match duration(&word) {
            Some(duration) => Some(seconds.saturating_sub(duration).max(0)),
            None => return Timestamp::parse(text.trim()).map_err(|_| refuse()),
        },
    };
    let micros = found.and_then(|seconds| seconds.checked_mul(1_000_000));
    micros.and_then(Timestamp::from_micros).ok_or_else(refuse)
}

fn at_edge(start: i64, edge: DayEdge) -> Option<i64> {
    match edge {
        DayEdge::Start => Some(start),
        DayEdge::End => start.checked_add(DAY_SECONDS - 1),
    }
}

/// Returns the number of days from `today` to the next weekday with this name: 1 to 7. The name may be cut to three letters.
fn days_until(word: &str, today: i64) -> Option<i64> {
    let is_named = |day: &&str| *day == word || word.len() == 3 && day.starts_with(word);
    let day = WEEKDAYS.iter().position(is_named)?;
    let ahead = i64::try_from(day).ok()? - today.rem_euclid(7);
    Some((ahead - 1).rem_euclid(7) + 1)
}

/// Returns the seconds of a duration such as `90m`, `2h`, `3d` or `+1w`.
fn duration(word: &str) -> Option<i64> {
    let word = word.strip_prefix('+').unwrap_or(word);
    let unit = match word.chars().last()? {
        'm' => 60,
        'h' => HOUR_SECONDS,
        'd' => DAY_SECONDS,
        'w' => 7 * DAY_SECONDS,
        _ => return None,
    };
    let digits = word.get(..word.len() - 1)?;
    let whole = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let count: i64 = whole.then(|| digits.parse().ok())??;
    count.checked_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, edge: DayEdge) -> String {
        // A Saturday.
        let now = Timestamp::parse("2026-11-28T22:30:00Z").unwrap();
        match point(text, now, edge) {
            Ok(time) => milliseconds(time),
            Err(why) => why,
        }
    }

    #[test]
    fn a_time_is_read_as_people_give_it() {
        for (text, start, end) in [
            (
                "friday",
                "2026-12-04T00:00:00.000Z",
                "2026-12-04T23:59:59.000Z",
            ),
            (
                "Sat",
                "2026-12-05T00:00:00.000Z",
                "2026-12-05T23:59:59.000Z",
            ),
            (
                "sunday",
                "2026-11-29T00:00:00.000Z",
                "2026-11-29T23:59:59.000Z",
            ),
            (
                "today",
                "2026-11-28T00:00:00.000Z",
                "2026-11-28T23:59:59.000Z",
            ),
            (
                "tomorrow",
                "2026-11-29T00:00:00.000Z",
                "2026-11-29T23:59:59.000Z",
            ),
            (
                "2026-12-01",
                "2026-12-01T00:00:00.000Z",
                "2026-12-01T23:59:59.000Z",
            ),
            (
                "2026-12-01T09:00:00+02:00",
                "2026-12-01T07:00:00.000Z",
                "2026-12-01T07:00:00.000Z",
            ),
            (
                "90m",
                "2026-11-29T00:00:00.000Z",
                "2026-11-29T00:00:00.000Z",
            ),
            (
                "+1w",
                "2026-12-05T22:30:00.000Z",
                "2026-12-05T22:30:00.000Z",
            ),
        ] {
            assert_eq!(read(text, DayEdge::Start), start, "{text}");
            assert_eq!(read(text, DayEdge::End), end, "{text}");
        }
    }

    #[test]
    fn a_past_time_is_read_as_people_give_it() {
        let now = Timestamp::parse("2026-11-28T22:30:00Z").unwrap();
        for (text, expected) in [
            ("now", "2026-11-28T22:30:00.000Z"),
            ("Today", "2026-11-28T00:00:00.000Z"),
            ("yesterday", "2026-11-27T00:00:00.000Z"),
            ("90m", "2026-11-28T21:00:00.000Z"),
            ("2d", "2026-11-26T22:30:00.000Z"),
            ("9999w", "1970-01-01T00:00:00.000Z"),
            ("2026-11-20", "2026-11-20T00:00:00.000Z"),
        ] {
            assert_eq!(
                past_point(text, now).map(milliseconds).as_deref(),
                Ok(expected),
                "{text}"
            );
        }
        for text in ["", "soon", "+1d", "-1d", "tomorrow", "2026-13-01"] {
            assert!(past_point(text, now).is_err(), "{text}");
        }
    }

    #[test]
    fn another_text_is_no_time() {
        for text in [
            "",
            "d",
            "soon",
            "-3d",
            "99999999999999999999d",
            "9999999999999w",
            "ü",
            "2026-13-01",
            "frida",
        ] {
            let why = read(text, DayEdge::End);
            assert!(why.starts_with("a time must look like"), "{text}: {why}");
        }
    }
}
