//! A run of whole frames, and the rule by which frames follow each other.

use crate::codec::{self, Encoding, Frame};
use crate::prelude::*;
use crate::refs::RefNames;
use crate::sequence::follows;

/// Whole frames of one segment, to be decoded anywhere.
#[derive(Clone, Debug)]
pub struct Span {
    /// How they are stored.
    pub format: Format,
    pub(crate) refs: RefNames,
    /// The segment's number.
    pub segment: u32,
    /// The segment's file, for errors.
    pub path: Arc<PathBuf>,
    /// Where `bytes[range]` starts in the segment's file.
    pub offset: u64,
    /// The bytes that hold the span.
    pub bytes: Bytes,
    /// The span's part of `bytes`: whole frames.
    pub range: Range<usize>,
}

/// One frame with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocatedFrame<'a> {
    /// The frame: the event, its part in its group, its CRC.
    pub frame: Frame<'a>,
    /// Its place.
    pub place: Place,
}

impl Span {
    /// Decodes every frame of the span, checking each by itself, as far as [`codec::decode_known`] does; a [`Chain`] checks how
    /// they follow each other.
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

    /// Decodes the frame that starts at that offset of the span.
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

    /// How its frames are written.
    pub fn encoding(&self) -> Encoding<'_> {
        Encoding {
            format: self.format,
            refs: &self.refs,
        }
    }

    /// The span's own bytes.
    pub fn content(&self) -> &[u8] {
        self.bytes.get(self.range.clone()).unwrap_or_default()
    }

    pub(super) fn corrupt(&self, at: usize, why: String) -> Error {
        Error::corrupt(&*self.path, self.offset + at as u64, None, why)
    }
}

/// Checks that frames follow each other: seqs without a gap, ids increasing, groups whole.
#[derive(Debug, Clone)]
pub struct Chain {
    last: LastEvent,
    group: (u32, u32),
}

impl Chain {
    /// Behind the event with that seq and id; `None` at the start of the log.
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

    /// From the middle of a log: the first frame is not checked against the one before.
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

    /// The next frames.
    pub fn link(&mut self, span: &Span, frames: &[LocatedFrame<'_>]) -> Result<()> {
        for LocatedFrame { frame, place } in frames {
            let (index, len) = match self.group {
                (index, len) if index < len => (index, len),
                _ => (0, frame.group.len),
            };
            follows(self.last, frame, index, len)
                .map_err(|why| Error::corrupt(&*span.path, place.offset, self.last.next(), why))?;
            self.last = LastEvent::of(&frame.event);
            self.group = (index + 1, len);
        }
        Ok(())
    }

    /// The seq of the last frame.
    pub fn last_seq(&self) -> u64 {
        self.last.seq
    }
}
