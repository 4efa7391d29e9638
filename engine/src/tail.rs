//! Reading the end of a segment as evidence: complete groups, then perhaps something broken.

use crate::codec::{self, Encoding, Frame, FrameError};
use crate::prelude::*;
use crate::sequence::follows;

/// One complete group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// Byte offset behind its last frame.
    pub end: u64,
    /// Seq of its last event.
    pub last_seq: u64,
    /// Id of its last event.
    pub last_id: EventId,
}

/// What is broken behind the complete groups.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    /// Where the broken group starts: the place to cut.
    pub start: u64,
    /// The first byte that could not be read as a frame.
    pub offset: u64,
    /// The event that should stand there.
    pub seq: u64,
    /// What is wrong.
    pub why: String,
    /// Seq of a valid event of another group behind it.
    pub later: Option<u64>,
}

/// The tail of a segment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tail {
    /// Its complete groups, in order.
    pub groups: Vec<Group>,
    /// What follows them, if anything.
    pub broken: Option<Broken>,
}

/// Reads `bytes`, which start at `offset` of their segment, behind the event `last`; `each` is shown every frame of
/// every complete group.
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
                    // Segment numbers are the caller's business; places here count from the segment's start.
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
                last = LastEvent::of(&frame.event);
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

/// The frames of the group that starts at `at`, with their starts; all of them or why not.
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
        last = LastEvent::of(&frame.event);
        let (len, done) = (frame.len, frame.group.index + 1 == frame.group.len);
        frames.push((at, frame));
        at += len;
        if done {
            return Ok(frames);
        }
    }
}

/// The seq of a valid event behind `from` that is not part of the group that starts with event `first_seq`.
fn later_event(encoding: Encoding<'_>, bytes: &[u8], from: usize, first_seq: u64) -> Option<u64> {
    codec::readable(encoding, bytes, from)
        .find(|(_, frame)| {
            frame.event.seq.checked_sub(u64::from(frame.group.index)) != Some(first_seq)
        })
        .map(|(_, frame)| frame.event.seq)
}
