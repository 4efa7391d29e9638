//! Events that are in no run.

use crate::derived::Anchor;
use crate::prelude::*;
use crate::reader::Reader;

/// Events that are in no run: their places, and the anchor of a run over them.
#[derive(Debug, Clone, Default)]
pub struct Tail {
    /// Places of the events, in order.
    pub places: Vec<Place>,
    /// The last event; `None` if there are no events.
    pub last: Option<Anchor>,
    /// Size of the events in the log, in bytes.
    pub bytes: u64,
}

impl Tail {
    /// Adds the next event.
    pub fn push(&mut self, event: &Event<'_>, place: Place, crc: u32) {
        self.places.push(place);
        self.bytes += u64::from(place.len);
        self.last = Some(Anchor {
            seq: event.seq,
            id: event.id,
            place,
            crc,
        });
    }
}

/// Returns true if the reader's log has the event of an anchor. Then rows up to that event belong to this log.
pub fn holds(reader: &Reader, anchor: &Anchor) -> Result<bool> {
    let frame = reader.frame_at(anchor.place)?;
    Ok(frame.is_some_and(|(event, crc)| {
        event.seq == anchor.seq && event.id == anchor.id && crc == anchor.crc
    }))
}
