//! Tests of the store as a whole, and their helpers.

mod concurrent;
mod crash;
mod damage;
mod measure;
mod merging;
mod model;
mod overlay;
mod scratch;
mod views;

use super::key;
use super::{Anchor, Delta, Store};
use crate::prelude::*;
use crate::storage::{Files, Memory};
use std::collections::BTreeMap;

/// Directory of the store in tests.
const DIR: &str = "teams/demo/derived/v1";

/// Changes by key; `None` deletes the key.
type Changes = BTreeMap<Vec<u8>, Option<Vec<u8>>>;

/// Creates a storage in a temporary directory, which is removed when the `TempDir` is dropped.
fn files() -> (tempfile::TempDir, Arc<dyn Storage>) {
    let dir = tempfile::tempdir().unwrap();
    let files = Files::open(dir.path()).unwrap();
    // The team's directory must exist before its derived store.
    files.create_dir_all(Path::new("teams/demo")).unwrap();
    (dir, Arc::new(files))
}

/// Creates a storage in memory.
fn memory() -> Arc<dyn Storage> {
    let memory = Memory::new();
    memory.create_dir_all(Path::new("teams/demo")).unwrap();
    Arc::new(memory)
}

/// Returns the place that the event `seq` has in all tests.
fn place(seq: u64) -> Place {
    Place {
        segment: (seq / 1000) as u32 + 1,
        offset: 200 + seq % 1000 * 317,
        len: 317,
    }
}

fn anchor(seq: u64) -> Anchor {
    let at = Timestamp::from_micros(1_700_000_000_000_000 + seq as i64).unwrap();
    Anchor {
        seq,
        id: EventId::new(at, seq),
        place: place(seq),
        crc: seq as u32 * 7,
    }
}

fn open(storage: &Arc<dyn Storage>) -> Store {
    Store::open(Arc::clone(storage), Path::new(DIR), &mut |_| Ok(true)).unwrap()
}

/// Opens the store with every run open.
fn held(storage: &Arc<dyn Storage>) -> Store {
    Store::open_held(Arc::clone(storage), Path::new(DIR), &mut |_| Ok(true)).unwrap()
}

/// Writes a run with `changes` for the next `events` events. Panics if the lock is taken.
fn flush(store: &Store, events: u64, changes: &Changes) -> Store {
    let first = store.runs().last().map_or(1, |run| run.last.seq + 1);
    write(store, first, first + events - 1, changes).unwrap()
}

fn write(store: &Store, first: u64, last: u64, changes: &Changes) -> Option<Store> {
    let places: Vec<Place> = (first..=last).map(place).collect();
    let entries = changes
        .iter()
        .map(|(key, value)| (key.as_slice(), value.as_deref()));
    let delta = Delta {
        first_seq: first,
        last: anchor(last),
        places: &places,
        entries: Box::new(entries),
    };
    store.write(delta).unwrap()
}

/// Returns all live entries, read by a scan.
fn live(store: &Store) -> BTreeMap<Vec<u8>, Vec<u8>> {
    let all = store.scan(&[0], &[0xff; 8], false);
    all.map(|entry| entry.map(|(key, value)| (key, value.to_vec())).unwrap())
        .collect()
}

fn series_key(namespace: u8, name: &str, number: u64) -> Vec<u8> {
    let mut key = key::series(namespace, name.as_bytes());
    key.extend(number.to_be_bytes());
    key
}

/// Returns changes of some entries and series, different for each `round`.
fn sample(round: u64, keys: u64) -> Changes {
    let mut changes = Changes::new();
    for index in 0..keys {
        let number = round * keys + index;
        let value = format!("{number} in round {round}").into_bytes();
        changes.insert(
            format!("\u{1}task-{}", number % 50).into_bytes(),
            Some(value),
        );
        let name = format!("trace-{}", number % 7);
        changes.insert(series_key(0xf0, &name, number), Some(Vec::new()));
    }
    changes.insert(format!("\u{1}task-{}", round % 50).into_bytes(), None);
    changes
}

/// Applies the changes in order, and returns the live entries.
fn folded(rounds: impl IntoIterator<Item = Changes>) -> BTreeMap<Vec<u8>, Vec<u8>> {
    let mut model = BTreeMap::new();
    for (key, value) in rounds.into_iter().flatten() {
        match value {
            Some(value) => model.insert(key, value),
            None => model.remove(&key),
        };
    }
    model
}
