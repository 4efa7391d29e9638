//! From events to bytes and back: `jsonl` and `binary` behind one set of functions.
//!
//! `docs/format.md` is the byte-level description; the two sub-modules implement it. Everything above
//! works on the values below and never asks which format it is dealing with.

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

/// How a log's events are written: the format, and the names of the refs.
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
    /// The payload as stored, not looked into: it may not be UTF-8.
    pub payload: &'a [u8],
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

/// The part of an event that was written alone.
const ALONE: GroupPart = GroupPart { index: 0, len: 1 };

/// Writes the frames of one group at the end of `out`; `out` then has the bytes of one write.
/// Returns the length of each frame.
///
/// The events' kinds, actors and refs must be identifiers within the limits, their payloads canonical
/// JSON within the limits, and their `created_at` the time of their ids: [`decode`] refuses anything else.
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

/// The bytes that [`encode_group`] appends for events whose [`canonical_len`]s add up to `canonical`.
pub fn group_len(format: Format, events: &[Event<'_>], canonical: usize) -> usize {
    match format {
        Format::Jsonl => jsonl::group_len(events.len(), canonical),
        Format::Binary => events.iter().map(binary::frame_len).sum(),
    }
}

/// Appends what of an event's frame does not depend on its group, for [`seal`] to complete once the group
/// is known. So an event can be encoded where it is made, and framed later by the writer.
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

/// Appends the frame of a `body` that [`encode_body`] wrote, now that its part is known; returns its length.
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

/// Decodes the frame at the start of `bytes`, every check included: CRC, field order, types, limits, id against `created_at`.
/// Whether the payload is JSON throughout is trusted as far as the CRC.
///
/// No part of a payload is ever taken for a frame, so this is what a search behind damage must ask.
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

/// The same for a frame whose start is known, since it follows another one or a header: whether the payload is one JSON
/// value, which tells a frame from a part of a payload, is not looked at.
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

/// Checks the CRC of the frame at the start of `bytes` and reads its envelope. For frames whose start is known.
pub fn envelope(format: Format, bytes: &[u8]) -> Result<Envelope<'_>, FrameError> {
    match format {
        Format::Jsonl => jsonl::envelope(bytes),
        Format::Binary => binary::envelope(bytes),
    }
}

/// The extent of the frame at the start of `bytes` by its length alone (newline or length field), unchecked; to split work.
pub fn extent(format: Format, bytes: &[u8]) -> Result<usize, FrameError> {
    match format {
        Format::Jsonl => jsonl::extent(bytes),
        Format::Binary => binary::extent(bytes),
    }
}

/// The next offset at or after `from` where a frame could start (for the search behind damage); finds every valid
/// frame's start, whatever stands before it.
pub fn next_candidate(format: Format, bytes: &[u8], from: usize) -> Option<usize> {
    let opening = match format {
        Format::Jsonl => jsonl::OPENING,
        Format::Binary => binary::MAGIC,
    };
    let at = memchr::memmem::find(bytes.get(from..)?, opening)?;
    Some(from + at)
}

/// The frames at or after `from` that can be read, whatever stands between them, each with its start: the search behind damage.
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

/// The event as `replay --json` and `export` show it: one line of JSON without framing and newline, the same
/// whichever format stored it.
pub fn public_json(event: &Event<'_>, out: &mut Vec<u8>) {
    public_json_of(&UNDECLARED_NAMES, event, out);
}

/// Appends the public form of an event of a log that declares these refs: see [`public_json`].
pub fn public_json_of(names: &RefNames, event: &Event<'_>, out: &mut Vec<u8>) {
    jsonl::write_body(names, event, out);
    out.push(b'}');
}

/// The bytes that [`public_json`] appends, which is what the limits of events and groups count.
pub fn canonical_len(event: &Event<'_>) -> usize {
    canonical_len_of(&UNDECLARED_NAMES, event)
}

/// The bytes that [`public_json_of`] appends.
pub fn canonical_len_of(names: &RefNames, event: &Event<'_>) -> usize {
    jsonl::body_len(names, event) + 1
}

/// A payload must begin and end like a JSON value.
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
