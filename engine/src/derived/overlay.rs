//! Changes over a store that are not in a run yet. Folds read and write these changes.
//!
//! There are two layers: settled changes and, between [`Overlay::begin`] and [`Overlay::commit`], the changes of a
//! group that is not durable yet. Reads see the newest changes; [`Overlay::settled`] reads without the unsettled
//! changes.

use super::scan::Scan;
use super::store::{Change, Store};
use super::table::Changes;
use crate::prelude::*;
use std::collections::BTreeMap;
use std::collections::btree_map::{Entry, Range};
use std::ops::{Bound, Deref};

/// Approximate memory of an entry beside its key and value.
const ENTRY_BYTES: usize = 64;

/// Changes over a store.
pub struct Overlay {
    store: Store,
    settled: Layer,
    open: Option<Layer>,
}

/// A value, read in place.
#[derive(Debug, Clone)]
pub enum Value<'a> {
    /// The value comes from the overlay.
    Changed(&'a [u8]),
    /// The value comes from a run.
    Stored(Bytes),
}

impl Deref for Value<'_> {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        match self {
            Value::Changed(bytes) => bytes,
            Value::Stored(bytes) => bytes,
        }
    }
}

impl Overlay {
    /// Creates an overlay without changes over `store`.
    pub fn new(store: Store) -> Overlay {
        Overlay {
            store,
            settled: Layer::default(),
            open: None,
        }
    }
    /// Returns the store below.
    pub fn store(&self) -> &Store {
        &self.store
    }
    /// Sets a key.
    pub fn put(&mut self, key: impl Into<Vec<u8>>, value: impl Into<Vec<u8>>) {
        self.top().set(key.into(), Some(value.into()));
    }
    /// Removes a key.
    pub fn delete(&mut self, key: impl Into<Vec<u8>>) {
        self.top().set(key.into(), None);
    }
    /// Returns the value of a key.
    pub fn get(&self, key: &[u8]) -> Result<Option<Value<'_>>> {
        self.view().get(key)
    }
    /// Returns the live entries with `from <= key < to`, ascending, or descending if `reverse`.
    pub fn scan(&self, from: &[u8], to: &[u8], reverse: bool) -> OverlayScan<'_> {
        self.view().scan(from, to, reverse)
    }
    /// Returns the state with all changes.
    pub fn view(&self) -> View<'_> {
        View {
            store: &self.store,
            settled: &self.settled,
            open: self.open.as_ref(),
        }
    }
    /// Returns the state without the changes since [`Overlay::begin`].
    pub fn settled(&self) -> View<'_> {
        View {
            open: None,
            ..self.view()
        }
    }
    /// Starts changes that can be undone, until [`Overlay::commit`] or [`Overlay::rollback`]. If a group is open, continues that
    /// group.
    pub fn begin(&mut self) {
        self.open.get_or_insert_default();
    }
    /// Settles the changes since [`Overlay::begin`].
    pub fn commit(&mut self) {
        for (key, value) in self.open.take().unwrap_or_default().changes {
            self.settled.set(key, value);
        }
    }
    /// Undoes the changes since [`Overlay::begin`].
    pub fn rollback(&mut self) {
        self.open = None;
    }
    /// Returns the settled changes in ascending order, with `None` for a deleted key. These are the entries of a
    /// [`super::Delta`].
    pub fn changes(&self) -> impl Iterator<Item = Change<'_>> {
        let changes = self.settled.changes.iter();
        changes.map(|(key, value)| (key.as_slice(), value.as_deref()))
    }
    /// Returns the approximate memory of all changes, in bytes.
    pub fn bytes(&self) -> usize {
        self.settled.bytes + self.open.as_ref().map_or(0, |open| open.bytes)
    }
    /// Returns the number of settled changes.
    pub fn len(&self) -> usize {
        self.settled.changes.len()
    }
    /// Returns true if there are no settled changes.
    pub fn is_empty(&self) -> bool {
        self.settled.changes.is_empty()
    }
    /// Replaces the store by `store`, which also holds the settled changes, and drops these changes from the overlay.
    pub fn flushed(&mut self, store: Store) {
        self.settled = Layer::default();
        self.store = store;
    }

    /// Replaces the store by `store`, which has the same content in other runs.
    pub fn rebased(&mut self, store: Store) {
        self.store = store;
    }

    fn top(&mut self) -> &mut Layer {
        self.open.as_mut().unwrap_or(&mut self.settled)
    }
}

impl Changes for Overlay {
    fn get(&self, key: &[u8]) -> Result<Option<Value<'_>>> {
        self.view().get(key)
    }
    fn put(&mut self, key: &[u8], value: &[u8]) {
        Overlay::put(self, key, value);
    }
    fn delete(&mut self, key: &[u8]) {
        Overlay::delete(self, key);
    }
}

#[derive(Default)]
struct Layer {
    changes: BTreeMap<Vec<u8>, Option<Vec<u8>>>,
    bytes: usize,
}

impl Layer {
    fn set(&mut self, key: Vec<u8>, value: Option<Vec<u8>>) {
        let len = |value: &Option<Vec<u8>>| value.as_ref().map_or(0, Vec::len);
        self.bytes += len(&value);
        match self.changes.entry(key) {
            Entry::Vacant(entry) => {
                self.bytes += entry.key().len() + ENTRY_BYTES;
                entry.insert(value);
            }
            Entry::Occupied(mut entry) => self.bytes -= len(&entry.insert(value)),
        }
    }
}

/// A read-only view of the store and the changes over it.
#[derive(Clone, Copy)]
pub struct View<'a> {
    store: &'a Store,
    settled: &'a Layer,
    open: Option<&'a Layer>,
}

impl<'a> View<'a> {
    /// Returns the value of a key.
    pub fn get(self, key: &[u8]) -> Result<Option<Value<'a>>> {
        for layer in self.open.into_iter().chain([self.settled]) {
            if let Some(change) = layer.changes.get(key) {
                return Ok(change.as_deref().map(Value::Changed));
            }
        }
        Ok(self.store.get(key)?.map(Value::Stored))
    }
    /// Returns the live entries with `from <= key < to`, ascending, or descending if `reverse`.
    pub fn scan(self, from: &[u8], to: &[u8], reverse: bool) -> OverlayScan<'a> {
        let layer = |layer: &'a Layer| LayerScan::new(layer, from, to, reverse);
        OverlayScan {
            open: self.open.map(layer),
            settled: layer(self.settled),
            store: self.store.scan(from, to, reverse),
            stored: None,
            reverse,
            over: false,
        }
    }
    /// Adds the live entries with `from <= key < to` to a digest, in order: each key and value follows its length (u32,
    /// little-endian).
    pub fn hash_entries(self, hasher: &mut blake3::Hasher, from: &[u8], to: &[u8]) -> Result<()> {
        let mut pending = Vec::with_capacity(1 << 17);
        for entry in self.scan(from, to, false) {
            let (key, value) = entry?;
            for part in [&*key, &*value] {
                pending.extend_from_slice(&(part.len() as u32).to_le_bytes());
                pending.extend_from_slice(part);
            }
            if pending.len() >= 1 << 16 {
                hasher.update(&pending);
                pending.clear();
            }
        }
        hasher.update(&pending);
        Ok(())
    }
}

/// An ordered walk over the live entries of a range, changes included.
pub struct OverlayScan<'a> {
    open: Option<LayerScan<'a>>,
    settled: LayerScan<'a>,
    store: Scan,
    /// The store's next entry, if the entry was read already.
    stored: Option<(Vec<u8>, Bytes)>,
    reverse: bool,
    over: bool,
}

/// An iterator over the changes of a layer. The iterator can show the next change without taking the change.
struct LayerScan<'a> {
    range: Option<Range<'a, Vec<u8>, Option<Vec<u8>>>>,
    reverse: bool,
    next: Option<Change<'a>>,
}

impl<'a> LayerScan<'a> {
    fn new(layer: &'a Layer, from: &[u8], to: &[u8], reverse: bool) -> LayerScan<'a> {
        // The map's `range` would panic if the bounds were in the wrong order.
        let range = (from < to).then(|| {
            layer
                .changes
                .range::<[u8], _>((Bound::Included(from), Bound::Excluded(to)))
        });
        let mut scan = LayerScan {
            range,
            reverse,
            next: None,
        };
        scan.advance();
        scan
    }
    fn advance(&mut self) {
        let reverse = self.reverse;
        let next = self.range.as_mut().and_then(|range| match reverse {
            false => range.next(),
            true => range.next_back(),
        });
        self.next = next.map(|(key, value)| (key.as_slice(), value.as_deref()));
    }
    fn take(&mut self, key: &[u8]) -> Option<Option<&'a [u8]>> {
        let (own, value) = self.next?;
        (own == key).then(|| {
            self.advance();
            value
        })
    }
}

impl<'a> Iterator for OverlayScan<'a> {
    type Item = Result<(Cow<'a, [u8]>, Value<'a>)>;
    /// Returns the next entry. An error is the last item.
    fn next(&mut self) -> Option<Self::Item> {
        while !self.over {
            if self.stored.is_none() {
                match self.store.next().transpose() {
                    Ok(stored) => self.stored = stored,
                    Err(error) => {
                        self.over = true;
                        return Some(Err(error));
                    }
                }
            }
            let Some(changed) = self.first_changed() else {
                let (key, value) = self.stored.take()?;
                return Some(Ok((Cow::Owned(key), Value::Stored(value))));
            };
            if let Some((key, value)) = self.stored.take_if(|(key, _)| {
                key.as_slice() != changed && (key.as_slice() < changed) != self.reverse
            }) {
                return Some(Ok((Cow::Owned(key), Value::Stored(value))));
            }
            self.stored.take_if(|(key, _)| key == changed);
            let settled = self.settled.take(changed);
            let open = self.open.as_mut().and_then(|open| open.take(changed));
            if let Some(value) = open.or(settled).flatten() {
                return Some(Ok((Cow::Borrowed(changed), Value::Changed(value))));
            }
        }
        None
    }
}

impl<'a> OverlayScan<'a> {
    /// Returns the next changed key.
    fn first_changed(&self) -> Option<&'a [u8]> {
        let open = self.open.as_ref().and_then(|open| open.next);
        let keys = open
            .into_iter()
            .chain(self.settled.next)
            .map(|(key, _)| key);
        match self.reverse {
            false => keys.min(),
            true => keys.max(),
        }
    }
}
