//! The binary format: length and checksum, then a body of little-endian fields.
//!
//! The magic holds U+001E, a byte that occurs in no stored string and in no JSON text. So only the numbers of a body can contain
//! the magic by chance.

use super::{Envelope, Frame, FrameError, GroupPart};
use crate::event::Event;
use crate::event_id::EventId;
use crate::identifier::{is_identifier, is_kind};
use crate::json::scan;
use crate::limits::{EVENT_BYTES_MAX, IDENTIFIER_BYTES_MAX};
use crate::refs::{REFS_MAX, Ref, RefNames, Refs};
use simdutf8::basic::from_utf8;
use std::borrow::Cow;

/// Start of every frame.
pub(super) const MAGIC: &[u8; 4] = b"\x1ETLE";
/// Magic, body length, checksum.
const HEAD_BYTES: usize = 12;
/// Number of bytes that the fixed-size fields at the start of a body take.
const FIXED_BYTES: usize = 46;
/// Offset of the group's fields, from the start of the frame.
const GROUP_AT: usize = HEAD_BYTES + 32;
/// Largest length of a body. A body is always shorter than the same event in canonical JSON.
const BODY_BYTES_MAX: usize = EVENT_BYTES_MAX;

const FOREIGN: u16 = 1;
const CAUSE: u16 = 1 << 8;
const KNOWN_FLAGS: u16 = (1 << 9) - 1;
/// Number of refs before `cause`; only `key` comes after `cause`.
const BEFORE_CAUSE: usize = REFS_MAX;

const NOT_UTF8: FrameError = FrameError::Damaged("a text is not UTF-8");

fn ref_flag(kind: usize) -> u16 {
    2 << kind
}

/// Appends an event's frame without its length, checksum and group.
pub(super) fn write_body(event: &Event<'_>, out: &mut Vec<u8>) {
    out.reserve(event.payload.len() + 256);
    out.extend_from_slice(MAGIC);
    out.extend_from_slice(&[0; HEAD_BYTES - MAGIC.len()]);
    let mut flags = if event.foreign { FOREIGN } else { 0 };
    for (kind, name) in event.refs.names.iter().enumerate() {
        flags |= if name.is_some() { ref_flag(kind) } else { 0 };
    }
    flags |= if event.refs.cause.is_some() { CAUSE } else { 0 };
    let mut fixed = [0; FIXED_BYTES];
    fixed[..8].copy_from_slice(&event.seq.to_le_bytes());
    fixed[8..24].copy_from_slice(&event.id.bytes());
    fixed[24..32].copy_from_slice(&event.created_at.micros().to_le_bytes());
    fixed[40..44].copy_from_slice(&event.schema_version.to_le_bytes());
    fixed[44..].copy_from_slice(&flags.to_le_bytes());
    out.extend_from_slice(&fixed);
    write_short(&event.kind, out);
    write_short(&event.actor, out);
    let (before_cause, behind_it) = event.refs.names.split_at(BEFORE_CAUSE);
    before_cause
        .iter()
        .flatten()
        .for_each(|name| write_short(name, out));
    if let Some(cause) = event.refs.cause {
        out.extend_from_slice(&cause.bytes());
    }
    behind_it
        .iter()
        .flatten()
        .for_each(|name| write_short(name, out));
    out.extend_from_slice(&(event.payload.len() as u32).to_le_bytes());
    out.extend_from_slice(event.payload.as_bytes());
}

/// Returns the length of an event's frame in bytes.
pub(super) fn frame_len(event: &Event<'_>) -> usize {
    let names = event.refs.names.iter().flatten();
    let shorts: usize = names.map(|name| 1 + name.len()).sum();
    let cause = event.refs.cause.map_or(0, |_| 16);
    let texts = 2 + event.kind.len() + event.actor.len() + shorts + cause;
    HEAD_BYTES + FIXED_BYTES + texts + 4 + event.payload.len()
}

/// Appends one byte of length and a text, which the caller has checked to be an identifier.
pub(super) fn write_short(text: &str, out: &mut Vec<u8>) {
    debug_assert!(
        u8::try_from(text.len()).is_ok(),
        "{text:?} is too long for an identifier"
    );
    out.push(text.len() as u8);
    out.extend_from_slice(text.as_bytes());
}

/// Completes the frame that [`write_body`] wrote at `start` of `out`.
pub(super) fn seal(out: &mut [u8], start: usize, group: GroupPart) {
    let Some(frame) = out.get_mut(start..) else {
        return;
    };
    if let Some(part) = frame.get_mut(GROUP_AT..GROUP_AT + 8) {
        part[..4].copy_from_slice(&group.index.to_le_bytes());
        part[4..].copy_from_slice(&group.len.to_le_bytes());
    }
    let Some((head, body)) = frame.split_first_chunk_mut::<HEAD_BYTES>() else {
        return;
    };
    let len = (body.len() as u32).to_le_bytes();
    head[4..8].copy_from_slice(&len);
    head[8..].copy_from_slice(&checksum(&[&len, body]).to_le_bytes());
}

pub(super) fn checksum(parts: &[&[u8]]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    parts.iter().for_each(|part| hasher.update(part));
    hasher.finalize()
}

pub(super) fn extent(bytes: &[u8]) -> Result<usize, FrameError> {
    if bytes.first_chunk() != Some(MAGIC) {
        return Err(if MAGIC.starts_with(bytes) {
            FrameError::Incomplete
        } else {
            FrameError::Damaged("the frame has a wrong start")
        });
    }
    let Some([_, _, _, _, length @ ..]) = bytes.first_chunk::<8>() else {
        return Err(FrameError::Incomplete);
    };
    let len = u32::from_le_bytes(*length) as usize;
    if len > BODY_BYTES_MAX {
        return Err(FrameError::Damaged("the frame is too long"));
    }
    if bytes.len() < HEAD_BYTES + len {
        return Err(FrameError::Incomplete);
    }
    Ok(HEAD_BYTES + len)
}

/// Checks the checksum of a frame. Returns the body, the checksum and the length of the frame.
fn body(bytes: &[u8]) -> Result<(Fields<'_>, u32, usize), FrameError> {
    let len = extent(bytes)?;
    let split = bytes
        .get(..len)
        .and_then(|frame| frame.split_first_chunk::<HEAD_BYTES>());
    let Some((head, body)) = split else {
        return Err(FrameError::Incomplete);
    };
    let [_, _, _, _, length @ .., c0, c1, c2, c3] = head;
    let crc = u32::from_le_bytes([*c0, *c1, *c2, *c3]);
    if checksum(&[length, body]) != crc {
        return Err(FrameError::Damaged("the checksum does not match"));
    }
    Ok((Fields(body), crc, len))
}

/// The fields of fixed size at the start of a body.
struct Fixed {
    seq: u64,
    id: EventId,
    created_at: i64,
    group: GroupPart,
    schema_version: u32,
    flags: u16,
}

pub(super) fn envelope(bytes: &[u8]) -> Result<Envelope<'_>, FrameError> {
    let (mut body, _, len) = body(bytes)?;
    let fixed = body.fixed()?;
    let kind = body.names(1)?.text()?;
    let names = 1 + (fixed.flags & (CAUSE - 2)).count_ones();
    // `cause` comes before `key`, but has no length byte. So `cause` is skipped.
    let has_key = fixed.flags & ref_flag(BEFORE_CAUSE) != 0;
    for _ in u32::from(has_key)..names {
        body.skip_short()?;
    }
    if fixed.flags & CAUSE != 0 {
        body.array::<16>()?;
    }
    if has_key {
        body.skip_short()?;
    }
    let payload = body.payload()?;
    Ok(Envelope {
        seq: fixed.seq,
        id: fixed.id,
        kind,
        payload,
        group: fixed.group,
        len,
    })
}

pub(super) fn decode<'a>(declared: &RefNames, bytes: &'a [u8]) -> Result<Frame<'a>, FrameError> {
    let (mut body, crc, len) = body(bytes)?;
    let fixed = body.fixed()?;
    if fixed.created_at != fixed.id.created_at().micros() {
        return Err(FrameError::Damaged("created_at is not the time of the id"));
    }
    let before_cause = fixed.flags & (ref_flag(BEFORE_CAUSE) - 2);
    if before_cause >= ref_flag(declared.count()) {
        return Err(FrameError::Damaged(
            "a flag is set for a ref that the log does not declare",
        ));
    }
    let mut names = body.names(2 + before_cause.count_ones())?;
    let kind = names.text()?;
    if !is_kind(kind) {
        return Err(FrameError::Damaged("kind is not a snake_case name"));
    }
    let actor = Cow::Borrowed(names.identifier()?);
    let mut refs = Refs::default();
    for (kind, name) in refs.names.iter_mut().enumerate() {
        if before_cause & ref_flag(kind) != 0 {
            *name = Some(Cow::Borrowed(names.identifier()?));
        }
    }
    if fixed.flags & CAUSE != 0 {
        refs.cause = Some(body.event_id()?);
    }
    if fixed.flags & ref_flag(BEFORE_CAUSE) != 0 {
        refs.set(Ref::KEY, body.identifier()?);
    }
    let payload = from_utf8(body.payload()?).map_err(|_| NOT_UTF8)?;
    let event = Event {
        seq: fixed.seq,
        id: fixed.id,
        created_at: fixed.id.created_at(),
        kind: Cow::Borrowed(kind),
        actor,
        refs,
        schema_version: fixed.schema_version,
        foreign: fixed.flags & FOREIGN != 0,
        payload: Cow::Borrowed(payload),
    };
    Ok(Frame {
        event,
        group: fixed.group,
        len,
        crc,
    })
}

/// The unread rest of a frame's body.
pub(super) struct Fields<'a>(pub(super) &'a [u8]);

impl<'a> Fields<'a> {
    #[inline]
    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], FrameError> {
        let split = self.0.split_first_chunk();
        let (taken, rest) = split.ok_or(FrameError::Damaged("a field reaches past the frame"))?;
        self.0 = rest;
        Ok(*taken)
    }
    #[inline]
    pub(super) fn u8(&mut self) -> Result<u8, FrameError> {
        self.array().map(u8::from_le_bytes)
    }
    #[inline]
    pub(super) fn u32(&mut self) -> Result<u32, FrameError> {
        self.array().map(u32::from_le_bytes)
    }
    #[inline]
    pub(super) fn u64(&mut self) -> Result<u64, FrameError> {
        self.array().map(u64::from_le_bytes)
    }
    #[inline]
    fn take(&mut self, len: usize) -> Result<&'a [u8], FrameError> {
        let split = self.0.split_at_checked(len);
        let (taken, rest) = split.ok_or(FrameError::Damaged("a field reaches past the frame"))?;
        self.0 = rest;
        Ok(taken)
    }
    #[inline]
    fn skip_short(&mut self) -> Result<(), FrameError> {
        let len = self.u8()?;
        self.take(len.into()).map(drop)
    }
    /// Reads `count` short texts.
    #[inline]
    fn names(&mut self, count: u32) -> Result<Names<'a>, FrameError> {
        let from = self.0;
        for _ in 0..count {
            self.skip_short()?;
        }
        let bytes = from.get(..from.len() - self.0.len()).unwrap_or_default();
        Ok(Names {
            bytes,
            text: from_utf8(bytes).ok(),
            at: 0,
        })
    }
    pub(super) fn identifier(&mut self) -> Result<&'a str, FrameError> {
        self.names(1)?.identifier()
    }
    #[inline]
    fn event_id(&mut self) -> Result<EventId, FrameError> {
        EventId::from_bytes(self.array()?).ok_or(FrameError::Damaged(
            "an id is not a UUIDv7 of a whole microsecond",
        ))
    }
    #[inline(always)]
    fn fixed(&mut self) -> Result<Fixed, FrameError> {
        // Take all fixed fields at once, so that one check of the length is enough.
        let mut fields = Fields(self.take(FIXED_BYTES)?);
        let fixed = Fixed {
            seq: fields.u64()?,
            id: fields.event_id()?,
            created_at: fields.array().map(i64::from_le_bytes)?,
            group: GroupPart {
                index: fields.u32()?,
                len: fields.u32()?,
            },
            schema_version: fields.u32()?,
            flags: fields.array().map(u16::from_le_bytes)?,
        };
        if fixed.seq == 0 {
            return Err(FrameError::Damaged("seq is 0"));
        }
        if fixed.group.index >= fixed.group.len {
            return Err(FrameError::Damaged(
                "group is not a valid position in a group",
            ));
        }
        if fixed.flags & !KNOWN_FLAGS != 0 {
            return Err(FrameError::Damaged("an unknown flag is set"));
        }
        Ok(fixed)
    }
    /// Returns the payload, the last part of the body.
    fn payload(&mut self) -> Result<&'a [u8], FrameError> {
        let len = self.u32()? as usize;
        let payload = self.take(len)?;
        if !self.0.is_empty() {
            return Err(FrameError::Damaged(
                "there are unexpected bytes after the payload",
            ));
        }
        super::check_payload_ends(payload)?;
        Ok(payload)
    }
}

/// Short texts; a byte before each text holds its length. A length below 128 is an ASCII byte, so all texts and lengths
/// together are nearly always valid UTF-8, and one check is enough. If that check fails, each text is checked separately.
struct Names<'a> {
    bytes: &'a [u8],
    text: Option<&'a str>,
    at: usize,
}

impl<'a> Names<'a> {
    #[inline]
    fn text(&mut self) -> Result<&'a str, FrameError> {
        let from = self.at + 1;
        let len = self.bytes.get(self.at).copied().unwrap_or_default();
        self.at = from + usize::from(len);
        let text = match self.text {
            Some(text) => text.get(from..self.at),
            None => self
                .bytes
                .get(from..self.at)
                .and_then(|bytes| std::str::from_utf8(bytes).ok()),
        };
        text.ok_or(NOT_UTF8)
    }
    #[inline]
    fn identifier(&mut self) -> Result<&'a str, FrameError> {
        // The slice extends beyond the name, because whole machine words are cheaper to check than the last bytes of a name.
        let from_here = self.bytes.get(self.at + 1..).unwrap_or_default();
        let text = self.text()?;
        let usual = scan::printable_prefix(from_here) >= text.len();
        if usual && (1..=IDENTIFIER_BYTES_MAX).contains(&text.len()) || is_identifier(text) {
            Ok(text)
        } else {
            Err(FrameError::Damaged(
                "a name is empty, too long or has control characters",
            ))
        }
    }
}
