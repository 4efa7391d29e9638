//! Event ids: UUIDv7 whose time is the event's `created_at` to the microsecond (RFC 9562 §6.2, method 3).

use crate::timestamp::Timestamp;

/// A UUIDv7. Its order is the order of the log: `created_at` first, then the random part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventId(u128);

impl EventId {
    /// From the 16 bytes of the UUID, most significant first; `None` unless version 7, variant 10 and a whole microsecond.
    pub fn from_bytes(bytes: [u8; 16]) -> Option<EventId> {
        todo!()
    }
    /// The 16 bytes of the UUID, most significant first.
    pub fn bytes(self) -> [u8; 16] {
        self.0.to_be_bytes()
    }
    /// The `created_at` that the id encodes.
    pub fn created_at(self) -> Timestamp {
        todo!()
    }
    /// An id for `at` with the low 62 bits `random`.
    pub fn new(at: Timestamp, random: u64) -> EventId {
        todo!()
    }
    /// The id for an event at `at` that follows `previous`: fresh, or, within one microsecond, the
    /// previous one plus a small step, so that ids strictly increase.
    ///
    /// # Panics
    /// If `at` is earlier than `previous.created_at()`; the writer promises that it is not.
    pub fn after(previous: Option<EventId>, at: Timestamp, ids: &dyn IdSource) -> EventId {
        todo!()
    }
    /// Lower-case hyphenated text, always 36 bytes of ASCII.
    pub fn text(self) -> [u8; 36] {
        todo!()
    }
    /// Reads exactly what [`EventId::text`] writes.
    pub fn from_text(text: &[u8]) -> Option<EventId> {
        todo!()
    }
}

/// Where random bits come from, handed in so that a seed replays a history.
pub trait IdSource: Send + Sync + std::fmt::Debug {
    /// 64 random bits.
    fn random(&self) -> u64;
}

/// Bits from the operating system.
#[derive(Debug, Clone, Copy, Default)]
pub struct RandomIds;

/// A reproducible sequence from a seed (SplitMix64), for tests and golden logs.
#[derive(Debug)]
pub struct SeededIds(pub std::sync::atomic::AtomicU64);

impl IdSource for RandomIds {
    fn random(&self) -> u64 {
        todo!()
    }
}
impl IdSource for SeededIds {
    fn random(&self) -> u64 {
        todo!()
    }
}

impl std::fmt::Display for EventId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&String::from_utf8_lossy(&self.text()))
    }
}
