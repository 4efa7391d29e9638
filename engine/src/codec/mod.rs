//! Encoding of events: one set of functions for `jsonl` and `binary`.
//!
//! `docs/format.md` describes the bytes; each of the two sub-modules implements one format. All other code uses the values
//! below and does not depend on the format.

mod binary;
mod header;
mod jsonl;
mod public;
mod split;

use crate::event::Event;
use crate::identity::{Format, Identity};
use crate::refs::{RefNames, UNDECLARED_NAMES};

pub use header::{Predecessor, SegmentHeader};
pub use public::{parse_public_json, parse_public_json_of};
pub use split::split;
pub(crate) use split::stored_crc;

/// Encoding of a log's events: the format, and the names of the refs.
#[derive(Debug, Clone, Copy)]
pub struct Encoding<'a> {
    /// The format.
    pub format: Format,
    /// The names of the refs.
    pub refs: &'a RefNames,
}

/// The encoding of a log that declares no refs.
impl From<Format> for Encoding<'static> {
    fn from(format: Format) -> Encoding<'static> {
        let refs = &UNDECLARED_NAMES;
        Encoding { format, refs }
    }
}

impl<'a> From<&'a Identity> for Encoding<'a> {
    fn from(identity: &'a Identity) -> Encoding<'a> {
        Encoding {
            format: identity.format,
            refs: &identity.refs,
        }
    }
}

/// An event's place in its group: event `index` of `len`. The frame of the event stores both numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GroupPart {
    /// Index of the event in the group, from 0.
    pub index: u32,
    /// Number of events in the group, at least 1.
    pub len: u32,
}

/// A decoded frame: an event, its part in a group, and its length.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame<'a> {
    /// The event.
    pub event: Event<'a>,
    /// The event's part in its group.
    pub group: GroupPart,
    /// Number of bytes from the frame's start to the start of the next frame.
    pub len: usize,
    /// The CRC-32 that the frame carries (and which was checked).
    pub crc: u32,
}

/// The fields of a frame that are cheap to read, for a replay that filters events before it decodes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Envelope<'a> {
    /// See [`Event::seq`].
    pub seq: u64,
    /// See [`Event::id`].
    pub id: crate::event_id::EventId,
    /// The kind as stored.
    pub kind: &'a str,
    /// The payload as stored. The payload is not checked, so its bytes are perhaps not UTF-8.
    pub payload: &'a [u8],
    /// The event's part in its group.
    pub group: GroupPart,
    /// Number of bytes from the frame's start to the start of the next frame.
    pub len: usize,
}

/// Reason why bytes are not a frame.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// The bytes end before the frame ends, or there are no bytes.
    #[error("the frame is incomplete")]
    Incomplete,
    /// The bytes are no frame, for this reason.
    #[error("{0}")]
    Damaged(&'static str),
    /// A segment header of an unknown, newer version (headers only).
    #[error("format version {0} is newer than this teamlog")]
    Newer(u32),
}

/// The group part of an event that is alone in its group.
const ALONE: GroupPart = GroupPart { index: 0, len: 1 };

/// Appends the frames of one group to `out`, to be written in one piece. Returns the length of each frame.
///
/// The events' kinds, actors and refs must be identifiers within the limits, their payloads canonical JSON within the limits, and their
/// `created_at` must be the time in their ids. [`decode`] refuses anything else.
pub fn encode_group<'e>(
    encoding: impl Into<Encoding<'e>>,
    events: &[Event<'_>],
    out: &mut Vec<u8>,
) -> Vec<u32> {
    let encoding = encoding.into();
    debug_assert!(
        events.len() <= crate::limits::GROUP_EVENTS_MAX,
        "a group of {} events",
        events.len()
    );
    let len = events.len() as u32;
    let parts = (0..len).map(|index| GroupPart { index, len });
    let mut lengths = Vec::with_capacity(events.len());
    for (event, part) in events.iter().zip(parts) {
        let start = out.len();
        encode_body(encoding, event, out);
        complete(encoding.format, out, start, part);
        assert!(
            out.len() > start,
            "event {} must have bytes behind byte {start}",
            event.seq
        );
        lengths.push((out.len() - start) as u32);
    }
    lengths
}

/// Returns the number of bytes that [`encode_group`] appends for events whose [`canonical_len`]s add up to `canonical`.
pub fn group_len(format: Format, events: &[Event<'_>], canonical: usize) -> usize {
    match format {
        Format::Jsonl => jsonl::group_len(events.len(), canonical),
        Format::Binary => events.iter().map(binary::frame_len).sum(),
    }
}

/// Appends the part of an event's frame that does not depend on its group; [`seal`] completes the frame. This way the caller's
/// thread encodes the event, and the writer adds only the group.
pub fn encode_body<'e>(encoding: impl Into<Encoding<'e>>, event: &Event<'_>, out: &mut Vec<u8>) {
    let Encoding { format, refs } = encoding.into();
    debug_assert_eq!(
        event.created_at,
        event.id.created_at(),
        "event {}",
        event.seq
    );
    match format {
        Format::Jsonl => jsonl::write_body(refs, event, out),
        Format::Binary => binary::write_body(event, out),
    }
}

/// Appends the frame of a `body` that [`encode_body`] wrote; returns its length.
pub fn seal(format: Format, body: &[u8], part: GroupPart, out: &mut Vec<u8>) -> u32 {
    let start = out.len();
    out.extend_from_slice(body);
    complete(format, out, start, part);
    (out.len() - start) as u32
}

fn complete(format: Format, out: &mut Vec<u8>, start: usize, part: GroupPart) {
    debug_assert!(
        part.index < part.len,
        "part {} of a group of {}",
        part.index,
        part.len
    );
    debug_assert!(
        start < out.len(),
        "a frame at byte {start} of {} must have a body",
        out.len()
    );
    match format {
        Format::Jsonl => jsonl::seal(out, start, part),
        Format::Binary => binary::seal(out, start, part),
    }
}

/// Decodes the frame at the start of `bytes`, with every check: CRC, field order, types, limits, and the id against `created_at`.
/// Only the CRC checks the inside of the payload.
///
/// A part of a payload is never accepted as a frame. Therefore a search after damage must use this function.
pub fn decode<'a, 'e>(
    encoding: impl Into<Encoding<'e>>,
    bytes: &'a [u8],
) -> Result<Frame<'a>, FrameError> {
    let Encoding { format, refs } = encoding.into();
    match format {
        Format::Jsonl => jsonl::decode(refs, bytes),
        Format::Binary => binary::decode(refs, bytes),
    }
}

/// Decodes a frame whose start is known, because the frame follows another frame or a header. Unlike [`decode`], does not check
/// that the payload is one JSON value; only a search for a frame's start needs that check.
pub fn decode_known<'a, 'e>(
    encoding: impl Into<Encoding<'e>>,
    bytes: &'a [u8],
) -> Result<Frame<'a>, FrameError> {
    let Encoding { format, refs } = encoding.into();
    match format {
        Format::Jsonl => jsonl::decode_known(refs, bytes),
        Format::Binary => binary::decode(refs, bytes),
    }
}

/// Checks the CRC of the frame at the start of `bytes` and reads its envelope. The caller must know that a frame starts there.
pub fn envelope(format: Format, bytes: &[u8]) -> Result<Envelope<'_>, FrameError> {
    match format {
        Format::Jsonl => jsonl::envelope(bytes),
        Format::Binary => binary::envelope(bytes),
    }
}

/// Returns the length of the frame at the start of `bytes`, read from its newline or length field without checks. Used to split
/// bytes for parallel work.
pub fn extent(format: Format, bytes: &[u8]) -> Result<usize, FrameError> {
    match format {
        Format::Jsonl => jsonl::extent(bytes),
        Format::Binary => binary::extent(bytes),
    }
}

/// Returns the next offset at or after `from` at which a frame could start. A search after damage that uses this function finds
/// every valid frame.
pub fn next_candidate(format: Format, bytes: &[u8], from: usize) -> Option<usize> {
    let opening = match format {
        Format::Jsonl => jsonl::OPENING,
        Format::Binary => binary::MAGIC,
    };
    let at = memchr::memmem::find(bytes.get(from..)?, opening)?;
    Some(from + at)
}

/// Returns the readable frames at or after `from`, each with its start. Used by the search after damage.
pub(crate) fn readable<'a>(
    encoding: Encoding<'a>,
    bytes: &'a [u8],
    from: usize,
) -> impl Iterator<Item = (usize, Frame<'a>)> {
    let mut at = from;
    std::iter::from_fn(move || {
        while let Some(start) = next_candidate(encoding.format, bytes, at) {
            match decode(encoding, bytes.get(start..)?) {
                Ok(frame) => {
                    at = start + frame.len;
                    return Some((start, frame));
                }
                Err(_) => at = start + 1,
            }
        }
        None
    })
}

/// Appends the public form of the event, as `replay --json` and `export` show it: one line of JSON without framing or newline.
/// The line is the same for logs in the formats `jsonl` and `binary`.
pub fn public_json(event: &Event<'_>, out: &mut Vec<u8>) {
    public_json_of(&UNDECLARED_NAMES, event, out);
}

/// Appends the public form of an event of a log that declares the refs `names`: see [`public_json`].
pub fn public_json_of(names: &RefNames, event: &Event<'_>, out: &mut Vec<u8>) {
    jsonl::write_body(names, event, out);
    out.push(b'}');
}

/// Returns the number of bytes that [`public_json`] appends. The limits of events and groups count these bytes.
pub fn canonical_len(event: &Event<'_>) -> usize {
    canonical_len_of(&UNDECLARED_NAMES, event)
}

/// Returns the number of bytes that [`public_json_of`] appends.
pub fn canonical_len_of(names: &RefNames, event: &Event<'_>) -> usize {
    jsonl::body_len(names, event) + 1
}

/// Checks that a payload begins and ends like a JSON value.
fn check_payload_ends(payload: &[u8]) -> Result<(), FrameError> {
    let ends = (payload.first(), payload.last());
    let plausible = match ends {
        (Some(b'{'), Some(last)) => *last == b'}',
        (Some(b'['), Some(last)) => *last == b']',
        (Some(b'"'), Some(last)) => *last == b'"' && payload.len() > 1,
        (Some(b'-' | b'0'..=b'9'), Some(last)) => last.is_ascii_digit(),
        _ => matches!(payload, b"true" | b"false" | b"null"),
    };
    if plausible {
        Ok(())
    } else {
        Err(FrameError::Damaged("the payload is not one JSON value"))
    }
}
