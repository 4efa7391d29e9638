//! Unsorted changes over a store, for a fold of many events.
//!
//! An [`Overlay`](super::Overlay) is always sorted. A bulk fold does not need the order at every step: the fold reads single
//! keys, and sorts them only once, for the run. All keys are in one buffer and are found by their hash, so a change costs a few
//! comparisons and at most one allocation.

use super::overlay::Value;
use super::store::{Change, Store};
use crate::prelude::*;
use std::hash::{BuildHasher, RandomState};

/// State that a fold reads and changes key by key.
pub trait Changes {
    /// Returns the value of a key.
    fn get(&self, key: &[u8]) -> Result<Option<Value<'_>>>;
    /// Sets a key.
    fn put(&mut self, key: &[u8], value: &[u8]);
    /// Removes a key.
    fn delete(&mut self, key: &[u8]);
}

/// Unsorted changes over a store.
pub struct Table {
    store: Store,
    /// All keys, in one buffer.
    keys: Vec<u8>,
    slots: Vec<Slot>,
    /// Hash index with open addressing, at most half full. An entry has 32 bits of the hash above the slot's number plus one; 0
    /// is an empty entry.
    index: Vec<u64>,
    /// Hasher with a random seed, because senders of messages choose the ids, and could choose ids that collide.
    hasher: RandomState,
}

struct Slot {
    start: usize,
    len: u32,
    value: Option<Vec<u8>>,
}

impl Table {
    /// Creates a table without changes over `store`.
    pub fn new(store: Store) -> Table {
        Table {
            store,
            keys: Vec::new(),
            slots: Vec::new(),
            index: vec![0; 64],
            hasher: RandomState::new(),
        }
    }
    /// Returns the number of changes.
    pub fn len(&self) -> usize {
        self.slots.len()
    }
    /// Returns true if there are no changes.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }
    /// Returns all changes in ascending order, with `None` for a deleted key. These are the entries of a [`super::Delta`].
    pub fn changes(&self) -> Vec<Change<'_>> {
        // The first bytes of the keys decide most comparisons, so most keys are not read.
        let mut changes: Vec<(u128, Change<'_>)> = self
            .slots
            .iter()
            .map(|slot| {
                let key = self.key(slot);
                (prefix(key), (key, slot.value.as_deref()))
            })
            .collect();
        changes
            .sort_unstable_by(|(a, (one, _)), (b, (two, _))| a.cmp(b).then_with(|| one.cmp(two)));
        changes.into_iter().map(|(_, change)| change).collect()
    }
    /// Replaces the store by `store`, which also holds the changes, and drops the changes from the table.
    pub fn flushed(&mut self, store: Store) {
        *self = Table::new(store);
    }

    fn key(&self, slot: &Slot) -> &[u8] {
        let end = slot.start + slot.len as usize;
        self.keys.get(slot.start..end).unwrap_or_default()
    }
    /// Returns the number of the key's slot. If the key has no slot, returns the free place for the key in the index as `Err`.
    fn find(&self, key: &[u8], hash: u32) -> std::result::Result<usize, usize> {
        debug_assert!(
            self.index.len().is_power_of_two(),
            "{} entries cannot be masked",
            self.index.len()
        );
        let mask = self.index.len() - 1;
        let mut at = hash as usize & mask;
        loop {
            let entry = self.index.get(at).copied().unwrap_or_default();
            let Some(number) = (entry as u32).checked_sub(1) else {
                return Err(at);
            };
            if (entry >> 32) as u32 == hash
                && let Some(slot) = self.slots.get(number as usize)
                && self.key(slot) == key
            {
                return Ok(number as usize);
            }
            at = (at + 1) & mask;
        }
    }
    fn hash(&self, key: &[u8]) -> u32 {
        self.hasher.hash_one(key) as u32
    }
    fn value(&mut self, key: &[u8]) -> Option<&mut Option<Vec<u8>>> {
        let hash = self.hash(key);
        let number = match self.find(key, hash) {
            Ok(number) => number,
            Err(at) => {
                let number = self.slots.len();
                self.slots.push(Slot {
                    start: self.keys.len(),
                    len: key.len() as u32,
                    value: None,
                });
                self.keys.extend_from_slice(key);
                if let Some(entry) = self.index.get_mut(at) {
                    *entry = (u64::from(hash) << 32) | (number as u64 + 1);
                }
                if self.slots.len() * 2 > self.index.len() {
                    self.grow();
                }
                debug_assert!(
                    self.slots.len() * 2 <= self.index.len(),
                    "an index of {} entries must stay half empty, but holds {}",
                    self.index.len(),
                    self.slots.len()
                );
                number
            }
        };
        self.slots.get_mut(number).map(|slot| &mut slot.value)
    }
    fn grow(&mut self) {
        let len = self.index.len() * 2;
        let old = std::mem::replace(&mut self.index, vec![0; len]);
        for entry in old.into_iter().filter(|entry| *entry != 0) {
            let mut at = (entry >> 32) as usize & (len - 1);
            while self.index.get(at).is_some_and(|taken| *taken != 0) {
                at = (at + 1) & (len - 1);
            }
            if let Some(free) = self.index.get_mut(at) {
                *free = entry;
            }
        }
    }
}

impl Changes for Table {
    fn get(&self, key: &[u8]) -> Result<Option<Value<'_>>> {
        match self.find(key, self.hash(key)) {
            Ok(number) => {
                let value = self
                    .slots
                    .get(number)
                    .and_then(|slot| slot.value.as_deref());
                Ok(value.map(Value::Changed))
            }
            Err(_) => Ok(self.store.get(key)?.map(Value::Stored)),
        }
    }
    fn put(&mut self, key: &[u8], value: &[u8]) {
        if let Some(place) = self.value(key) {
            let bytes = place.get_or_insert_default();
            bytes.clear();
            bytes.extend_from_slice(value);
        }
    }
    fn delete(&mut self, key: &[u8]) {
        if let Some(place) = self.value(key) {
            *place = None;
        }
    }
}

/// Returns the first sixteen bytes of a key (padded with zeros) as a number that sorts like the bytes.
fn prefix(key: &[u8]) -> u128 {
    let mut first = [0; 16];
    for (to, from) in first.iter_mut().zip(key) {
        *to = *from;
    }
    u128::from_be_bytes(first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::Memory;
    use std::collections::BTreeMap;
    use std::path::Path;
    use std::sync::Arc;

    fn table() -> Table {
        let memory = Arc::new(Memory::new());
        Table::new(Store::open(memory, Path::new("derived/v1"), &mut |_| Ok(true)).unwrap())
    }

    #[test]
    fn agrees_with_a_sorted_map() {
        let (mut table, mut model) = (table(), BTreeMap::new());
        let mut state = 7_u64;
        for step in 0..20_000_u64 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let name = (state >> 33) % 3_000;
            // Keys are sorted by a prefix. Some keys are shorter than the prefix, some begin with a whole common prefix, and one
            // key is empty.
            let key = match name % 3 {
                _ if name == 0 => Vec::new(),
                0 => vec![0; name as usize % 40],
                1 => format!("a key longer than its prefix {name}").into_bytes(),
                _ => name.to_le_bytes().to_vec(),
            };
            let value = vec![step as u8; (state >> 60) as usize];
            match (state >> 50) & 3 {
                0 => {
                    table.delete(&key);
                    model.insert(key.clone(), None);
                }
                _ => {
                    table.put(&key, &value);
                    model.insert(key.clone(), Some(value));
                }
            }
            let found = table.get(&key).unwrap().map(|value| value.to_vec());
            assert_eq!(&found, model.get(&key).unwrap());
        }
        let expected: Vec<Change<'_>> = model
            .iter()
            .map(|(key, value)| (key.as_slice(), value.as_deref()))
            .collect();
        assert_eq!(table.changes(), expected);
        assert!(table.get(b"none of them").unwrap().is_none());
    }
}
