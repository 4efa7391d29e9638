//! The store: a manifest and its runs.

use crate::error::Result;
use crate::event_id::EventId;
use crate::place::Place;
use crate::storage::{Bytes, Storage};
use std::path::Path;
use std::sync::Arc;

/// The last event that a run covers, so that a run can be held against the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Anchor {
    /// Its seq.
    pub seq: u64,
    /// Its id.
    pub id: EventId,
    /// Its place.
    pub place: Place,
    /// The CRC of its frame.
    pub crc: u32,
}

/// What the manifest says of one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunMeta {
    /// File name.
    pub name: String,
    /// File length.
    pub len: u64,
    /// First seq covered.
    pub first_seq: u64,
    /// Last event covered.
    pub last: Anchor,
    /// 0 for a run as flushed, one more for each merge.
    pub level: u8,
}

/// What becomes a run: everything that the events `first_seq ..= last.seq` changed.
pub struct Delta<'a> {
    /// First seq covered.
    pub first_seq: u64,
    /// Last event covered.
    pub last: Anchor,
    /// The place of each event, in order.
    pub places: &'a [Place],
    /// Changed keys in ascending order; `None` deletes.
    pub entries: &'a mut dyn Iterator<Item = (&'a [u8], Option<&'a [u8]>)>,
}

/// An open view of the runs. Immutable: writing a run gives a new view. Cheap to clone.
#[derive(Clone)]
pub struct Store {}

/// An ordered walk over the live entries of a range.
pub struct Scan {}

impl Store {
    /// Opens what is in `dir` (a missing directory or manifest is an empty store). `holds` says whether the log
    /// has that event; runs from the first one it denies on are left out, and dropped from the manifest by the next write.
    ///
    /// # Errors
    /// I/O errors. Damage is not an error here: see [`Store::damaged`].
    pub fn open(
        storage: Arc<dyn Storage>,
        dir: &Path,
        holds: &mut dyn FnMut(&Anchor) -> Result<bool>,
    ) -> Result<Store> {
        let _ = (storage, dir, holds);
        todo!()
    }
    /// The runs in use, oldest first.
    pub fn runs(&self) -> Vec<RunMeta> {
        todo!()
    }
    /// The newest event covered without a gap from seq 1 on.
    pub fn covered(&self) -> Option<Anchor> {
        todo!()
    }
    /// The oldest run that the manifest names and that is missing or damaged; runs behind it are not read until
    /// it is rebuilt with [`Store::write`] (same range).
    pub fn damaged(&self) -> Option<RunMeta> {
        todo!()
    }
    /// The value of a key.
    ///
    /// # Errors
    /// `Derived` where a block is damaged (that run then counts as damaged for the next open), or I/O.
    pub fn get(&self, key: &[u8]) -> Result<Option<Bytes>> {
        let _ = key;
        todo!()
    }
    /// The live entries with `from <= key < to`, ascending, or descending if `reverse`.
    pub fn scan(&self, from: &[u8], to: &[u8], reverse: bool) -> Scan {
        let _ = (from, to, reverse);
        todo!()
    }
    /// Where the event with that seq lies, if a run covers it.
    ///
    /// # Errors
    /// As [`Store::get`].
    pub fn place(&self, seq: u64) -> Result<Option<Place>> {
        let _ = seq;
        todo!()
    }
    /// Writes a run behind the covered range, or in place of a damaged one, and the manifest that names it.
    /// Takes the derived lock (`derived.lock` beside the directory) without waiting; `None` where another process has it
    /// or has moved on meanwhile.
    ///
    /// # Errors
    /// I/O errors.
    pub fn write(&self, delta: Delta<'_>) -> Result<Option<Store>> {
        let _ = delta;
        todo!()
    }
    /// Merges runs (eight neighbours of one level into one of the next) as long as one merge reads at most `bytes_max` bytes.
    ///
    /// # Errors
    /// I/O errors, `Derived`.
    pub fn merge(&self, bytes_max: u64) -> Result<Option<Store>> {
        let _ = bytes_max;
        todo!()
    }
    /// Starts a new store aside (`<dir>.new`): writes go there until [`Store::install`] swaps it in. For `rehydrate`.
    ///
    /// # Errors
    /// I/O errors.
    pub fn aside(storage: Arc<dyn Storage>, dir: &Path) -> Result<Store> {
        let _ = (storage, dir);
        todo!()
    }
    /// Puts a store built aside in the place of the one in `dir`.
    ///
    /// # Errors
    /// I/O errors.
    pub fn install(self) -> Result<Store> {
        todo!()
    }
}

impl Iterator for Scan {
    type Item = Result<(Vec<u8>, Bytes)>;
    fn next(&mut self) -> Option<Self::Item> {
        todo!()
    }
}
