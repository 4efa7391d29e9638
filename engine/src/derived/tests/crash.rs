//! Tests of power loss and failing calls. No file is synced, so any bytes may be lost, but every loss is detected.

use super::*;
use crate::prelude::*;
use crate::storage::{Fault, Faulty, Memory};

const ROUNDS: u64 = 12;
const EVENTS: u64 = 5;

/// Changes of the rounds `from..to`, as one run.
fn changes_of(rounds: std::ops::Range<u64>) -> Changes {
    rounds.flat_map(|round| sample(round, 8)).collect()
}

fn history(storage: &Arc<dyn Storage>) -> Result<(), Error> {
    let mut store = Store::open(Arc::clone(storage), Path::new(DIR), &mut |_| Ok(true))?;
    for round in 0..ROUNDS {
        let first = round * EVENTS + 1;
        let places: Vec<Place> = (first..first + EVENTS).map(place).collect();
        let changes = changes_of(round..round + 1);
        let entries = changes.iter();
        let delta = Delta {
            first_seq: first,
            last: anchor(first + EVENTS - 1),
            places: &places,
            entries: Box::new(entries.map(|(key, value)| (key.as_slice(), value.as_deref()))),
        };
        store = store.write(delta)?.expect("nobody else writes");
        store = store.merge(u64::MAX)?.expect("nobody else writes");
    }
    Ok(())
}

/// Returns all live entries, or the damage.
fn walk(store: &Store) -> Result<BTreeMap<Vec<u8>, Vec<u8>>, Error> {
    let all = store.scan(&[0], &[0xff; 8], false);
    all.map(|entry| entry.map(|(key, value)| (key, value.to_vec())))
        .collect()
}

/// Folds damaged runs again until nothing is damaged; returns their number.
fn mend(storage: &Arc<dyn Storage>) -> u64 {
    let mut store = open(storage);
    let mut mended = 0;
    loop {
        let walked = walk(&store);
        let Some(damaged) = store.damaged() else {
            let rounds = store.covered().map_or(0, |last| last.seq / EVENTS);
            assert_eq!(walked.unwrap(), folded([changes_of(0..rounds)]));
            for seq in 1..=rounds * EVENTS {
                // The walk did not read the page of the places.
                match store.place(seq) {
                    Ok(found) => assert_eq!(found, Some(place(seq))),
                    Err(Error::Derived { .. }) => break,
                    Err(error) => panic!("{error}"),
                }
            }
            if store.damaged().is_none() {
                return mended;
            }
            continue;
        };
        assert!(walked.is_err() || store.place(damaged.first_seq).is_err());
        let (first, last) = (damaged.first_seq, damaged.last.seq);
        let rounds = (first - 1) / EVENTS..last / EVENTS;
        store = write(&store, first, last, &changes_of(rounds)).unwrap();
        mended += 1;
    }
}

#[test]
fn a_power_loss_leaves_a_store_that_is_right_or_known_to_be_damaged() {
    let memory = Memory::new();
    let storage: Arc<dyn Storage> = Arc::new(memory.clone());
    storage.create_dir_all(Path::new("teams/demo")).unwrap();
    history(&storage).unwrap();
    let (mut sound, mut mended) = (0, 0);
    for seed in 0..400_u64 {
        let mut state = seed;
        // Most calls must survive the crash. Otherwise hardly any file name would survive, and there would be no store.
        let crashed = memory.crash(&mut |answers| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let lost = (state >> 33) % 100 < seed % 20;
            if lost {
                (state >> 40) as usize % answers
            } else {
                answers - 1
            }
        });
        let storage: Arc<dyn Storage> = Arc::new(crashed);
        storage.create_dir_all(Path::new("teams/demo")).unwrap();
        match mend(&storage) {
            0 => sound += 1,
            runs => mended += runs,
        }
    }
    assert!(sound > 20 && mended > 20, "{sound} sound, {mended} mended");
}

#[test]
fn a_call_that_fails_leaves_the_store_as_it_was() {
    let run = |fault: Option<usize>| {
        let memory: Arc<dyn Storage> = Arc::new(Memory::new());
        memory.create_dir_all(Path::new("teams/demo")).unwrap();
        let faulty = Faulty::new(Arc::clone(&memory));
        if let Some(call) = fault {
            faulty.arm(call, Fault::Stop);
        }
        let done = history(&(Arc::new(faulty.clone()) as Arc<dyn Storage>));
        (memory, faulty.count(), done)
    };
    let (_, calls, done) = run(None);
    done.unwrap();
    let mut last = 0;
    for call in 0..calls {
        let (storage, _, done) = run(Some(call));
        let store = open(&storage);
        assert_eq!(mend(&storage), 0, "call {call}");
        let covered = store.covered().map_or(0, |last| last.seq);
        assert!(covered >= last, "call {call}: {covered} after {last}");
        last = covered;
        // Only the removal of old files may fail silently. The last such removal is the last call of the history.
        assert!(done.is_err() || covered == ROUNDS * EVENTS, "call {call}");
        let first = covered + 1;
        assert!(write(&store, first, first, &Changes::new()).is_some());
        let names = storage.list(Path::new(DIR)).unwrap();
        let runs = names.iter().filter(|name| name.ends_with(".run")).count();
        assert_eq!(runs, open(&storage).runs().len(), "call {call}: {names:?}");
    }
    assert!(last > 50);
}
