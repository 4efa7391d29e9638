//! Where an event lies.

/// The place of one event's bytes in the log.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
pub struct Place {
    /// The segment's number, 1-based and gapless.
    pub segment: u32,
    /// Byte offset of the first byte of the event in the segment's file.
    pub offset: u64,
    /// Bytes that the event takes, framing (and, in `jsonl`, the newline) included.
    pub len: u32,
}

impl Place {
    /// The offset just behind the event. Places come from disk too, so it must not overflow.
    pub fn end(&self) -> u64 {
        self.offset.saturating_add(u64::from(self.len))
    }
}
