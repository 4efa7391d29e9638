//! Reads the end of a segment as evidence after a crash: complete groups, then perhaps a broken group.

use crate::codec::{self, Encoding, Frame, FrameError};
use crate::prelude::*;
use crate::sequence::follows;

/// A complete group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// Offset after the group's last frame.
    pub end: u64,
    /// Seq of the group's last event.
    pub last_seq: u64,
    /// Id of the group's last event.
    pub last_id: EventId,
}

/// A broken group after the complete groups.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    /// Offset of the start of the broken group, at which to cut.
    pub start: u64,
    /// Offset of the first byte that is no frame.
    pub offset: u64,
    /// Seq of the expected event.
    pub seq: u64,
    /// Description of the damage.
    pub why: String,
    /// Seq of a valid event of a later group, if any.
    pub later: Option<u64>,
}

/// The tail of a segment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tail {
    /// The complete groups, in order.
    pub groups: Vec<Group>,
    /// The broken group after the complete groups, if any.
    pub broken: Option<Broken>,
}

/// Reads `bytes`, which start at `offset` of their segment and follow the event `last`. Calls `each` with every frame of every
/// complete group.
pub fn read_tail<'a>(
    encoding: Encoding<'_>,
    bytes: &'a [u8],
    offset: u64,
    last: LastEvent,
    mut each: impl FnMut(Place, &Frame<'a>),
) -> Tail {
    let mut tail = Tail::default();
    let (mut at, mut last) = (0, last);
    while at < bytes.len() {
        match read_group(encoding, bytes, at, last) {
            Ok(frames) => {
                for (start, frame) in &frames {
                    // The place has the offset in the segment. The caller sets the segment's number.
                    each(
                        Place {
                            segment: 0,
                            offset: offset + *start as u64,
                            len: frame.len as u32,
                        },
                        frame,
                    );
                }
                let Some((start, frame)) = frames.last() else {
                    break;
                };
                debug_assert!(frame.len > 0, "the frame at byte {start} must have bytes");
                at = start + frame.len;
                last = LastEvent::from_event(&frame.event);
                tail.groups.push(Group {
                    end: offset + at as u64,
                    last_seq: frame.event.seq,
                    last_id: frame.event.id,
                });
            }
            Err(stop) => {
                tail.broken = Some(Broken {
                    start: offset + at as u64,
                    offset: offset + stop.at as u64,
                    seq: stop.seq,
                    why: stop.why,
                    later: later_event(encoding, bytes, stop.at, last.next()),
                });
                break;
            }
        }
    }
    tail
}

struct Unreadable {
    at: usize,
    seq: u64,
    why: String,
}

/// Reads the frames of the group at `at`, with their starts; fails unless all are valid.
fn read_group<'a>(
    encoding: Encoding<'_>,
    bytes: &'a [u8],
    at: usize,
    last: LastEvent,
) -> Result<Vec<(usize, Frame<'a>)>, Unreadable> {
    let mut frames: Vec<(usize, Frame<'a>)> = Vec::new();
    let (mut at, mut last) = (at, last);
    loop {
        let stop = |why: String| Unreadable {
            at,
            seq: last.next(),
            why,
        };
        let frame = codec::decode(encoding, bytes.get(at..).unwrap_or_default())
            .map_err(|error: FrameError| stop(error.to_string()))?;
        let first_len = frames
            .first()
            .map_or(frame.group.len, |(_, first)| first.group.len);
        follows(last, &frame, frames.len() as u32, first_len).map_err(&stop)?;
        last = LastEvent::from_event(&frame.event);
        let (len, done) = (frame.len, frame.group.index + 1 == frame.group.len);
        frames.push((at, frame));
        at += len;
        if done {
            return Ok(frames);
        }
    }
}

/// Returns the seq of a valid event after `from` that is not part of the group that starts with `first_seq`.
fn later_event(encoding: Encoding<'_>, bytes: &[u8], from: usize, first_seq: u64) -> Option<u64> {
    codec::readable(encoding, bytes, from)
        .find(|(_, frame)| {
            frame.event.seq.checked_sub(u64::from(frame.group.index)) != Some(first_seq)
        })
        .map(|(_, frame)| frame.event.seq)
}
