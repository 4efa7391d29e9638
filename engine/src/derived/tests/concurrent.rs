//! Tests of several handles on one directory at the same time.

use super::*;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Returns changes that set every key to `round`. A reader must never see values of two rounds.
fn round_of(round: u64) -> Changes {
    (0..200_u8)
        .map(|key| (vec![1, key], Some(round.to_be_bytes().to_vec())))
        .collect()
}

#[test]
fn readers_see_whole_rounds_while_runs_are_written_and_merged() {
    let (dir, storage) = files();
    let (done, opened) = (AtomicBool::new(false), AtomicU64::new(0));
    flush(&open(&storage), 1, &round_of(1));
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let storage: Arc<dyn Storage> = Arc::new(Files::open(dir.path()).unwrap());
                let mut last = 0;
                while !done.load(Ordering::Relaxed) {
                    let store = held(&storage);
                    assert_eq!(store.damaged(), None);
                    let covered = store.covered().unwrap().seq;
                    assert!(covered >= last, "{covered} after {last}");
                    last = covered;
                    std::thread::yield_now();
                    let entries = live(&store);
                    assert_eq!(entries.len(), 200);
                    for value in entries.values() {
                        assert_eq!(value, &covered.to_be_bytes());
                    }
                    assert_eq!(store.place(covered).unwrap(), Some(place(covered)));
                    opened.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        let mut store = open(&storage);
        for round in 2..400 {
            store = flush(&store, 1, &round_of(round));
            store = store.merge(u64::MAX).unwrap().unwrap();
        }
        while opened.load(Ordering::Relaxed) < 30 {
            std::thread::yield_now();
        }
        done.store(true, Ordering::Relaxed);
    });
}

#[test]
fn writers_that_compete_lose_nothing() {
    let (dir, storage) = files();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let storage: Arc<dyn Storage> = Arc::new(Files::open(dir.path()).unwrap());
                let mut written = 0;
                while written < 25 {
                    let store = open(&storage);
                    let seq = store.covered().map_or(1, |last| last.seq + 1);
                    let key = seq.to_be_bytes().to_vec();
                    let changes = Changes::from([([vec![1], key].concat(), Some(vec![]))]);
                    if let Some(store) = write(&store, seq, seq, &changes) {
                        written += 1;
                        let _ = store.merge(u64::MAX).unwrap();
                    }
                }
            });
        }
    });
    let store = open(&storage);
    assert_eq!(store.covered(), Some(anchor(100)));
    assert_eq!(live(&store).len(), 100);
    let names = storage.list(Path::new(DIR)).unwrap();
    assert_eq!(names.len(), store.runs().len() + 1, "{names:?}");
}

#[test]
fn a_held_lock_turns_writers_away() {
    let (dir, storage) = files();
    let store = flush(&open(&storage), 1, &round_of(1));
    let other = Files::open(dir.path()).unwrap();
    let lock = Path::new("teams/demo/derived.lock");
    let held = other.lock(lock, std::time::Duration::ZERO).unwrap();
    assert!(write(&store, 2, 2, &round_of(2)).is_none());
    assert!(store.merge(u64::MAX).unwrap().is_none());
    drop(held);
    assert!(write(&store, 2, 2, &round_of(2)).is_some());
}
