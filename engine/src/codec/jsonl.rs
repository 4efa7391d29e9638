//! The `jsonl` format: one event per line, with its fields in a fixed order and spelling, and `crc` last.
//!
//! Reading starts from the right: the newline ends the line, and the checksum has a fixed distance from the newline. Only a line
//! with a valid checksum is parsed. A stored string holds no control character, so a newline always ends a line.

use super::{ALONE, Envelope, Frame, FrameError, GroupPart};
use crate::event::Event;
use crate::event_id::EventId;
use crate::identifier::{is_identifier, is_kind};
use crate::json::{self, scan};
use crate::limits::{EVENT_BYTES_MAX, IDENTIFIER_BYTES_MAX};
use crate::refs::{Ref, RefNames, Refs};
use crate::timestamp::Timestamp;
use crate::uuid;
use simdutf8::basic::from_utf8;
use std::borrow::Cow;
use std::convert::Infallible;

/// Start of every line.
pub(super) const OPENING: &[u8] = b"{\"seq\":";
const GROUP_OPENING: &str = ",\"group\":[";
const CRC_OPENING: &[u8; 8] = b",\"crc\":\"";
/// `,"crc":"` with eight digits, `"}` and the newline.
const TAIL_BYTES: usize = 19;
/// `,"group":[` with two numbers of ten digits, a comma and `]`.
const GROUP_BYTES_MAX: usize = 32;
/// Largest length of a line, so that the search for a newline ends.
const LINE_BYTES_MAX: usize = EVENT_BYTES_MAX + GROUP_BYTES_MAX + TAIL_BYTES;

const CAUSE_OPENING: &str = ",\"cause\":\"";
const KEY_OPENING: &str = ",\"key\":\"";

/// Appends the part of an event's line that does not depend on the group: everything up to the payload, without the closing
/// brace.
pub(super) fn write_body(names: &RefNames, event: &Event<'_>, out: &mut Vec<u8>) {
    out.reserve(event.payload.len() + 320);
    out.extend_from_slice(OPENING);
    write_number(event.seq, out);
    out.extend_from_slice(b",\"id\":\"");
    out.extend_from_slice(&event.id.text());
    out.extend_from_slice(b"\",\"created_at\":\"");
    out.extend_from_slice(&event.created_at.canonical());
    out.extend_from_slice(b"\",\"kind\":");
    json::write_string(&event.kind, out);
    out.extend_from_slice(b",\"actor\":");
    json::write_string(&event.actor, out);
    let Ok(()) = names.each_opening(|place, opening| {
        write_ref(opening, event.refs.names[place].as_deref(), out);
        Ok::<_, Infallible>(())
    });
    if let Some(cause) = event.refs.cause {
        out.extend_from_slice(CAUSE_OPENING.as_bytes());
        out.extend_from_slice(&cause.text());
        out.push(b'"');
    }
    write_ref(KEY_OPENING, event.refs.get(Ref::KEY), out);
    out.extend_from_slice(b",\"schema_version\":");
    write_number(event.schema_version.into(), out);
    if event.foreign {
        out.extend_from_slice(b",\"foreign\":true");
    }
    out.extend_from_slice(b",\"payload\":");
    out.extend_from_slice(event.payload.as_bytes());
}

fn write_ref(opening: &str, value: Option<&str>, out: &mut Vec<u8>) {
    if let Some(value) = value {
        out.extend_from_slice(opening.as_bytes().strip_suffix(b"\"").unwrap_or_default());
        json::write_string(value, out);
    }
}

/// Completes the line that [`write_body`] wrote at `start` of `out`.
pub(super) fn seal(out: &mut Vec<u8>, start: usize, group: GroupPart) {
    if group.len > 1 {
        out.extend_from_slice(GROUP_OPENING.as_bytes());
        write_number(group.index.into(), out);
        out.push(b',');
        write_number(group.len.into(), out);
        out.push(b']');
    }
    let crc = crc32fast::hash(out.get(start..).unwrap_or_default());
    out.extend_from_slice(&tail(crc));
    out.extend_from_slice(b"}\n");
}

/// Returns `,"crc":"`, the digits and the closing quote.
pub(super) fn tail(crc: u32) -> [u8; 17] {
    let mut tail = *b",\"crc\":\"00000000\"";
    let mut digits = [0; 8];
    uuid::hex(&crc.to_be_bytes(), &mut digits);
    tail[8..16].copy_from_slice(&digits);
    tail
}

/// Returns the number of bytes that [`write_body`] appends.
pub(super) fn body_len(names: &RefNames, event: &Event<'_>) -> usize {
    let quoted = |opening: &str, text: &str| opening.len() - 1 + json::string_len(text);
    let mut refs = 0;
    let Ok(()) = names.each_opening(|place, opening| {
        let value = event.refs.names[place].as_deref();
        refs += value.map_or(0, |value| quoted(opening, value));
        Ok::<_, Infallible>(())
    });
    let key = event.refs.get(Ref::KEY);
    let key = key.map_or(0, |key| quoted(KEY_OPENING, key));
    let cause = event.refs.cause.map_or(0, |_| CAUSE_OPENING.len() + 36 + 1);
    let foreign = if event.foreign {
        ",\"foreign\":true".len()
    } else {
        0
    };
    OPENING.len()
        + digits_of(event.seq)
        + ",\"id\":\"\",\"created_at\":\"\"".len()
        + 36
        + 27
        + quoted(",\"kind\":\"", &event.kind)
        + quoted(",\"actor\":\"", &event.actor)
        + refs
        + cause
        + key
        + ",\"schema_version\":".len()
        + digits_of(event.schema_version.into())
        + foreign
        + ",\"payload\":".len()
        + event.payload.len()
}

/// Returns the length of a group's lines in bytes. The group has `count` events; the public forms of the events have
/// `canonical` bytes in total.
pub(super) fn group_len(count: usize, canonical: usize) -> usize {
    // The tail of a line replaces the closing brace of the public form.
    let framed = canonical + count * (TAIL_BYTES - 1);
    if count < 2 {
        return framed;
    }
    let part = |index| GROUP_OPENING.len() + digits_of(index) + ",]".len();
    let parts: usize = (0..count as u64).map(part).sum();
    framed + parts + count * digits_of(count as u64)
}

fn digits_of(number: u64) -> usize {
    number.checked_ilog10().unwrap_or(0) as usize + 1
}

pub(super) fn write_number(mut number: u64, out: &mut Vec<u8>) {
    let mut digits = [0; 20];
    let mut from = digits.len();
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + (number % 10) as u8;
        number /= 10;
        from -= 1;
        if number == 0 {
            break;
        }
    }
    out.extend_from_slice(digits.get(from..).unwrap_or_default());
}

/// A line with a valid checksum.
struct Line<'a> {
    /// The part that the checksum covers.
    body: Text<'a>,
    crc: u32,
    len: usize,
}

pub(super) fn extent(bytes: &[u8]) -> Result<usize, FrameError> {
    line_len(bytes, OPENING, LINE_BYTES_MAX)
}

/// Returns the length, newline included, of the line that begins with `opening` and has at most `len_max` bytes.
pub(super) fn line_len(bytes: &[u8], opening: &[u8], len_max: usize) -> Result<usize, FrameError> {
    if !bytes.starts_with(opening) {
        return Err(if opening.starts_with(bytes) {
            FrameError::Incomplete
        } else {
            FrameError::Damaged("the line has a wrong start")
        });
    }
    let window = bytes.get(..len_max).unwrap_or(bytes);
    match memchr::memchr(b'\n', window) {
        Some(newline) => Ok(newline + 1),
        None if bytes.len() < len_max => Err(FrameError::Incomplete),
        None => Err(FrameError::Damaged("the line is too long")),
    }
}

/// Splits `bytes` at `,"crc":"`, checks the checksum of the part before, and checks that `closing` follows.
pub(super) fn checked<'a>(line: &'a [u8], closing: &[u8]) -> Result<(Text<'a>, u32), FrameError> {
    let damaged = FrameError::Damaged("the line does not end in a checksum");
    let split = line
        .strip_suffix(closing)
        .and_then(|line| line.split_last_chunk::<16>());
    let Some((body, tail)) = split else {
        return Err(damaged);
    };
    let (opening, digits) = tail.split_at(CRC_OPENING.len());
    let crc = uuid::from_hex(digits).map(u32::from_be_bytes);
    let Some(crc) = crc.filter(|_| opening == CRC_OPENING) else {
        return Err(damaged);
    };
    if crc32fast::hash(body) != crc {
        return Err(FrameError::Damaged("the checksum does not match"));
    }
    match from_utf8(body) {
        Ok(body) => Ok((Text(body), crc)),
        Err(_) => Err(FrameError::Damaged("the line is not UTF-8")),
    }
}

fn line(bytes: &[u8]) -> Result<Line<'_>, FrameError> {
    let len = extent(bytes)?;
    let (body, crc) = checked(bytes.get(..len).unwrap_or_default(), b"\"}\n")?;
    Ok(Line { body, crc, len })
}

pub(super) fn envelope(bytes: &[u8]) -> Result<Envelope<'_>, FrameError> {
    let Line { mut body, len, .. } = line(bytes)?;
    body.literal("{\"seq\":")?;
    let seq = body.seq()?;
    body.literal(",\"id\":\"")?;
    let id = body.event_id()?;
    body.literal("\",\"created_at\":\"")?;
    body.take(27)?;
    body.literal("\",\"kind\":\"")?;
    let kind = body.kind()?;
    // No string contains this text, because a quote within a string has a backslash before it.
    let opening = b",\"payload\":";
    let Some(at) = memchr::memmem::find(body.0.as_bytes(), opening) else {
        return Err(FrameError::Damaged("a field is missing or out of order"));
    };
    body.take(at + opening.len())?;
    let (payload, group) = split_group(body.0)?;
    super::check_payload_ends(payload.as_bytes())?;
    Ok(Envelope {
        seq,
        id,
        kind,
        payload: payload.as_bytes(),
        group,
        len,
    })
}

pub(super) fn decode<'a>(names: &RefNames, bytes: &'a [u8]) -> Result<Frame<'a>, FrameError> {
    let frame = decode_known(names, bytes)?;
    // If the frame is inside the payload of another event, the frame's supposed payload ends with the closing bracket of that
    // event.
    let payload = frame.event.payload.as_bytes();
    if scan::value_len(payload) != Some(payload.len()) {
        return Err(FrameError::Damaged("the payload is not one JSON value"));
    }
    Ok(frame)
}

pub(super) fn decode_known<'a>(names: &RefNames, bytes: &'a [u8]) -> Result<Frame<'a>, FrameError> {
    let Line { mut body, crc, len } = line(bytes)?;
    body.literal("{\"seq\":")?;
    let seq = body.seq()?;
    body.literal(",\"id\":\"")?;
    let id = body.event_id()?;
    body.literal("\",\"created_at\":\"")?;
    let created_at = Timestamp::from_canonical(body.take(27)?.as_bytes());
    if created_at != Some(id.created_at()) {
        return Err(FrameError::Damaged("created_at is not the time of the id"));
    }
    body.literal("\",\"kind\":\"")?;
    let kind = body.kind()?;
    if !is_kind(kind) {
        return Err(FrameError::Damaged("kind is not a snake_case name"));
    }
    body.literal(",\"actor\":\"")?;
    let actor = body.identifier()?;
    let refs = body.refs(names)?;
    body.literal(",\"schema_version\":")?;
    let schema_version = body.number()?;
    let foreign = body.optional(",\"foreign\":true");
    body.literal(",\"payload\":")?;
    let (payload, group) = split_group(body.0)?;
    super::check_payload_ends(payload.as_bytes())?;
    let event = Event {
        seq,
        id,
        created_at: id.created_at(),
        kind: Cow::Borrowed(kind),
        actor,
        refs,
        schema_version,
        foreign,
        payload: Cow::Borrowed(payload),
    };
    Ok(Frame {
        event,
        group,
        len,
        crc,
    })
}

/// Cuts `,"group":[index,len]` off the end, if present. A payload cannot end like this, because a JSON value that ends with `]`
/// begins at the matching `[`.
fn split_group(text: &str) -> Result<(&str, GroupPart), FrameError> {
    let Some((payload, index, len)) = group_suffix(text) else {
        return Ok((text, ALONE));
    };
    let damaged = FrameError::Damaged("group is not a valid position in a group of several");
    let (Ok(index), Ok(len)) = (Text(index).whole_number(), Text(len).whole_number()) else {
        return Err(damaged);
    };
    if len < 2 || index >= len {
        return Err(damaged);
    }
    Ok((payload, GroupPart { index, len }))
}

fn group_suffix(text: &str) -> Option<(&str, &str, &str)> {
    let (before, len) = split_digits(text.strip_suffix(']')?)?;
    let (before, index) = split_digits(before.strip_suffix(',')?)?;
    Some((before.strip_suffix(GROUP_OPENING)?, index, len))
}

fn split_digits(text: &str) -> Option<(&str, &str)> {
    text.split_at_checked(
        text.trim_end_matches(|last: char| last.is_ascii_digit())
            .len(),
    )
}

/// The unread rest of a line.
pub(super) struct Text<'a>(pub(super) &'a str);

impl<'a> Text<'a> {
    pub(super) fn literal(&mut self, literal: &str) -> Result<(), FrameError> {
        if self.optional(literal) {
            Ok(())
        } else {
            Err(FrameError::Damaged("a field is missing or out of order"))
        }
    }
    pub(super) fn optional(&mut self, literal: &str) -> bool {
        let rest = self.0.strip_prefix(literal);
        self.0 = rest.unwrap_or(self.0);
        rest.is_some()
    }
    pub(super) fn take(&mut self, len: usize) -> Result<&'a str, FrameError> {
        let Some((taken, rest)) = self.0.split_at_checked(len) else {
            return Err(FrameError::Damaged("a field is cut short"));
        };
        self.0 = rest;
        Ok(taken)
    }
    /// Reads a number without leading zeros.
    pub(super) fn digits(&mut self) -> Result<u64, FrameError> {
        let mut number = 0_u64;
        let mut len = 0;
        for byte in self.0.bytes() {
            let digit = byte.wrapping_sub(b'0');
            if digit > 9 {
                break;
            }
            let next = number
                .checked_mul(10)
                .and_then(|tens| tens.checked_add(digit.into()));
            let Some(next) = next.filter(|_| len == 0 || number > 0) else {
                return Err(FrameError::Damaged(
                    "a number is out of range or has leading zeros",
                ));
            };
            number = next;
            len += 1;
        }
        if len == 0 {
            return Err(FrameError::Damaged("a number is missing"));
        }
        self.take(len)?;
        Ok(number)
    }
    pub(super) fn number(&mut self) -> Result<u32, FrameError> {
        let number = self.digits()?;
        u32::try_from(number)
            .map_err(|_| FrameError::Damaged("a number is out of range or has leading zeros"))
    }
    /// Reads the whole rest as one number.
    fn whole_number(mut self) -> Result<u32, FrameError> {
        let number = self.number()?;
        if self.0.is_empty() {
            Ok(number)
        } else {
            Err(FrameError::Damaged(
                "there are unexpected bytes after a number",
            ))
        }
    }
    fn seq(&mut self) -> Result<u64, FrameError> {
        match self.digits()? {
            0 => Err(FrameError::Damaged("seq is 0")),
            seq => Ok(seq),
        }
    }
    fn event_id(&mut self) -> Result<EventId, FrameError> {
        EventId::from_text(self.take(36)?.as_bytes()).ok_or(FrameError::Damaged(
            "an id is not a UUIDv7 of a whole microsecond",
        ))
    }
    /// Reads a kind, which needs no escapes, and the closing quote.
    fn kind(&mut self) -> Result<&'a str, FrameError> {
        let len = scan::printable_prefix(self.0.as_bytes());
        let kind = self.take(len)?;
        self.literal("\"")?;
        Ok(kind)
    }
    /// Reads an identifier and the closing quote.
    pub(super) fn identifier(&mut self) -> Result<Cow<'a, str>, FrameError> {
        let len = scan::printable_prefix(self.0.as_bytes());
        if (1..=IDENTIFIER_BYTES_MAX).contains(&len) && self.0.as_bytes().get(len) == Some(&b'"') {
            let text = self.take(len)?;
            self.take(1)?;
            return Ok(Cow::Borrowed(text));
        }
        self.unusual_identifier()
    }
    #[cold]
    fn unusual_identifier(&mut self) -> Result<Cow<'a, str>, FrameError> {
        let mut text = Cow::Borrowed("");
        loop {
            text += self.take(scan::plain_prefix(self.0.as_bytes()))?;
            match self.take(1)? {
                "\"" => break,
                "\\" => match self.take(1)? {
                    escaped @ ("\"" | "\\") => text += escaped,
                    _ => {
                        return Err(FrameError::Damaged(
                            "a name has an escape that it does not need",
                        ));
                    }
                },
                _ => return Err(FrameError::Damaged("a name has a control character")),
            }
        }
        if !is_identifier(&text) {
            return Err(FrameError::Damaged(
                "a name is empty, too long or has control characters",
            ));
        }
        Ok(text)
    }
    fn refs(&mut self, names: &RefNames) -> Result<Refs<'a>, FrameError> {
        let mut refs = Refs::default();
        names.each_opening(|place, opening| {
            if self.optional(opening) {
                refs.names[place] = Some(self.identifier()?);
            }
            Ok::<_, FrameError>(())
        })?;
        if self.optional(CAUSE_OPENING) {
            refs.cause = Some(self.event_id()?);
            self.literal("\"")?;
        }
        if self.optional(KEY_OPENING) {
            refs.set(Ref::KEY, self.identifier()?);
        }
        Ok(refs)
    }
}
