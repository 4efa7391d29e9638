//! From events to bytes and back: `jsonl` and `binary` behind one set of functions.
//!
//! `docs/format.md` is the byte-level description; the two sub-modules implement it. Everything above
//! works on the values below and never asks which format it is dealing with.

mod binary;
mod header;
mod jsonl;
mod split;

use crate::event::Event;
use crate::identity::Format;

pub use header::{Predecessor, SegmentHeader};
pub use split::split;

/// An event's place in its group: event `index` of `len`, both from the frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GroupPart {
    /// 0-based.
    pub index: u32,
    /// At least 1.
    pub len: u32,
}

/// One decoded frame: an event, its part in a group, and the bytes it took.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame<'a> {
    /// The event.
    pub event: Event<'a>,
    /// Its part in its group.
    pub group: GroupPart,
    /// Bytes from the frame's start to the next one's.
    pub len: usize,
    /// The CRC-32 that the frame carries (and which was checked).
    pub crc: u32,
}

/// What is cheap to know of a frame: for replays that filter before they decode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Envelope<'a> {
    /// See [`Event::seq`].
    pub seq: u64,
    /// See [`Event::id`].
    pub id: crate::event_id::EventId,
    /// The kind as stored.
    pub kind: &'a str,
    /// The payload as stored, not looked into.
    pub payload: &'a str,
    /// Its part in its group.
    pub group: GroupPart,
    /// Bytes from the frame's start to the next one's.
    pub len: usize,
}

/// Why bytes are not a frame. Never a panic, never an allocation by an unchecked length.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// The bytes end before the frame does (or hold nothing).
    #[error("the frame is cut short")]
    Incomplete,
    /// The bytes are there but wrong.
    #[error("{0}")]
    Damaged(&'static str),
    /// A segment header of a version that this code does not know (headers only).
    #[error("format version {0} is newer than this teamlog")]
    Newer(u32),
}

/// Writes the frames of one group at the end of `out`; `out` then has the bytes of one write.
/// Returns the length of each frame.
pub fn encode_group(format: Format, events: &[Event<'_>], out: &mut Vec<u8>) -> Vec<u32> {
    let _ = (format, events, out);
    todo!()
}

/// Decodes the frame at the start of `bytes`, every check included: CRC, field order, types, limits, id against `created_at`.
///
/// # Errors
/// [`FrameError`], for any bytes.
pub fn decode(format: Format, bytes: &[u8]) -> Result<Frame<'_>, FrameError> {
    let _ = (format, bytes);
    todo!()
}

/// Checks the CRC of the frame at the start of `bytes` and reads its envelope.
///
/// # Errors
/// [`FrameError`], for any bytes.
pub fn envelope(format: Format, bytes: &[u8]) -> Result<Envelope<'_>, FrameError> {
    let _ = (format, bytes);
    todo!()
}

/// The extent of the frame at the start of `bytes` by its length alone (newline or length field), unchecked; to split work.
///
/// # Errors
/// [`FrameError`], for any bytes.
pub fn extent(format: Format, bytes: &[u8]) -> Result<usize, FrameError> {
    let _ = (format, bytes);
    todo!()
}

/// The next offset at or after `from` where a frame could start (for the search behind damage); finds every valid
/// frame's start, whatever stands before it.
pub fn next_candidate(format: Format, bytes: &[u8], from: usize) -> Option<usize> {
    let _ = (format, bytes, from);
    todo!()
}

/// The event as `replay --json` and `export` show it: one line of JSON without framing and newline, the same
/// whichever format stored it.
pub fn public_json(event: &Event<'_>, out: &mut Vec<u8>) {
    let _ = (event, out);
    todo!()
}

/// Reads what [`public_json`] writes (any field order, whitespace allowed), for `import --events`.
///
/// # Errors
/// Names the field, its value and the rule.
pub fn parse_public_json(line: &str) -> Result<Event<'static>, String> {
    let _ = line;
    todo!()
}
