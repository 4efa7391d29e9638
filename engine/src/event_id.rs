//! Event ids: UUIDv7 whose time is the event's `created_at` to the microsecond (RFC 9562 §6.2, method 3).
//!
//! From the top: 48 bits of milliseconds, the version 7, 12 bits with the microsecond as a fraction of
//! the millisecond in 4096ths, the variant 10, and 62 random bits.

use crate::error::{Error, Result};
use crate::timestamp::Timestamp;
use crate::uuid;
use crate::words::as_text;
use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, Ordering};

/// A UUIDv7. The order of the ids is the order of the log: `created_at` first, then the random part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventId(u128);

/// Mask of the random bits of an id.
const RANDOM_MASK: u64 = (1 << 62) - 1;
/// Mask of the random bits of a fresh id. The top bit is 0, so that there is room for later ids of the same microsecond.
const FRESH_MASK: u64 = RANDOM_MASK >> 1;
/// Maximum random step between two ids of one microsecond. The maximum is so large that the next id cannot be guessed, and so
/// small that one microsecond has room for half a billion ids.
const STEP_MASK: u64 = (1 << 32) - 1;

const VERSION: u128 = 7 << 76;
const VARIANT: u128 = 0b10 << 62;

impl EventId {
    /// Converts from the 16 bytes of the UUID, most significant first. Returns `None` unless the bytes have version 7, variant
    /// 10, a whole microsecond, and a time that [`Timestamp`] can hold.
    pub fn from_bytes(bytes: [u8; 16]) -> Option<EventId> {
        let id = EventId(u128::from_be_bytes(bytes));
        let marks = id.0 & (0xF << 76 | 0b11 << 62) == VERSION | VARIANT;
        let whole = u64::from(fraction_of(id.micros_in_milli())) == id.fraction()
            && id.micros_in_milli() < 1000;
        (marks && whole && id.millis() <= Timestamp::MAX.micros().unsigned_abs() / 1000)
            .then_some(id)
    }
    /// Returns the 16 bytes of the UUID, most significant first.
    pub fn bytes(self) -> [u8; 16] {
        self.0.to_be_bytes()
    }
    /// Returns the `created_at` that the id encodes.
    pub fn created_at(self) -> Timestamp {
        let micros = self.millis() * 1000 + u64::from(self.micros_in_milli());
        Timestamp::default().plus_micros(micros as i64)
    }
    /// Creates an id for `at` with the low 62 bits of `random`.
    pub fn new(at: Timestamp, random: u64) -> EventId {
        let micros = at.micros().unsigned_abs();
        let fraction = fraction_of((micros % 1000) as u16);
        debug_assert!(fraction < 4096, "{micros} us give the fraction {fraction}");
        EventId(
            u128::from(micros / 1000) << 80
                | VERSION
                | u128::from(fraction) << 64
                | VARIANT
                | u128::from(random & RANDOM_MASK),
        )
    }
    /// Returns the id for an event at `at` that follows `previous`. If `at` is in the microsecond of `previous`, the id is `previous` plus
    /// a small step; otherwise the id is fresh. So ids strictly increase.
    ///
    /// A microsecond has room for at least half a billion ids of this program. If an imported id has used up its microsecond, the new id is
    /// in the next microsecond, so take `created_at` from [`EventId::created_at`]. The last microsecond of the year 9999 has no successor,
    /// so only there the id can be equal to or below `previous`.
    ///
    /// # Errors
    /// `Random`.
    ///
    /// # Panics
    /// If `at` is earlier than `previous.created_at()`; the writer never passes such an `at`.
    pub fn after(previous: Option<EventId>, at: Timestamp, ids: &dyn IdSource) -> Result<EventId> {
        let random = ids.random()?;
        let Some(previous) = previous.filter(|previous| {
            let before = previous.created_at();
            assert!(
                before <= at,
                "an id at {at} must not follow one at {before}"
            );
            before == at
        }) else {
            return Ok(EventId::new(at, random & FRESH_MASK));
        };
        let next = (previous.0 as u64 & RANDOM_MASK) + 1 + (random & STEP_MASK);
        if next <= RANDOM_MASK {
            return Ok(EventId::new(at, next));
        }
        Ok(EventId::new(at.plus_micros(1), random & FRESH_MASK))
    }
    /// Returns lower-case hyphenated text, always 36 bytes of ASCII.
    pub fn text(self) -> [u8; 36] {
        uuid::text(self.bytes())
    }
    /// Reads exactly the output of [`EventId::text`].
    pub fn from_text(text: &[u8]) -> Option<EventId> {
        EventId::from_bytes(uuid::from_text(text)?)
    }

    fn millis(self) -> u64 {
        (self.0 >> 80) as u64
    }
    fn fraction(self) -> u64 {
        (self.0 >> 64) as u64 & 0xFFF
    }
    /// Returns the microsecond within its millisecond. Rounds up, because the encoding rounded down. The result is up to 1000 if
    /// the fraction is not a whole microsecond.
    fn micros_in_milli(self) -> u16 {
        (self.fraction() * 1000).div_ceil(4096) as u16
    }
}

/// Converts a microsecond within its millisecond into a fraction in 4096ths, rounded down.
fn fraction_of(micros_in_milli: u16) -> u16 {
    (u32::from(micros_in_milli) * 4096 / 1000) as u16
}

/// Source of random bits. Callers pass a source as an argument, so that a source with a seed can replay a history.
pub trait IdSource: Send + Sync + std::fmt::Debug {
    /// Returns 64 random bits.
    ///
    /// # Errors
    /// `Random`: the source has no random bits. Then no id, token or name is created.
    fn random(&self) -> Result<u64>;
}

/// Bits from the operating system: `getrandom(2)`.
#[derive(Debug, Clone, Copy, Default)]
pub struct RandomIds;

/// A reproducible sequence from a seed (SplitMix64), for tests and golden logs.
#[derive(Debug)]
pub struct SeededIds(pub AtomicU64);

/// Random bytes fetched in advance, so that one system call serves 32 ids.
const STOCK_BYTES: usize = 256;

/// Takes 8 bytes off the stock. Fills an empty stock first. If filling fails, the stock stays empty.
fn take_word(
    stock: &mut Vec<u8>,
    fill: impl FnOnce(&mut [u8]) -> Result<(), getrandom::Error>,
) -> Result<u64> {
    if stock.is_empty() {
        let mut bytes = [0; STOCK_BYTES];
        fill(&mut bytes).map_err(|error| Error::Random(error.to_string()))?;
        stock.extend_from_slice(&bytes);
    }
    let Some((rest, word)) = stock.split_last_chunk() else {
        return Err(Error::Random("no random bits are left".into()));
    };
    let (word, rest) = (u64::from_le_bytes(*word), rest.len());
    stock.truncate(rest);
    Ok(word)
}

impl IdSource for RandomIds {
    fn random(&self) -> Result<u64> {
        thread_local!(static STOCK: RefCell<Vec<u8>> = RefCell::default());
        STOCK.with_borrow_mut(|stock| take_word(stock, getrandom::fill))
    }
}

impl SeededIds {
    /// Returns the next 64 bits of the sequence.
    pub fn random(&self) -> u64 {
        const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;
        let mut word = self
            .0
            .fetch_add(GOLDEN, Ordering::Relaxed)
            .wrapping_add(GOLDEN);
        word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        word ^ (word >> 31)
    }
}

impl IdSource for SeededIds {
    fn random(&self) -> Result<u64> {
        Ok(SeededIds::random(self))
    }
}

as_text! { EventId, EventId::from_text, "must be the id of an event" }

impl std::fmt::Display for EventId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&String::from_utf8_lossy(&self.text()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_fill_leaves_nothing_in_the_stock() {
        let mut stock = Vec::new();
        for _ in 0..3 {
            let failed = take_word(&mut stock, |bytes| {
                // The source may have written a part of the bytes before it failed.
                bytes[..8].fill(7);
                Err(getrandom::Error::UNSUPPORTED)
            });
            assert!(matches!(failed, Err(Error::Random(_))), "{failed:?}");
            assert!(stock.is_empty(), "{stock:?}");
        }
        let ones = |bytes: &mut [u8]| {
            bytes.fill(0xFF);
            Ok(())
        };
        assert_eq!(take_word(&mut stock, ones).unwrap(), u64::MAX);
        for _ in 1..STOCK_BYTES / 8 {
            let word = take_word(&mut stock, |_| unreachable!("the stock has words"));
            assert_eq!(word.unwrap(), u64::MAX);
        }
        assert!(stock.is_empty());
    }
}
