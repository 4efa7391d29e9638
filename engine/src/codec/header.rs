//! Segment headers: which log, which segment, and the digest of the one before.

use super::FrameError;
use crate::identity::Format;

/// The segment before this one, as it was when it was sealed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Predecessor {
    /// Its file name.
    pub name: String,
    /// Its length in bytes.
    pub len: u64,
    /// BLAKE3 of its bytes.
    pub digest: [u8; 32],
}

/// What stands at the start of a segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SegmentHeader {
    /// Version of the format.
    pub version: u32,
    /// The log's id.
    pub log: [u8; 16],
    /// The team's name.
    pub team: String,
    /// The segment's number, 1-based.
    pub number: u32,
    /// The seq of its first event.
    pub first_seq: u64,
    /// The segment before; `None` for the first.
    pub previous: Option<Predecessor>,
}

impl SegmentHeader {
    /// The header's bytes.
    pub fn encode(&self, format: Format) -> Vec<u8> {
        let _ = format;
        todo!()
    }
    /// Reads the header at the start of `bytes`; returns it and its length.
    /// In every version, past and to come, magic and version stand where version 1 has them; a newer one is `Newer`.
    ///
    /// # Errors
    /// [`FrameError`], for any bytes.
    pub fn decode(format: Format, bytes: &[u8]) -> Result<(SegmentHeader, usize), FrameError> {
        let _ = (format, bytes);
        todo!()
    }
}
