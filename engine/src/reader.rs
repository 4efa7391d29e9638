//! Reading: events in order, one by place, or chunks for parallel workers.

use crate::codec::Frame;
use crate::error::Result;
use crate::event::Event;
use crate::head::Head;
use crate::place::Place;
use crate::storage::Bytes;

/// Reads a log up to the head that it was made with. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Reader {}

/// Whole frames of one segment, to be decoded anywhere.
#[derive(Clone, Debug)]
pub struct Span {
    /// The segment's number.
    pub segment: u32,
    /// Where `bytes[range]` starts in the segment's file.
    pub offset: u64,
    /// The bytes that hold the span.
    pub bytes: Bytes,
    /// The span's part of `bytes`: whole frames.
    pub range: std::ops::Range<usize>,
}

/// One event with its place and its frame's CRC.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Located<'a> {
    /// The frame.
    pub frame: Frame<'a>,
    /// Its place.
    pub place: Place,
}

impl Span {
    /// Decodes every frame of the span; checks CRCs, and that seqs and ids increase by the rule within the span.
    ///
    /// # Errors
    /// `Corrupt` with place and seq.
    pub fn decode(&self) -> Result<Vec<Located<'_>>> {
        todo!()
    }
}

impl Reader {
    /// The end of what it reads.
    pub fn head(&self) -> &Head {
        todo!()
    }
    /// Reads and checks the event at a place.
    ///
    /// # Errors
    /// `Corrupt`, I/O.
    pub fn at(&self, place: Place) -> Result<Event<'static>> {
        let _ = place;
        todo!()
    }
    /// The frame at a place with its CRC; `None` where no valid frame of that length stands there.
    ///
    /// # Errors
    /// I/O.
    pub fn frame_at(&self, place: Place) -> Result<Option<(Event<'static>, u32)>> {
        let _ = place;
        todo!()
    }
    /// The spans behind `after` (from the first event if `None`) up to the head, each at most about `bytes` long, in order.
    pub fn spans(
        &self,
        after: Option<Place>,
        bytes: usize,
    ) -> impl Iterator<Item = Result<Span>> + Send + use<> {
        let _ = (after, bytes);
        std::iter::empty()
    }
    /// Events behind `after` up to the head, in order, fully checked (seq, ids, groups, header chain).
    pub fn events(
        &self,
        after: Option<Place>,
    ) -> impl Iterator<Item = Result<(Place, u32, Event<'static>)>> + Send + use<> {
        let _ = after;
        std::iter::empty()
    }
    /// The place of the first event with `seq` at least `seq`, found by bisection over segments and a scan of one; without an index.
    ///
    /// # Errors
    /// `Corrupt`, I/O.
    pub fn find_seq(&self, seq: u64) -> Result<Option<Place>> {
        let _ = seq;
        todo!()
    }
}
