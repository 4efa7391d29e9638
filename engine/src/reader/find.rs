//! Finds events without an index, and reads a log up to a point of its past.

use super::{Reader, SPAN_BYTES, Spans};
use crate::codec::{self, Envelope};
use crate::prelude::*;

/// A point of a log's past.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Point {
    /// The point after the event with this seq.
    Seq(u64),
    /// The point after all events up to this time.
    Time(Timestamp),
}

/// An event's place, seq and id.
type EventPlace = (Place, u64, EventId);

impl Reader {
    /// Finds the place of the event `seq` without an index: by the segments' first events, then by a walk over one segment.
    pub fn find_seq(&self, seq: u64) -> Result<Option<Place>> {
        let (_, found) = self.border(|envelope| envelope.seq >= seq)?;
        Ok(found.map(|(place, ..)| place))
    }

    /// Finds the place of the first event at or after `time` without an index.
    pub fn find_time(&self, time: Timestamp) -> Result<Option<Place>> {
        let (_, found) = self.border(|envelope| envelope.id.created_at() >= time)?;
        Ok(found.map(|(place, ..)| place))
    }

    /// Returns a reader of the log up to `point`, which may be within a group; `None` if the log has no event up to `point`. If
    /// `point` is after the head, the reader reads up to the head.
    pub fn upto(&self, point: Point) -> Result<Option<Reader>> {
        let (last, _) = match point {
            Point::Seq(seq) => self.border(|envelope| envelope.seq > seq)?,
            Point::Time(time) => self.border(|envelope| envelope.id.created_at() > time)?,
        };
        let Some((place, last_seq, last_id)) = last else {
            return Ok(None);
        };
        assert!(
            !matches!(point, Point::Seq(seq) if seq < last_seq),
            "{point:?} must not be before the last event of the log up to it, {last_seq}"
        );
        let head = Head {
            generation: self.head().generation,
            segment: place.segment,
            name: self.name(place.segment)?,
            end: place.end(),
            last_seq,
            last_id: Some(last_id),
            ..Head::empty()
        };
        let (storage, dir) = (self.storage(), self.dir());
        Ok(Some(Reader::new(storage, dir, self.identity(), head)))
    }

    /// Returns the last event for which `reached` is false, and the first event for which it is true. `reached` must also be true for all
    /// events after the first such event.
    fn border(
        &self,
        reached: impl Fn(&Envelope<'_>) -> bool,
    ) -> Result<(Option<EventPlace>, Option<EventPlace>)> {
        let (mut low, mut high) = (1, self.head().segment);
        while low < high {
            let middle = low + (high - low).div_ceil(2);
            let below = self.probe((low + 1..=middle).rev(), &reached)?;
            let probed = match below {
                Some(probed) => Some(probed),
                None => self.probe(middle + 1..=high, &reached)?,
            };
            match probed {
                Some((segment, true)) => high = segment - 1,
                Some((segment, false)) => low = segment,
                None => break,
            }
        }
        let (mut before, mut found) = (None, None);
        for segment in low..=self.head().segment {
            let ended = self.walk(segment, SPAN_BYTES, &mut |place, envelope| {
                let at = Some((place, envelope.seq, envelope.id));
                let here = reached(envelope);
                match here {
                    true => found = at,
                    false => before = at,
                }
                !here
            })?;
            if ended {
                break;
            }
        }
        Ok((before, found))
    }

    /// Returns the first segment of `segments` that has an event, and the value of `reached` for the segment's first event. A crash right
    /// after a rotation leaves a segment without events.
    fn probe(
        &self,
        segments: impl Iterator<Item = u32>,
        reached: &impl Fn(&Envelope<'_>) -> bool,
    ) -> Result<Option<(u32, bool)>> {
        for segment in segments {
            let mut first = None;
            self.walk(segment, 1, &mut |_, envelope| {
                first.get_or_insert(reached(envelope));
                false
            })?;
            if let Some(reached) = first {
                return Ok(Some((segment, reached)));
            }
        }
        Ok(None)
    }

    /// Calls `each` with the events of a segment until `each` returns false. Reads about `about` bytes at a time; 1 reads one
    /// event at a time. Returns true if `each` returned false.
    fn walk(
        &self,
        segment: u32,
        about: usize,
        each: &mut dyn FnMut(Place, &Envelope<'_>) -> bool,
    ) -> Result<bool> {
        let mut spans = Spans {
            segment,
            ..self.spans(None, about)
        };
        while let Some(span) = spans.next_within(segment) {
            let span = span?;
            let mut at = 0;
            while let Some(rest) = span.content().get(at..).filter(|rest| !rest.is_empty()) {
                let envelope = codec::envelope(span.format, rest)
                    .map_err(|error| span.corrupt(at, error.to_string()))?;
                let place = Place {
                    segment,
                    offset: span.offset + at as u64,
                    len: envelope.len as u32,
                };
                if !each(place, &envelope) {
                    return Ok(true);
                }
                at += envelope.len;
            }
            if about == 1 {
                break;
            }
        }
        Ok(false)
    }
}
