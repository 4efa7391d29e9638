//! Splits a run of frames into pieces that can be decoded in parallel.

use super::{FrameError, decode, extent, next_candidate};
use crate::identity::Format;

/// Number of false starts of frames that a search skips. After that, the search follows the lengths of the frames from the first frame on.
const CANDIDATES_MAX: usize = 16;

/// Returns the length of a prefix of `bytes` that ends at the end of a frame. The prefix has at least one frame and about `about` bytes, or
/// is all of `bytes` if there are fewer bytes. Frames inside the prefix may be damaged, which only decoding detects.
///
/// # Errors
/// The offset of the first frame whose end cannot be found, and the reason.
pub fn split(format: Format, bytes: &[u8], about: usize) -> Result<usize, (usize, FrameError)> {
    match format {
        Format::Jsonl => split_lines(bytes, about),
        // Search for a frame near `about`. Following the lengths of all frames would load each of them from memory.
        Format::Binary => match frame_behind(bytes, about) {
            Some(at) => Ok(at),
            None => split_frames(bytes, about),
        },
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

/// Returns the start of the first valid frame at or after `about`.
fn frame_behind(bytes: &[u8], about: usize) -> Option<usize> {
    let mut from = about.max(1);
    for _ in 0..CANDIDATES_MAX {
        let at = next_candidate(Format::Binary, bytes, from)?;
        if decode(Format::Binary, bytes.get(at..)?).is_ok() {
            return Some(at);
        }
        from = at + 1;
    }
    None
}

fn split_frames(bytes: &[u8], about: usize) -> Result<usize, (usize, FrameError)> {
    let mut at = 0;
    while at < about.max(1) && at < bytes.len() {
        at += extent(Format::Binary, bytes.get(at..).unwrap_or_default())
            .map_err(|error| (at, error))?;
    }
    Ok(at)
}

/// Returns the CRC in a whole frame, unchecked.
pub(crate) fn stored_crc(format: Format, frame: &[u8]) -> Option<u32> {
    match format {
        Format::Jsonl => {
            let digits = frame.len().checked_sub(b"\"}\n".len() + 8)?;
            let text = std::str::from_utf8(frame.get(digits..digits + 8)?).ok()?;
            u32::from_str_radix(text, 16).ok()
        }
        Format::Binary => Some(u32::from_le_bytes(frame.get(8..12)?.try_into().ok()?)),
    }
}
