//! Tests of views of a store: a view compared with the log, several views at once, and views one after another.

use super::*;
use crate::prelude::*;

#[test]
fn runs_that_the_log_does_not_hold_are_left_out_and_dropped() {
    let (_dir, storage) = files();
    let rounds: Vec<Changes> = (0..4).map(|round| sample(round, 20)).collect();
    let mut store = open(&storage);
    for changes in &rounds {
        store = flush(&store, 10, changes);
    }
    let mut asked = Vec::new();
    let store = Store::open(Arc::clone(&storage), Path::new(DIR), &mut |anchor| {
        asked.push(anchor.seq);
        Ok(anchor.seq <= 20)
    })
    .unwrap();
    assert_eq!(asked, [40, 30, 20]);
    assert_eq!(store.covered(), Some(anchor(20)));
    assert_eq!(live(&store), folded(rounds[..2].to_vec()));
    assert_eq!(open(&storage).runs().len(), 4, "opening changes nothing");
    flush(&store, 3, &rounds[3]);
    let store = open(&storage);
    assert_eq!(store.covered(), Some(anchor(23)));
    assert_eq!(
        live(&store),
        folded([rounds[0].clone(), rounds[1].clone(), rounds[3].clone()])
    );
}

#[test]
fn an_error_of_the_log_is_passed_on() {
    let (_dir, storage) = files();
    flush(&open(&storage), 1, &sample(0, 1));
    let failed = Store::open(storage, Path::new(DIR), &mut |_| {
        Err(Error::Poisoned("test".into()))
    });
    assert!(matches!(failed, Err(Error::Poisoned(_))));
}

#[test]
fn a_view_stays_as_it_is() {
    let (_dir, storage) = files();
    let first = flush(&open(&storage), 10, &sample(0, 500));
    let first = first.hold().unwrap();
    let before = folded([sample(0, 500)]);
    let mut store = first.clone();
    for round in 1..20 {
        store = flush(&store, 10, &sample(round, 500));
    }
    store.merge_all().unwrap().unwrap();
    assert_eq!(storage.list(Path::new(DIR)).unwrap().len(), 2);
    assert_eq!(live(&first), before, "its file is gone, its view is not");
}

#[test]
fn whoever_moved_on_first_wins() {
    let (_dir, storage) = files();
    let base = flush(&open(&storage), 10, &sample(0, 20));
    let fast = write(&base, 11, 20, &sample(1, 20)).unwrap();
    assert!(write(&base, 11, 30, &sample(2, 20)).is_none());
    assert!(base.merge(u64::MAX).unwrap().is_none());
    assert!(base.merge_all().unwrap().is_none());
    assert_eq!(live(&open(&storage)), live(&fast));
    assert!(write(&fast, 21, 30, &sample(2, 20)).is_some());
}

#[test]
fn a_store_aside_is_unseen_until_it_is_installed() {
    let (_dir, storage) = files();
    let old = flush(&held(&storage), 10, &sample(0, 20));
    let wait = Duration::ZERO;
    let mut aside = Store::aside(Arc::clone(&storage), Path::new(DIR), wait).unwrap();
    for round in 1..10 {
        aside = flush(&aside, 5, &sample(round, 20));
    }
    aside = aside.merge(u64::MAX).unwrap().unwrap();
    aside = flush(&aside, 5, &sample(10, 20));
    assert_eq!(aside.runs().len(), 2);
    assert_eq!(open(&storage).runs(), old.runs());
    assert!(
        write(&old, 11, 20, &sample(1, 20)).is_none(),
        "the lock is held"
    );
    let refused = Store::aside(Arc::clone(&storage), Path::new(DIR), wait);
    assert!(matches!(refused, Err(Error::Locked { .. })));

    let want = live(&aside);
    let installed = aside.install().unwrap();
    for store in [installed, open(&storage)] {
        assert_eq!(live(&store), want);
        assert_eq!(store.covered(), Some(anchor(50)));
    }
    assert_eq!(storage.list(Path::new(DIR)).unwrap().len(), 3, "two runs");
    assert_eq!(live(&old), folded([sample(0, 20)]), "old readers read on");
    assert!(write(&open(&storage), 51, 51, &Changes::new()).is_some());
}

#[test]
fn what_was_built_aside_and_given_up_is_swept_by_the_next_writer() {
    let (_dir, storage) = files();
    let old = flush(&open(&storage), 10, &sample(0, 20));
    let aside = Store::aside(Arc::clone(&storage), Path::new(DIR), Duration::ZERO).unwrap();
    drop(flush(&aside, 5, &sample(1, 20)));
    drop(aside);
    assert_eq!(storage.list(Path::new(DIR)).unwrap().len(), 3);
    let store = flush(&old, 1, &Changes::new());
    assert_eq!(storage.list(Path::new(DIR)).unwrap().len(), 3);
    assert_eq!(live(&store), folded([sample(0, 20)]));
}

#[test]
fn a_run_without_entries_still_has_places() {
    let (_dir, storage) = files();
    let store = flush(&open(&storage), 700, &Changes::new());
    assert_eq!(store.get(b"\x01x").unwrap().as_deref(), None);
    assert_eq!(live(&store), BTreeMap::new());
    for seq in [1, 341, 342, 682, 683, 700] {
        assert_eq!(store.place(seq).unwrap(), Some(place(seq)), "{seq}");
    }
}

#[test]
fn what_the_format_cannot_hold_is_refused() {
    let (_dir, storage) = files();
    let store = open(&storage);
    let too_large = |key: Vec<u8>, value: Vec<u8>, place: Place| {
        let places = [place];
        let entries = [(key.as_slice(), Some(value.as_slice()))].into_iter();
        let written = store.write(Delta {
            first_seq: 1,
            last: anchor(1),
            places: &places,
            entries: Box::new(entries),
        });
        match written {
            Ok(_) => None,
            Err(Error::TooLarge { what, .. }) => Some(what),
            Err(error) => panic!("{error}"),
        }
    };
    let far = Place {
        offset: 1 << 40,
        ..place(1)
    };
    let long = Place {
        len: 1 << 24,
        ..place(1)
    };
    assert_eq!(
        too_large(vec![1], vec![], far),
        Some("the offset of an event")
    );
    assert_eq!(too_large(vec![1], vec![], long), Some("an event"));
    assert_eq!(
        too_large(vec![1; 1025], vec![], place(1)),
        Some("a key of the derived store")
    );
    assert_eq!(
        too_large(vec![1], vec![1; (16 << 20) + 1], place(1)),
        Some("a value of the derived store")
    );
    assert!(open(&storage).runs().is_empty());
    let most = Place {
        segment: u32::MAX,
        offset: (1 << 40) - 1,
        len: (1 << 24) - 1,
    };
    assert_eq!(too_large(vec![1; 1024], vec![1; 16 << 20], most), None);
    let store = open(&storage);
    assert_eq!(store.place(1).unwrap(), Some(most));
    assert_eq!(store.get(&[1; 1024]).unwrap().unwrap().len(), 16 << 20);
}

#[test]
fn opening_while_the_runs_are_merged_away_takes_the_new_ones() {
    let storage = memory();
    let mut store = open(&storage);
    for round in 0..3 {
        store = flush(&store, 10, &sample(round, 20));
    }
    let mut asked = 0;
    let opened = Store::open_held(Arc::clone(&storage), Path::new(DIR), &mut |_| {
        // The manifest was read, but no run is open yet.
        if asked == 0 {
            store.merge_all()?.unwrap();
        }
        asked += 1;
        Ok(true)
    })
    .unwrap();
    assert_eq!(asked, 2);
    assert_eq!((opened.runs().len(), opened.damaged()), (1, None));
    assert_eq!(live(&opened), folded((0..3).map(|round| sample(round, 20))));
}

#[test]
fn a_run_that_was_merged_away_before_it_was_needed_is_missing_and_the_view_superseded() {
    let storage = memory();
    let mut store = open(&storage);
    for round in 0..3 {
        store = flush(&store, 10, &sample(round, 20));
    }
    let late = open(&storage);
    assert!(!late.is_superseded().unwrap());
    store.merge_all().unwrap().unwrap();
    assert!(late.is_superseded().unwrap());
    let missed: Result<Vec<_>, Error> = late.scan(&[0], &[0xff], false).collect();
    assert!(matches!(missed, Err(Error::Derived { .. })));
    assert_eq!(
        live(&open(&storage)),
        folded((0..3).map(|round| sample(round, 20)))
    );
}

/// A run is not opened if the run's entry in the manifest shows that the run cannot hold the key.
#[test]
fn runs_that_cannot_hold_the_key_stay_closed() {
    let storage = memory();
    let mut store = open(&storage);
    let one = |round: u64, key: &str| Changes::from([(key.into(), Some(vec![round as u8]))]);
    for (round, key) in ["\u{1}alpha", "\u{1}beta", "\u{2}gamma", "\u{1}delta"]
        .into_iter()
        .enumerate()
    {
        let mut changes = one(round as u64, key);
        changes.insert(
            series_key(0xf0, &format!("trace-{round}"), round as u64),
            Some(vec![]),
        );
        store = flush(&store, 10, &changes);
    }
    let opened = |ask: &dyn Fn(&Store)| {
        let store = open(&storage);
        ask(&store);
        store.runs_opened()
    };
    let series = |name: &str| (series_key(0xf0, name, 0), series_key(0xf0, name, u64::MAX));
    let walked = |store: &Store, from: &[u8], to: &[u8]| store.scan(from, to, true).count();
    assert_eq!(opened(&|_| ()), 0, "opening reads the manifest alone");
    assert_eq!(
        opened(&|store| assert!(store.get(b"\x01beta").unwrap().is_some())),
        1
    );
    assert_eq!(
        opened(&|store| assert!(store.get(b"\x01nobody").unwrap().is_none())),
        0
    );
    assert_eq!(
        opened(&|store| assert_eq!(store.place(25).unwrap(), Some(place(25)))),
        1
    );
    let (from, to) = series("trace-2");
    assert_eq!(opened(&|store| assert_eq!(walked(store, &from, &to), 1)), 1);
    let (from, to) = series("trace-9");
    assert_eq!(opened(&|store| assert_eq!(walked(store, &from, &to), 0)), 0);
    assert_eq!(opened(&|store| assert_eq!(walked(store, &[2], &[3]), 1)), 1);
    assert_eq!(
        opened(&|store| assert_eq!(walked(store, b"\x01b", b"\x01c"), 1)),
        1
    );
    assert_eq!(opened(&|store| assert_eq!(walked(store, &[1], &[2]), 3)), 3);
    let kept = held(&storage);
    assert_eq!(kept.runs_opened(), 4);
    assert_eq!(flush(&kept, 1, &one(9, "\u{1}omega")).runs_opened(), 5);
    assert_eq!(
        flush(&open(&storage), 1, &one(9, "\u{1}omega")).runs_opened(),
        0
    );
}
