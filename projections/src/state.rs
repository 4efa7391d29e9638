//! The state of a team: the rows in the derived store, and the later events folded in memory. The nouns add queries;
//! [`Live`](crate::Live) keeps the state up to date.

use crate::common::*;
use crate::tx::{Rows, SeqPage};
use teamlog_engine::internals::derived::{Anchor, Overlay};
pub(crate) use teamlog_engine::internals::pipeline::Tail;

/// The state of a team as of an event.
///
/// The queries are in the files of the nouns (`task/query.rs` and so on). Each can return I/O and `Derived` errors;
/// callers choose the bounds of a page, and no query scans the history.
pub struct TeamState {
    pub(crate) overlay: Overlay,
    /// Committed events that are in no run.
    pub(crate) tail: Tail,
    /// Last folded event; ahead of the tail while the writer writes a group.
    pub(crate) folded: u64,
}

impl TeamState {
    /// Returns the last event that the state covers; 0 for an empty log.
    pub fn seq(&self) -> u64 {
        self.folded
    }
    pub(crate) fn rows(&self) -> Rows<'_> {
        Rows(self.overlay.view())
    }
    /// Returns the newest `limit` events before `before` whose ref `kind` has the value `value`.
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
    /// Returns the place of an event; `None` after the state's end.
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
