//! Formats of times on the board: local time, UTC, or time until now.

use crate::render::time;
use jiff::tz::TimeZone;
use teamlog_team::engine::Timestamp;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Clock {
    /// Shows times in the time zone of the user.
    #[default]
    Local,
    Utc,
    /// Shows the time between the event and now.
    Relative,
}

impl Clock {
    pub fn next(self) -> Clock {
        match self {
            Clock::Local => Clock::Utc,
            Clock::Utc => Clock::Relative,
            Clock::Relative => Clock::Local,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Clock::Local => "local time",
            Clock::Utc => "UTC",
            Clock::Relative => "relative",
        }
    }

    /// Formats the time of day of `at`. Adds the date unless it is today.
    pub fn show(self, at: Timestamp, now: Timestamp, zone: &TimeZone) -> String {
        let zone = match self {
            Clock::Relative => return time::ago(now.micros(), at.micros()),
            Clock::Local => zone.clone(),
            Clock::Utc => TimeZone::UTC,
        };
        let civil = |at: Timestamp| {
            let instant = jiff::Timestamp::from_microsecond(at.micros());
            instant.map(|instant| instant.to_zoned(zone.clone()).datetime())
        };
        let (Ok(then), Ok(now)) = (civil(at), civil(now)) else {
            return at.to_string();
        };
        let today = then.date() == now.date();
        let form = if today {
            "%H:%M:%S"
        } else {
            "%Y-%m-%d %H:%M:%S"
        };
        let end = if self == Clock::Utc { "Z" } else { "" };
        format!("{}{end}", then.strftime(form))
    }
}
