//! Parses times as people type them. `1h` is an hour ago, `14:00` is the last time that a clock showed 14:00, and `yesterday`
//! is the start of the previous day. Times of day are in the user's zone. An ISO 8601 time without a zone is UTC.
//!
//! Arguments are checked first. They are converted to points in time after the current time and the zone are known.

use jiff::civil::{DateTime, Time};
use jiff::tz::TimeZone;
use jiff::{Timestamp as Instant, ToSpan};
use teamlog_team::engine::Point;
use teamlog_team::engine::Timestamp;

/// The valid forms of a time, for error messages.
const FORM: &str = "a time must look like 2026-11-21T10:00:00Z, 2026-11-21, 14:00, yesterday, \"yesterday 14:00\", today, \
    now, or like 90s, 15m, 1h30m, 2d or 1w for as long ago";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// A complete date and time.
    At(Timestamp),
    /// Number of microseconds before now.
    Ago(i64),
    /// Number of days before today, and a time of day.
    Day(i32, Time),
    /// The last time that a clock showed this time of day.
    Last(Time),
}

/// A past point of a log, as typed on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PastPoint {
    /// The point after the event with this seq.
    Seq(u64),
    /// The point at this time.
    Time(When),
}

impl When {
    pub fn parse(text: &str) -> Result<When, String> {
        let words = text.trim().to_lowercase();
        let words = words.strip_suffix(" ago").unwrap_or(&words).trim_end();
        let (day, rest) = words.split_once(' ').unwrap_or((words, ""));
        let back = match day {
            "now" if rest.is_empty() => return Ok(When::Ago(0)),
            "today" => Some(0),
            "yesterday" => Some(1),
            _ => None,
        };
        let bad = || format!("{FORM}, but is {text:?}");
        match back {
            Some(back) if rest.is_empty() => Ok(When::Day(back, Time::midnight())),
            Some(back) => clock(rest)
                .map(|time| When::Day(back, time))
                .ok_or_else(bad),
            None => match (ago(words), clock(words)) {
                (Some(micros), _) => Ok(When::Ago(micros)),
                (None, Some(time)) => Ok(When::Last(time)),
                // A complete time has a more specific error message.
                (None, None) if text.get(..4).is_some_and(is_year) => {
                    Timestamp::parse(text).map(When::At)
                }
                (None, None) => Err(bad()),
            },
        }
    }

    pub fn resolve(self, now: Timestamp, zone: &TimeZone) -> Result<Timestamp, String> {
        let out = || "a time must lie in the years 1970 to 9999".to_owned();
        let here = || -> Result<DateTime, String> {
            let instant = Instant::from_microsecond(now.micros()).map_err(|_| out())?;
            Ok(instant.to_zoned(zone.clone()).datetime())
        };
        let at = |civil: DateTime| {
            // When clocks are set back, an hour occurs twice, and its first occurrence is used. A skipped time becomes the next
            // valid time.
            let zoned = civil.to_zoned(zone.clone()).map_err(|_| out())?;
            Timestamp::from_micros(zoned.timestamp().as_microsecond()).ok_or_else(out)
        };
        match self {
            When::At(time) => Ok(time),
            When::Ago(micros) => {
                Timestamp::from_micros(now.micros().saturating_sub(micros)).ok_or_else(out)
            }
            When::Day(back, time) => {
                let here = here()?;
                let day = here.date().checked_sub(back.days()).map_err(|_| out())?;
                at(day.to_datetime(time))
            }
            When::Last(time) => {
                let today = When::Day(0, time).resolve(now, zone)?;
                match today > now {
                    true => When::Day(1, time).resolve(now, zone),
                    false => Ok(today),
                }
            }
        }
    }
}

impl PastPoint {
    /// Parses a seq or a time.
    pub fn parse(text: &str) -> Result<PastPoint, String> {
        match text.bytes().all(|byte| byte.is_ascii_digit()) && !text.is_empty() {
            true => text
                .parse()
                .map(PastPoint::Seq)
                .map_err(|_| format!("a seq must be below 2^64, but is {text}")),
            false => When::parse(text).map(PastPoint::Time),
        }
    }

    pub fn resolve(self, now: Timestamp, zone: &TimeZone) -> Result<Point, String> {
        match self {
            PastPoint::Seq(seq) => Ok(Point::Seq(seq)),
            PastPoint::Time(when) => when.resolve(now, zone).map(Point::Time),
        }
    }
}

fn is_year(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Parses `90s`, `15m`, `1h30m`, `2d` or `1w` into microseconds.
fn ago(text: &str) -> Option<i64> {
    let mut rest = text;
    let mut micros: i64 = 0;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit())?;
        let (number, behind) = rest.split_at(digits);
        let unit = behind.chars().next()?;
        let seconds: i64 = match unit {
            's' => 1,
            'm' => 60,
            'h' => 3_600,
            'd' => 86_400,
            'w' => 604_800,
            _ => return None,
        };
        let number: i64 = number.parse().ok()?;
        micros = micros.checked_add(number.checked_mul(seconds)?.checked_mul(1_000_000)?)?;
        rest = behind.get(1..)?;
    }
    (!text.is_empty()).then_some(micros)
}

/// Parses `14:00`, `9:05` or `14:00:30`.
fn clock(text: &str) -> Option<Time> {
    let parts: Vec<&str> = text.split(':').collect();
    let number = |part: &&str| -> Option<i8> {
        let plain = (1..=2).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit());
        plain.then(|| part.parse().ok())?
    };
    let numbers: Vec<i8> = parts.iter().map(number).collect::<Option<_>>()?;
    match numbers.as_slice() {
        [hour, minute] => Time::new(*hour, *minute, 0, 0).ok(),
        [hour, minute, second] => Time::new(*hour, *minute, *second, 0).ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::tz::{Offset, TimeZone};

    fn time(text: &str) -> Timestamp {
        Timestamp::parse(text).unwrap()
    }

    /// Parses a time as if the current time were 10:30 UTC, which is 12:30 in the test's zone.
    fn read(text: &str) -> String {
        let zone = TimeZone::fixed(Offset::from_hours(2).unwrap());
        let when = When::parse(text).unwrap();
        let at = when.resolve(time("2026-11-23T10:30:00Z"), &zone).unwrap();
        at.to_string()
    }

    #[test]
    fn a_time_is_read_as_people_mean_it() {
        for (text, means) in [
            ("now", "2026-11-23T10:30:00.000000Z"),
            ("90s", "2026-11-23T10:28:30.000000Z"),
            ("15m", "2026-11-23T10:15:00.000000Z"),
            ("1h", "2026-11-23T09:30:00.000000Z"),
            ("1h30m ago", "2026-11-23T09:00:00.000000Z"),
            ("2d", "2026-11-21T10:30:00.000000Z"),
            ("1w", "2026-11-16T10:30:00.000000Z"),
            ("today", "2026-11-22T22:00:00.000000Z"),
            ("yesterday", "2026-11-21T22:00:00.000000Z"),
            ("Yesterday 14:00", "2026-11-22T12:00:00.000000Z"),
            ("12:30", "2026-11-23T10:30:00.000000Z"),
            ("9:05:07", "2026-11-23T07:05:07.000000Z"),
            // 14:00 is later than now, so the day before is meant.
            ("14:00", "2026-11-22T12:00:00.000000Z"),
            // A complete time does not depend on the zone.
            ("2026-11-21", "2026-11-21T00:00:00.000000Z"),
            ("2026-11-21T10:00:00+01:00", "2026-11-21T09:00:00.000000Z"),
        ] {
            assert_eq!(read(text), means, "{text}");
        }
    }

    #[test]
    fn a_day_is_as_long_as_its_zone_makes_it() {
        // Central Europe as a POSIX rule, so that no time zone files of the machine are read.
        let zone = TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap();
        let now = time("2026-10-25T12:00:00Z");
        let at = |text: &str| When::parse(text).unwrap().resolve(now, &zone).unwrap();
        assert_eq!(at("today"), time("2026-10-24T22:00:00Z"), "still in summer");
        assert_eq!(at("13:00"), now, "winter by then");
        assert_eq!(at("2:30"), time("2026-10-25T00:30:00Z"), "the first of two");
    }

    #[test]
    fn what_is_no_time_is_refused_with_what_would_be() {
        for text in [
            "",
            "soon",
            "25:00",
            "1:2:3:4",
            "1y",
            "h",
            "-1h",
            "tomorrow",
            "yesterday 1h",
            "now 1h",
        ] {
            let why = When::parse(text).unwrap_err();
            assert!(
                why.contains("yesterday") && why.contains(&format!("{text:?}")),
                "{why}"
            );
        }
        let why = When::parse("2026-13-01").unwrap_err();
        assert!(why.contains("2026-13-01"), "{why}");
        let far = When::parse("9999999w").unwrap();
        assert!(
            far.resolve(time("2026-11-23T10:30:00Z"), &TimeZone::UTC)
                .is_err()
        );
    }

    #[test]
    fn digits_alone_are_a_seq() {
        let (now, zone) = (time("2026-11-23T10:30:00Z"), TimeZone::UTC);
        let spot = |text: &str| PastPoint::parse(text).unwrap().resolve(now, &zone).unwrap();
        assert_eq!(spot("120"), Point::Seq(120));
        assert_eq!(spot("120s"), Point::Time(time("2026-11-23T10:28:00Z")));
        assert!(PastPoint::parse("99999999999999999999").is_err());
    }
}
