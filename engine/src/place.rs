//! Places of events.

/// The place of one event's bytes in the log.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
pub struct Place {
    /// The segment's number, 1-based and gapless.
    pub segment: u32,
    /// Byte offset of the first byte of the event in the segment's file.
    pub offset: u64,
    /// Bytes of the event, including framing (and, in `jsonl`, the newline).
    pub len: u32,
}

impl Place {
    /// Returns the offset after the event. The addition must not overflow, because places also come from disk.
    pub fn end(&self) -> u64 {
        self.offset.saturating_add(u64::from(self.len))
    }
}
