//! Points in time: UTC, whole microseconds, 1970 to 9999.

/// Microseconds since 1970-01-01T00:00:00Z. Printed as RFC 3339 with six decimals and `Z`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Timestamp(i64);

/// Microseconds in a day.
pub const DAY_MICROS: i64 = 86_400_000_000;

impl Timestamp {
    /// The last representable microsecond, 9999-12-31T23:59:59.999999Z.
    pub const MAX: Timestamp = Timestamp(253_402_300_799_999_999);

    /// From microseconds; `None` before 1970 or after 9999.
    pub fn from_micros(micros: i64) -> Option<Timestamp> {
        (0..=Self::MAX.0)
            .contains(&micros)
            .then_some(Timestamp(micros))
    }
    /// Microseconds since 1970.
    pub fn micros(self) -> i64 {
        self.0
    }
    /// The time `micros` later, capped at [`Timestamp::MAX`].
    pub fn plus_micros(self, micros: i64) -> Timestamp {
        Timestamp((self.0.saturating_add(micros)).clamp(0, Self::MAX.0))
    }
    /// The first microsecond of this time's UTC day.
    pub fn day_start(self) -> Timestamp {
        Timestamp(self.0 - self.0.rem_euclid(DAY_MICROS))
    }
    /// The first microsecond of the next UTC day.
    pub fn next_day(self) -> Timestamp {
        self.day_start().plus_micros(DAY_MICROS)
    }
    /// `YYYY-MM-DD` of this time's UTC day.
    pub fn day(self) -> String {
        String::from_utf8_lossy(&self.canonical()[..10]).into_owned()
    }
    /// `YYYY-MM-DDTHH:MM:SS.ffffffZ`, always 27 bytes of ASCII.
    pub fn canonical(self) -> [u8; 27] {
        todo!()
    }
    /// Reads exactly the canonical form; anything else is `None`.
    pub fn from_canonical(text: &[u8]) -> Option<Timestamp> {
        todo!()
    }
    /// Reads ISO 8601 as people and agents write it: `Z`, an offset, or neither (then UTC); a date alone is its midnight.
    pub fn parse(text: &str) -> Result<Timestamp, String> {
        todo!()
    }
}

impl std::fmt::Display for Timestamp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&String::from_utf8_lossy(&self.canonical()))
    }
}
