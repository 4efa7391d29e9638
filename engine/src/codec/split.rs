//! Cutting a run of frames into pieces that can be decoded apart.

use super::{FrameError, extent};
use crate::identity::Format;

/// Bytes of whole frames at the start of `bytes`, about `about` of them and at least one frame; all of `bytes` where
/// they are fewer.
///
/// # Errors
/// The offset of the first frame whose end cannot be found, and why.
pub fn split(format: Format, bytes: &[u8], about: usize) -> Result<usize, (usize, FrameError)> {
    match format {
        Format::Jsonl => split_lines(bytes, about),
        Format::Binary => split_frames(bytes, about),
    }
}

fn split_lines(bytes: &[u8], about: usize) -> Result<usize, (usize, FrameError)> {
    let from = about.saturating_sub(1).min(bytes.len().saturating_sub(1));
    match bytes
        .get(from..)
        .and_then(|rest| memchr::memchr(b'\n', rest))
    {
        Some(newline) => Ok(from + newline + 1),
        None => Err((
            memchr::memrchr(b'\n', bytes).map_or(0, |newline| newline + 1),
            FrameError::Incomplete,
        )),
    }
}

fn split_frames(bytes: &[u8], about: usize) -> Result<usize, (usize, FrameError)> {
    let mut at = 0;
    while at < about.max(1) && at < bytes.len() {
        at += extent(Format::Binary, bytes.get(at..).unwrap_or_default())
            .map_err(|error| (at, error))?;
    }
    Ok(at)
}

/// The CRC that a whole frame carries, not checked.
pub fn stored_crc(format: Format, frame: &[u8]) -> Option<u32> {
    match format {
        Format::Jsonl => {
            let digits = frame.len().checked_sub(b"\"}\n".len() + 8)?;
            let text = std::str::from_utf8(frame.get(digits..digits + 8)?).ok()?;
            u32::from_str_radix(text, 16).ok()
        }
        Format::Binary => Some(u32::from_le_bytes(frame.get(8..12)?.try_into().ok()?)),
    }
}
