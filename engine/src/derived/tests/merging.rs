//! Tests of merging.

use super::*;
use crate::derived::scan::Walk;

fn levels(store: &Store) -> Vec<u8> {
    store.runs().iter().map(|run| run.level).collect()
}

fn tombstones(store: &Store) -> usize {
    let mut walk = Walk::everything(store.in_use()).unwrap();
    let mut count = 0;
    while walk.step().unwrap() {
        count += usize::from(walk.value().is_none());
    }
    count
}

#[test]
fn nine_runs_become_fewer_and_hold_the_same() {
    let storage = memory();
    let mut store = open(&storage);
    let mut shapes = Vec::new();
    for round in 0..45 {
        store = flush(&store, 3, &sample(round, 10));
        store = store.merge(u64::MAX).unwrap().unwrap();
        shapes.push(levels(&store));
    }
    assert_eq!(shapes[7], [0; 8]);
    assert_eq!(shapes[8], [1]);
    assert_eq!(shapes[15], [1, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(shapes[16], [1, 1]);
    // C(2 + 8, 8) is 45: after 45 small runs, all runs are merged into one run of level 2.
    assert_eq!(shapes[43], [1; 8]);
    assert_eq!(shapes[44], [2]);
    assert_eq!(live(&store), folded((0..45).map(|round| sample(round, 10))));
    assert_eq!(storage.list(Path::new(DIR)).unwrap().len(), 2);
}

#[test]
fn large_runs_start_on_a_higher_level() {
    let storage = memory();
    let mut store = open(&storage);
    for events in [64, 65, 576, 577, 2880, 2881] {
        store = flush(&store, events, &Changes::new());
    }
    assert_eq!(levels(&store), [0, 1, 1, 2, 2, 3]);
}

#[test]
fn tombstones_go_with_the_oldest_run_and_not_before() {
    let storage = memory();
    let key = b"\x01gone".to_vec();
    let filler = |index: u8| Changes::from([(vec![1, index], Some(vec![index; 3000]))]);
    let mut store = flush(
        &open(&storage),
        5000,
        &Changes::from([(key.clone(), Some(vec![1]))]),
    );
    store = flush(&store, 1, &Changes::from([(key.clone(), None)]));
    for index in 0..7 {
        store = flush(&store, 1, &filler(index));
    }
    assert_eq!(levels(&store), [3, 0, 0, 0, 0, 0, 0, 0, 0]);
    let store = store.merge(u64::MAX).unwrap().unwrap();
    assert_eq!(levels(&store), [3, 1]);
    assert_eq!(store.get(&key).unwrap().as_deref(), None, "still hidden");
    assert_eq!(tombstones(&store), 1);
    let store = store.merge_all().unwrap().unwrap();
    assert_eq!(store.get(&key).unwrap().as_deref(), None);
    assert_eq!(tombstones(&store), 0);
}

#[test]
fn places_are_joined() {
    let storage = memory();
    let mut store = open(&storage);
    for events in [1, 340, 341, 342, 5, 1000, 1, 700, 1] {
        store = flush(&store, events, &Changes::new());
    }
    let store = store.merge(u64::MAX).unwrap().unwrap();
    assert_eq!(store.runs().len(), 1);
    for seq in 1..=2731 {
        assert_eq!(store.place(seq).unwrap(), Some(place(seq)));
    }
}

#[test]
fn damage_met_while_merging_is_reported_and_changes_nothing() {
    let storage = memory();
    let mut store = open(&storage);
    for round in 0..9 {
        store = flush(&store, 3, &sample(round, 10));
    }
    let path = Path::new(DIR).join(&store.runs()[3].name);
    let file = storage
        .open(&path, crate::storage::OpenMode::Write)
        .unwrap();
    file.write_all_at(&[0xaa; 8], 4096 + 100).unwrap();
    let store = open(&storage);
    assert!(store.merge(u64::MAX).is_err());
    assert_eq!(store.damaged().unwrap().first_seq, 10);
    assert_eq!(open(&storage).runs().len(), 9);
    let store = write(&store, 10, 12, &sample(3, 10)).unwrap();
    let store = store.merge(u64::MAX).unwrap().unwrap();
    assert_eq!(live(&store), folded((0..9).map(|round| sample(round, 10))));
    assert_eq!(storage.list(Path::new(DIR)).unwrap().len(), 2);
}
