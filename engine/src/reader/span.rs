//! A run of whole frames, and the rule for the order of frames.

use crate::codec::{self, Encoding, Frame};
use crate::prelude::*;
use crate::refs::RefNames;
use crate::sequence::follows;

/// Whole frames of one segment, which any thread may decode.
#[derive(Clone, Debug)]
pub struct Span {
    /// Format of the frames.
    pub format: Format,
    pub(crate) refs: RefNames,
    /// The segment's number.
    pub segment: u32,
    /// The segment's file, for errors.
    pub path: Arc<PathBuf>,
    /// Offset of `bytes[range]` in the segment's file.
    pub offset: u64,
    /// The bytes that hold the span.
    pub bytes: Bytes,
    /// The range of whole frames in `bytes`.
    pub range: Range<usize>,
}

/// One frame with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocatedFrame<'a> {
    /// The frame: the event, its part in its group, its CRC.
    pub frame: Frame<'a>,
    /// Place of the frame.
    pub place: Place,
}

impl Span {
    /// Decodes every frame of the span, with the checks of [`codec::decode_known`]. A [`Chain`] checks the order of the frames.
    pub fn decode(&self) -> Result<Vec<LocatedFrame<'_>>> {
        let len = self.content().len();
        let mut located = Vec::with_capacity(len / 256);
        let mut at = 0;
        while at < len {
            let next = self.located(at)?;
            at += next.frame.len;
            located.push(next);
        }
        Ok(located)
    }

    /// Decodes the frame that starts at the offset `at` of the span.
    #[inline]
    pub(super) fn located(&self, at: usize) -> Result<LocatedFrame<'_>> {
        let rest = self.content().get(at..).unwrap_or_default();
        let frame = codec::decode_known(self.encoding(), rest)
            .map_err(|error| self.corrupt(at, error.to_string()))?;
        let place = Place {
            segment: self.segment,
            offset: self.offset + at as u64,
            len: frame.len as u32,
        };
        Ok(LocatedFrame { frame, place })
    }

    /// Returns the encoding of the span's frames.
    pub(crate) fn encoding(&self) -> Encoding<'_> {
        Encoding {
            format: self.format,
            refs: &self.refs,
        }
    }

    /// Returns the span's own bytes.
    pub fn content(&self) -> &[u8] {
        self.bytes.get(self.range.clone()).unwrap_or_default()
    }

    pub(super) fn corrupt(&self, at: usize, why: String) -> Error {
        Error::corrupt(&*self.path, self.offset + at as u64, None, why)
    }
}

/// Checks the order of frames: seqs without a gap, increasing ids, whole groups.
#[derive(Debug, Clone)]
pub struct Chain {
    last: LastEvent,
    group: (u32, u32),
}

impl Chain {
    /// Starts after the event with the given seq and id; `None` for the start of the log.
    pub fn behind(last: Option<(u64, crate::event_id::EventId)>) -> Chain {
        let last = LastEvent {
            seq: last.map_or(0, |(seq, _)| seq),
            id: last.map(|(_, id)| id),
        };
        Chain {
            last,
            group: (0, 0),
        }
    }

    /// Starts in the middle of a log: the first frame is not compared with an earlier frame.
    pub(super) fn from_frame(frame: &Frame<'_>) -> Chain {
        let last = LastEvent::before(frame.event.seq);
        let len = if frame.group.index == 0 {
            0
        } else {
            frame.group.len
        };
        Chain {
            last,
            group: (frame.group.index, len),
        }
    }

    /// Checks the next frames.
    pub fn link(&mut self, span: &Span, frames: &[LocatedFrame<'_>]) -> Result<()> {
        for LocatedFrame { frame, place } in frames {
            let (index, len) = match self.group {
                (index, len) if index < len => (index, len),
                _ => (0, frame.group.len),
            };
            follows(self.last, frame, index, len)
                .map_err(|why| Error::corrupt(&*span.path, place.offset, self.last.next(), why))?;
            self.last = LastEvent::from_event(&frame.event);
            self.group = (index + 1, len);
        }
        Ok(())
    }

    /// Returns the seq of the last frame.
    pub fn last_seq(&self) -> u64 {
        self.last.seq
    }
}
