//! What merging does to the runs.

use super::*;
use crate::derived::scan::Walk;

fn levels(store: &Store) -> Vec<u8> {
    store.runs().iter().map(|run| run.level).collect()
}

fn tombstones(store: &Store) -> usize {
    let mut walk = Walk::everything(store.open_runs()).unwrap();
    let mut count = 0;
    while walk.step().unwrap() {
        count += usize::from(walk.value().is_none());
    }
    count
}

#[test]
fn eight_neighbours_become_one_and_so_on_upwards() {
    let storage = memory();
    let mut store = open(&storage);
    for round in 0..64 {
        store = flush(&store, 3, &sample(round, 10));
        store = store.merge(u64::MAX).unwrap().unwrap();
        let on = |level| levels(&store).iter().filter(|at| **at == level).count() as u64;
        assert_eq!(on(0) + 8 * on(1) + 64 * on(2), round + 1);
        assert!(on(0) < 8 && on(1) < 8);
    }
    assert_eq!(levels(&store), [2]);
    assert_eq!(live(&store), folded((0..64).map(|round| sample(round, 10))));
    assert_eq!(storage.list(Path::new(DIR)).unwrap().len(), 2);
}

#[test]
fn a_merge_reads_no_more_than_it_may() {
    let storage = memory();
    let mut store = open(&storage);
    for round in 0..8 {
        store = flush(&store, 3, &sample(round, 10));
    }
    let bytes: u64 = store.runs().iter().map(|run| run.len).sum();
    let same = store.merge(bytes - 1).unwrap().unwrap();
    assert_eq!(levels(&same), [0; 8]);
    assert_eq!(levels(&same.merge(bytes).unwrap().unwrap()), [1]);
}

#[test]
fn large_runs_start_on_a_higher_level() {
    let storage = memory();
    let mut store = open(&storage);
    for events in [4096, 4097, 32_768, 32_769] {
        store = flush(&store, events, &Changes::new());
    }
    assert_eq!(levels(&store), [0, 1, 1, 2]);
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
    assert_eq!(levels(&store), [1, 0, 0, 0, 0, 0, 0, 0, 0]);
    let store = store.merge(u64::MAX).unwrap().unwrap();
    assert_eq!(levels(&store), [1, 1]);
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
    for events in [1, 340, 341, 342, 5, 1000, 1, 700] {
        store = flush(&store, events, &Changes::new());
    }
    let store = store.merge(u64::MAX).unwrap().unwrap();
    assert_eq!(store.runs().len(), 1);
    for seq in 1..=2730 {
        assert_eq!(store.place(seq).unwrap(), Some(place(seq)));
    }
}

#[test]
fn damage_met_while_merging_is_reported_and_changes_nothing() {
    let storage = memory();
    let mut store = open(&storage);
    for round in 0..8 {
        store = flush(&store, 3, &sample(round, 10));
    }
    let path = Path::new(DIR).join(&store.runs()[3].name);
    let file = storage.open(&path, crate::storage::Open::Write).unwrap();
    file.write_all_at(&[0xaa; 8], 4096 + 100).unwrap();
    let store = open(&storage);
    assert!(store.merge(u64::MAX).is_err());
    assert_eq!(store.damaged().unwrap().first_seq, 10);
    assert_eq!(open(&storage).runs().len(), 8);
    let store = write(&store, 10, 12, &sample(3, 10)).unwrap();
    let store = store.merge(u64::MAX).unwrap().unwrap();
    assert_eq!(live(&store), folded((0..8).map(|round| sample(round, 10))));
    assert_eq!(storage.list(Path::new(DIR)).unwrap().len(), 2);
}
