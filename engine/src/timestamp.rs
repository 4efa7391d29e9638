//! Points in time: UTC, whole microseconds, 1970 to 9999.
//!
//! This module writes and reads the canonical text itself, because every stored event has it; `jiff` reads texts that
//! people write.

use crate::words::as_text;
use jiff::fmt::temporal::{DateTimeParser, Pieces};

/// A time in microseconds since 1970-01-01T00:00:00Z. The text form is RFC 3339 with six decimals and `Z`; the derived store
/// holds a number.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Default,
    rkyv::Archive,
    rkyv::Serialize,
    rkyv::Deserialize,
)]
pub struct Timestamp(i64);

/// Microseconds in a day.
pub const DAY_MICROS: i64 = 86_400_000_000;

impl Timestamp {
    /// The last representable microsecond, 9999-12-31T23:59:59.999999Z.
    pub const MAX: Timestamp = Timestamp(253_402_300_799_999_999);

    /// Converts from microseconds; `None` before 1970 or after 9999.
    pub fn from_micros(micros: i64) -> Option<Timestamp> {
        (0..=Self::MAX.0)
            .contains(&micros)
            .then_some(Timestamp(micros))
    }
    /// Returns microseconds since 1970.
    pub fn micros(self) -> i64 {
        self.0
    }
    /// Returns the time `micros` later, capped at [`Timestamp::MAX`].
    pub fn plus_micros(self, micros: i64) -> Timestamp {
        Timestamp((self.0.saturating_add(micros)).clamp(0, Self::MAX.0))
    }
    /// Returns the first microsecond of this time's UTC day.
    pub fn day_start(self) -> Timestamp {
        Timestamp(self.0 - self.0.rem_euclid(DAY_MICROS))
    }
    /// Returns the first microsecond of the next UTC day.
    pub fn next_day(self) -> Timestamp {
        self.day_start().plus_micros(DAY_MICROS)
    }
    /// Returns `YYYY-MM-DD` of this time's UTC day.
    pub fn day(self) -> String {
        String::from_utf8_lossy(&self.canonical()[..10]).into_owned()
    }
    /// Returns `YYYY-MM-DDTHH:MM:SS.ffffffZ`, always 27 bytes of ASCII.
    pub fn canonical(self) -> [u8; 27] {
        // The time is between 1970 and 9999, so all arithmetic is unsigned and small.
        let micros = self.0.unsigned_abs();
        let (year, month, day) = civil_from_days((micros / DAY_MICROS.unsigned_abs()) as u32);
        let in_day = micros % DAY_MICROS.unsigned_abs();
        let (second, fraction) = ((in_day / 1_000_000) as u32, (in_day % 1_000_000) as u32);
        let mut text = *b"0000-00-00T00:00:00.000000Z";
        for (at, value) in [
            (0, year / 100),
            (2, year % 100),
            (5, month),
            (8, day),
            (11, second / 3600),
            (14, second / 60 % 60),
            (17, second % 60),
            (20, fraction / 10_000),
            (22, fraction / 100 % 100),
            (24, fraction % 100),
        ] {
            text[at] += (value / 10) as u8;
            text[at + 1] += (value % 10) as u8;
        }
        text
    }
    /// Reads exactly the canonical form; `None` for anything else.
    pub fn from_canonical(text: &[u8]) -> Option<Timestamp> {
        let text: &[u8; 27] = text.try_into().ok()?;
        let separators = [4, 7, 10, 13, 16, 19, 26].map(|at| text[at]);
        if separators != *b"--T::.Z" {
            return None;
        }
        let mut wrong = false;
        let mut two = |at: usize| {
            let (tens, ones) = (text[at].wrapping_sub(b'0'), text[at + 1].wrapping_sub(b'0'));
            wrong |= tens > 9 || ones > 9;
            u32::from(tens) * 10 + u32::from(ones)
        };
        let (year, month, day) = (two(0) * 100 + two(2), two(5), two(8));
        let (hour, minute, second) = (two(11), two(14), two(17));
        let fraction = two(20) * 10_000 + two(22) * 100 + two(24);
        if wrong || hour > 23 || minute > 59 || second > 59 {
            return None;
        }
        let days = days_from_civil(year, month, day)?;
        let seconds = i64::from(hour * 3600 + minute * 60 + second);
        Timestamp::from_micros(days * DAY_MICROS + seconds * 1_000_000 + i64::from(fraction))
    }
    /// Reads ISO 8601 as people and agents write it: with `Z`, with an offset, or with neither, which means UTC. A date alone means
    /// midnight. Digits after the microsecond (at most nine) are cut. A leap second, `:60`, is read as the second before it.
    ///
    /// # Errors
    /// The error text names the input and the rule that it breaks.
    pub fn parse(text: &str) -> Result<Timestamp, String> {
        if let Some(canonical) = Timestamp::from_canonical(text.as_bytes()) {
            return Ok(canonical);
        }
        let refuse = |rule: &str| format!("{rule}, but is {:?}", shortened(text));
        let form =
            "a time must look like 2026-11-21T10:00:00.000000Z, with an offset, or like 2026-11-21";
        let pieces: Pieces<'_> = DateTimeParser::new()
            .parse_pieces(text)
            .map_err(|_| refuse(form))?;
        if pieces.time_zone_annotation().is_some() {
            return Err(refuse("a time must have no zone in brackets"));
        }
        if pieces.time().is_none() && pieces.offset().is_some() {
            return Err(refuse(form));
        }
        let range = "a time must lie in the years 1970 to 9999";
        // The sum is computed here, because `jiff` has no instants for the last day of 9999.
        let (date, time) = (pieces.date(), pieces.time().unwrap_or_default());
        let [year, month, day] = [date.year(), date.month().into(), date.day().into()]
            .map(|part| u32::try_from(part).unwrap_or_default());
        let days = days_from_civil(year, month, day).ok_or_else(|| refuse(range))?;
        let [hour, minute, second] = [time.hour(), time.minute(), time.second()].map(i64::from);
        let ahead = pieces
            .to_numeric_offset()
            .map_or(0, |offset| i64::from(offset.seconds()));
        let seconds = hour * 3600 + minute * 60 + second - ahead;
        let fraction = i64::from(time.subsec_nanosecond() / 1000);
        let micros = days * DAY_MICROS + seconds * 1_000_000 + fraction;
        Timestamp::from_micros(micros).ok_or_else(|| refuse(range))
    }
}

fn shortened(text: &str) -> String {
    text.chars().take(64).collect()
}

/// Days from 0000-03-01 to 1970-01-01. If years start in March, the leap day is the last day of the year, so the arithmetic below
/// needs only plain divisions.
const EPOCH_SHIFT_DAYS: u32 = 719_468;
/// Days in 400 years, after which the calendar repeats.
const CYCLE_DAYS: u32 = 146_097;

/// Returns year, month and day of the `days`-th day after 1970-01-01, for any year up to 9999.
fn civil_from_days(days: u32) -> (u32, u32, u32) {
    let shifted = days + EPOCH_SHIFT_DAYS;
    let (cycle, day_of_cycle) = (shifted / CYCLE_DAYS, shifted % CYCLE_DAYS);
    let year_of_cycle =
        (day_of_cycle - day_of_cycle / 1460 + day_of_cycle / 36_524 - day_of_cycle / 146_096) / 365;
    let day_of_year = day_of_cycle - days_before_year(year_of_cycle);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - days_before_month(month_from_march) + 1;
    let month = if month_from_march < 10 {
        month_from_march + 3
    } else {
        month_from_march - 9
    };
    (
        cycle * 400 + year_of_cycle + u32::from(month <= 2),
        month,
        day,
    )
}

/// Returns the number of days from 1970-01-01 to a date of the years 1 to 9999; `None` if the date does not exist.
fn days_from_civil(year: u32, month: u32, day: u32) -> Option<i64> {
    if !(1..=9999).contains(&year)
        || !(1..=12).contains(&month)
        || !(1..=days_in_month(year, month)).contains(&day)
    {
        return None;
    }
    let (year, month_from_march) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let before = year / 400 * CYCLE_DAYS + days_before_year(year % 400);
    let shifted = before + days_before_month(month_from_march) + day - 1;
    Some(i64::from(shifted) - i64::from(EPOCH_SHIFT_DAYS))
}

/// Returns the days from the start of a 400-year cycle to the start of the year `year_of_cycle`, if years start in March.
fn days_before_year(year_of_cycle: u32) -> u32 {
    year_of_cycle * 365 + year_of_cycle / 4 - year_of_cycle / 100
}

/// Returns the number of days from 1 March to the first day of the month that is `month_from_march` months later.
fn days_before_month(month_from_march: u32) -> u32 {
    (153 * month_from_march + 2) / 5
}

fn days_in_month(year: u32, month: u32) -> u32 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => {
            29
        }
        2 => 28,
        _ => 31,
    }
}

impl std::fmt::Display for Timestamp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&String::from_utf8_lossy(&self.canonical()))
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Timestamp {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Timestamp".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string",
            "format": "date-time",
            "description": "UTC, RFC 3339, with six decimals and Z",
        })
    }
}

as_text! {
    Timestamp,
    Timestamp::from_canonical,
    "must be a time, 2026-11-21T10:00:00.000000Z"
}
