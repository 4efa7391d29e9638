//! What is known of a team: the entries that folds left in the derived store, and over them the events that no run holds
//! yet. The nouns ask it; [`Live`](crate::Live) keeps it up to date.

use crate::common::*;
use crate::tx::{Rows, SeqPage};
use teamlog_engine::internals::derived::{Anchor, Overlay};

/// The state of a team at an event.
///
/// Its questions stand with their nouns (`task/query.rs` and so on). Each answers I/O and `Derived` errors; the times and
/// seqs of a page are bounds that the caller chooses, and none walks over history.
pub struct TeamState {
    pub(crate) overlay: Overlay,
    /// What is committed and in no run.
    pub(crate) tail: Tail,
    /// The last event folded; ahead of the tail while a group is being written.
    pub(crate) folded: u64,
}

/// Events that no run holds yet: their places, and what a run over them would be anchored at.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tail {
    pub places: Vec<Place>,
    pub last: Option<Anchor>,
    /// Bytes of log.
    pub bytes: u64,
}

impl Tail {
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

impl TeamState {
    /// The last event that the state covers; 0 for an empty log.
    pub fn seq(&self) -> u64 {
        self.folded
    }
    pub(crate) fn rows(&self) -> Rows<'_> {
        Rows(self.overlay.view())
    }
    /// The newest `limit` events before `before` that name `value` as their ref of that kind.
    pub fn with_ref(
        &self,
        kind: RefKind,
        value: &str,
        before: Option<u64>,
        limit: usize,
    ) -> Result<SeqPage> {
        let series = key::series(key::POSTINGS + kind as u8, value.as_bytes());
        self.rows().page(&series, before, limit)
    }
    /// Where an event lies; `None` past the state's end.
    pub fn place(&self, seq: u64) -> Result<Option<Place>> {
        let first = |last: Anchor| last.seq + 1 - self.tail.places.len() as u64;
        match self.tail.last.and_then(|last| seq.checked_sub(first(last))) {
            Some(at) => Ok(self.tail.places.get(at as usize).copied()),
            None => Ok(self.overlay.store().place(seq)?),
        }
    }
    /// Reads an event by its seq.
    pub fn event(&self, reader: &Reader, seq: u64) -> Result<Option<Event<'static>>> {
        match self.place(seq)? {
            Some(place) => Ok(Some(reader.at(place)?)),
            None => Ok(None),
        }
    }
}
