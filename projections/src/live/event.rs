//! Events, by their seq and by what they refer to.

use super::{Live, SeqPage};
use crate::error::Result;
use crate::fact;
use crate::message::Message;
use teamlog_engine::derived::key;
use teamlog_engine::{Event, Place, Reader, RefKind};

impl Live {
    /// The newest `limit` events before `before` that name `value` as their ref of that kind.
    pub fn with_ref(
        &self,
        kind: RefKind,
        value: &str,
        before: Option<u64>,
        limit: usize,
    ) -> Result<SeqPage> {
        self.rows().page(
            &key::series(key::POSTINGS + kind as u8, value.as_bytes()),
            before,
            limit,
        )
    }
    /// Where an event lies; `None` past the state's end.
    pub fn place(&self, seq: u64) -> Result<Option<Place>> {
        let Some(last) = self.tail.last else {
            return Ok(self.overlay.store().place(seq)?);
        };
        let first = last.seq + 1 - self.tail.places.len() as u64;
        match seq.checked_sub(first) {
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
    /// Reads the message that an event recorded.
    ///
    /// # Errors
    /// As [`Live::event`]; `Undecodable` if it recorded none.
    pub fn sent(&self, reader: &Reader, seq: u64) -> Result<Option<Message>> {
        match self.event(reader, seq)? {
            Some(event) => fact::message(&event).map(Some),
            None => Ok(None),
        }
    }
}
