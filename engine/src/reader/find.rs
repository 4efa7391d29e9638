//! Finding events without an index.

use super::{Reader, SPAN_BYTES, Spans};
use crate::codec::{self, SegmentHeader};
use crate::error::Result;
use crate::place::Place;
use crate::segment::SegmentName;
use crate::timestamp::Timestamp;

impl Reader {
    /// The place of the event with that seq, found without an index: by the segments' headers, then a walk over one segment.
    ///
    /// # Errors
    /// `Corrupt`, I/O.
    pub fn find_seq(&self, seq: u64) -> Result<Option<Place>> {
        self.find(
            |header, _| header.first_seq <= seq,
            |envelope| envelope.seq >= seq,
        )
    }

    /// The place of the first event at or after `time`, found without an index.
    ///
    /// # Errors
    /// `Corrupt`, I/O.
    pub fn find_time(&self, time: Timestamp) -> Result<Option<Place>> {
        self.find(
            |_, name| name.day <= time.day(),
            |envelope| envelope.id.created_at() >= time,
        )
    }

    /// Bisects to the last segment that `starts_before`, and walks from there to the first event that is `reached`.
    fn find(
        &self,
        starts_before: impl Fn(&SegmentHeader, &SegmentName) -> bool,
        reached: impl Fn(&codec::Envelope<'_>) -> bool,
    ) -> Result<Option<Place>> {
        let (mut low, mut high) = (1, self.head().segment);
        while low < high {
            let middle = low + (high - low).div_ceil(2);
            let file = self.name(middle)?;
            let name = SegmentName::parse(&file, self.inner.identity.format);
            let before = match name {
                Some(name) => starts_before(&self.header(middle)?, &name),
                None => false,
            };
            if before {
                low = middle
            } else {
                high = middle - 1
            }
        }
        let mut spans = Spans {
            segment: low.max(1),
            ..self.spans(None, SPAN_BYTES)
        };
        for span in &mut spans {
            let span = span?;
            let mut at = 0;
            while let Some(rest) = span.content().get(at..).filter(|rest| !rest.is_empty()) {
                let envelope = codec::envelope(span.format, rest)
                    .map_err(|error| span.corrupt(at, error.to_string()))?;
                if reached(&envelope) {
                    let (offset, len) = (span.offset + at as u64, envelope.len as u32);
                    return Ok(Some(Place {
                        segment: span.segment,
                        offset,
                        len,
                    }));
                }
                at += envelope.len;
            }
        }
        Ok(None)
    }
}
