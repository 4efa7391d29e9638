//! Segment headers: log id, segment number, and the digest of the segment before.

use super::FrameError;
use super::binary::{self, Fields};
use super::jsonl::{self, Text};
use crate::identity::Format;
use crate::uuid;

/// Start of a `jsonl` segment, up to its version.
const JSONL_OPENING: &str = "{\"teamlog\":{\"format\":\"jsonl\",\"version\":";
/// Start of a binary segment, up to its version.
const BINARY_MAGIC: &[u8; 8] = b"\x1ETLOGSEG";
/// Magic, version, body length, checksum.
const BINARY_HEAD_BYTES: usize = 20;
/// Largest size of a header: enough for three identifiers of 128 bytes, all escaped.
const HEADER_BYTES_MAX: usize = 4096;
/// Description of the previous segment, made when that segment was sealed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Predecessor {
    /// File name of the segment.
    pub name: String,
    /// Length in bytes.
    pub len: u64,
    /// BLAKE3 of the segment's bytes.
    pub digest: [u8; 32],
}

impl Predecessor {
    /// Returns the description of a segment with the given bytes.
    pub(crate) fn for_segment(name: &str, bytes: &[u8]) -> Predecessor {
        Predecessor {
            name: name.to_owned(),
            len: bytes.len() as u64,
            digest: *blake3::hash(bytes).as_bytes(),
        }
    }
}

/// The header at the start of a segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SegmentHeader {
    /// Version of the format.
    pub version: u32,
    /// The log's id.
    pub log: [u8; 16],
    /// The log's name.
    pub name: String,
    /// The segment's number, 1-based.
    pub number: u32,
    /// Seq of the segment's first event.
    pub first_seq: u64,
    /// The previous segment; `None` for the first.
    pub previous: Option<Predecessor>,
}

impl SegmentHeader {
    /// Encodes the header.
    pub fn encode(&self, format: Format) -> Vec<u8> {
        let bytes = match format {
            Format::Jsonl => self.encode_jsonl(),
            Format::Binary => self.encode_binary(),
        };
        debug_assert!(
            bytes.len() <= HEADER_BYTES_MAX,
            "the header of segment {} has {} bytes",
            self.number,
            bytes.len()
        );
        bytes
    }
    /// Decodes the header at the start of `bytes`. Returns the header and its length. Magic and version have the same place in
    /// all versions, so a header of a newer version is recognized and gives `Newer`.
    pub fn decode(format: Format, bytes: &[u8]) -> Result<(SegmentHeader, usize), FrameError> {
        match format {
            Format::Jsonl => decode_jsonl(bytes),
            Format::Binary => decode_binary(bytes),
        }
    }

    fn encode_jsonl(&self) -> Vec<u8> {
        let mut out = JSONL_OPENING.as_bytes().to_vec();
        jsonl::write_number(self.version.into(), &mut out);
        out.extend_from_slice(b",\"log\":\"");
        out.extend_from_slice(&uuid::text(self.log));
        out.extend_from_slice(b"\",\"team\":");
        crate::json::write_string(&self.name, &mut out);
        out.extend_from_slice(b",\"segment\":");
        jsonl::write_number(self.number.into(), &mut out);
        out.extend_from_slice(b",\"first_seq\":");
        jsonl::write_number(self.first_seq, &mut out);
        out.extend_from_slice(b",\"previous\":");
        match &self.previous {
            None => out.extend_from_slice(b"null"),
            Some(previous) => {
                out.extend_from_slice(b"{\"name\":");
                crate::json::write_string(&previous.name, &mut out);
                out.extend_from_slice(b",\"length\":");
                jsonl::write_number(previous.len, &mut out);
                out.extend_from_slice(b",\"blake3\":\"");
                let mut digits = [0; 64];
                uuid::hex(&previous.digest, &mut digits);
                out.extend_from_slice(&digits);
                out.extend_from_slice(b"\"}");
            }
        }
        out.extend_from_slice(&jsonl::tail(crc32fast::hash(&out)));
        out.extend_from_slice(b"}}\n");
        out
    }
    fn encode_binary(&self) -> Vec<u8> {
        let mut body = self.log.to_vec();
        body.extend_from_slice(&self.number.to_le_bytes());
        body.extend_from_slice(&self.first_seq.to_le_bytes());
        binary::write_short(&self.name, &mut body);
        body.push(u8::from(self.previous.is_some()));
        if let Some(previous) = &self.previous {
            binary::write_short(&previous.name, &mut body);
            body.extend_from_slice(&previous.len.to_le_bytes());
            body.extend_from_slice(&previous.digest);
        }
        let (version, len) = (
            self.version.to_le_bytes(),
            (body.len() as u32).to_le_bytes(),
        );
        let crc = binary::checksum(&[&version, &len, &body]).to_le_bytes();
        [&BINARY_MAGIC[..], &version, &len, &crc, &body].concat()
    }
}

/// Refuses impossible numbers and versions.
fn plausible(header: SegmentHeader) -> Result<SegmentHeader, FrameError> {
    if header.number == 0 || header.first_seq == 0 {
        return Err(FrameError::Damaged(
            "segments and events are numbered from 1",
        ));
    }
    Ok(header)
}

fn check_version(format: Format, version: u32) -> Result<(), FrameError> {
    match version {
        0 => Err(FrameError::Damaged("the format version is 0")),
        newer if newer > format.version() => Err(FrameError::Newer(newer)),
        _ => Ok(()),
    }
}

fn decode_jsonl(bytes: &[u8]) -> Result<(SegmentHeader, usize), FrameError> {
    let len = jsonl::line_len(bytes, JSONL_OPENING.as_bytes(), HEADER_BYTES_MAX);
    check_version(Format::Jsonl, jsonl_version(bytes, len.clone())?)?;
    let len = len?;
    let (mut body, _) = jsonl::checked(bytes.get(..len).unwrap_or_default(), b"\"}}\n")?;
    body.literal(JSONL_OPENING)?;
    let version = body.number()?;
    body.literal(",\"log\":\"")?;
    let log = uuid::from_text(body.take(36)?.as_bytes())
        .ok_or(FrameError::Damaged("the log's id is not a UUID"))?;
    body.literal("\",\"team\":\"")?;
    let name = body.identifier()?.into_owned();
    body.literal(",\"segment\":")?;
    let number = body.number()?;
    body.literal(",\"first_seq\":")?;
    let first_seq = body.digits()?;
    body.literal(",\"previous\":")?;
    let previous = if body.optional("null") {
        None
    } else {
        Some(jsonl_predecessor(&mut body)?)
    };
    if !body.0.is_empty() {
        return Err(FrameError::Damaged(
            "there are unexpected bytes after the predecessor",
        ));
    }
    let header = SegmentHeader {
        version,
        log,
        name,
        number,
        first_seq,
        previous,
    };
    plausible(header).map(|header| (header, len))
}

/// Returns the version in a `jsonl` header. Reads only the start of the line, because the rest of a newer version is unknown.
fn jsonl_version(bytes: &[u8], len: Result<usize, FrameError>) -> Result<u32, FrameError> {
    let Some(behind) = bytes.strip_prefix(JSONL_OPENING.as_bytes()) else {
        return Err(len.err().unwrap_or(FrameError::Incomplete));
    };
    let digits = behind
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    if digits == behind.len() {
        return Err(FrameError::Incomplete);
    }
    let digits = behind
        .get(..digits)
        .and_then(|digits| std::str::from_utf8(digits).ok());
    Text(digits.unwrap_or_default()).number()
}

fn jsonl_predecessor(body: &mut Text<'_>) -> Result<Predecessor, FrameError> {
    body.literal("{\"name\":\"")?;
    let name = body.identifier()?.into_owned();
    body.literal(",\"length\":")?;
    let len = body.digits()?;
    body.literal(",\"blake3\":\"")?;
    let digest = uuid::from_hex(body.take(64)?.as_bytes())
        .ok_or(FrameError::Damaged("a digest is not 64 hexadecimal digits"))?;
    body.literal("\"}")?;
    Ok(Predecessor { name, len, digest })
}

fn decode_binary(bytes: &[u8]) -> Result<(SegmentHeader, usize), FrameError> {
    if bytes.first_chunk() != Some(BINARY_MAGIC) {
        return Err(if BINARY_MAGIC.starts_with(bytes) {
            FrameError::Incomplete
        } else {
            FrameError::Damaged("the segment has a wrong start")
        });
    }
    let word = |at: usize| {
        let word = bytes.get(at..).and_then(<[u8]>::first_chunk);
        word.map(|word| u32::from_le_bytes(*word))
            .ok_or(FrameError::Incomplete)
    };
    let version = word(8)?;
    check_version(Format::Binary, version)?;
    let body_len = word(12)?;
    if body_len as usize > HEADER_BYTES_MAX {
        return Err(FrameError::Damaged("the header is too long"));
    }
    let crc = word(16)?;
    let len = BINARY_HEAD_BYTES + body_len as usize;
    let body = bytes
        .get(BINARY_HEAD_BYTES..len)
        .ok_or(FrameError::Incomplete)?;
    if binary::checksum(&[&version.to_le_bytes(), &body_len.to_le_bytes(), body]) != crc {
        return Err(FrameError::Damaged("the checksum does not match"));
    }
    let mut body = Fields(body);
    let header = SegmentHeader {
        version,
        log: body.array()?,
        number: body.u32()?,
        first_seq: body.u64()?,
        name: body.identifier()?.to_owned(),
        previous: match body.u8()? {
            0 => None,
            1 => Some(Predecessor {
                name: body.identifier()?.to_owned(),
                len: body.u64()?,
                digest: body.array()?,
            }),
            _ => return Err(FrameError::Damaged("has_previous is neither 0 nor 1")),
        },
    };
    if !body.0.is_empty() {
        return Err(FrameError::Damaged(
            "there are unexpected bytes after the predecessor",
        ));
    }
    plausible(header).map(|header| (header, len))
}
