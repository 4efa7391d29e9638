//! Compares the overlay with a plain map.

use super::*;
use crate::derived::Overlay;
use proptest::prelude::*;

#[derive(Debug, Clone)]
enum Step {
    Change(u8, Option<u8>),
    Begin,
    Commit,
    Rollback,
    Flush,
}

fn a_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        20 => (0_u8..60, proptest::option::weighted(0.7, any::<u8>()))
            .prop_map(|(key, value)| Step::Change(key, value)),
        2 => Just(Step::Begin),
        1 => Just(Step::Commit),
        1 => Just(Step::Rollback),
        1 => Just(Step::Flush),
    ]
}

fn entries(scan: super::super::OverlayScan<'_>) -> Vec<(Vec<u8>, Vec<u8>)> {
    scan.map(|entry| {
        entry
            .map(|(key, value)| (key.into_owned(), value.to_vec()))
            .unwrap()
    })
    .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn reads_as_a_map_would(steps in proptest::collection::vec(a_step(), 1..300), from in 0_u8..70, to in 0_u8..70) {
        let storage = memory();
        let mut overlay = Overlay::new(open(&storage));
        let mut settled: BTreeMap<Vec<u8>, Vec<u8>> = BTreeMap::new();
        let mut all = settled.clone();
        let mut begun = false;
        for step in steps {
            match step {
                Step::Change(key, Some(value)) => {
                    overlay.put([1, key], [value]);
                    all.insert(vec![1, key], vec![value]);
                }
                Step::Change(key, None) => {
                    overlay.delete([1, key]);
                    all.remove(&vec![1, key]);
                }
                Step::Begin => {
                    overlay.begin();
                    begun = true;
                }
                Step::Commit => {
                    overlay.commit();
                    begun = false;
                }
                Step::Rollback => {
                    overlay.rollback();
                    begun = false;
                    all.clone_from(&settled);
                }
                Step::Flush => {
                    let changes = overlay.changes();
                    let changes = changes.map(|(key, value)| (key.to_vec(), value.map(<[u8]>::to_vec)));
                    let store = flush(overlay.store(), 1, &changes.collect());
                    overlay.flushed(store);
                    prop_assert!(overlay.is_empty());
                }
            }
            if !begun {
                settled.clone_from(&all);
            }
        }
        for (view, model) in [(overlay.view(), &all), (overlay.settled(), &settled)] {
            for key in 0..60 {
                let key = vec![1, key];
                prop_assert_eq!(view.get(&key).unwrap().map(|value| value.to_vec()), model.get(&key).cloned());
            }
            let (from, to) = ([1, from], [1, to]);
            let want = model.iter().filter(|(key, _)| from.as_slice() <= key.as_slice() && key.as_slice() < to.as_slice());
            let want: Vec<_> = want.map(|(key, value)| (key.clone(), value.clone())).collect();
            let mut backwards = entries(view.scan(&from, &to, true));
            backwards.reverse();
            prop_assert_eq!(&entries(view.scan(&from, &to, false)), &want);
            prop_assert_eq!(&backwards, &want);
        }
    }
}

#[test]
fn memory_is_counted() {
    let storage = memory();
    let mut overlay = Overlay::new(open(&storage));
    assert_eq!(overlay.bytes(), 0);
    overlay.put(*b"\x01key", [0; 100]);
    let one = overlay.bytes();
    assert!((104..300).contains(&one), "{one}");
    overlay.put(*b"\x01key", [0; 150]);
    assert_eq!(overlay.bytes(), one + 50);
    overlay.begin();
    overlay.delete(*b"\x01key");
    assert!(overlay.bytes() > one + 50);
    overlay.commit();
    assert_eq!(overlay.bytes(), one - 100);
    overlay.flushed(open(&storage));
    assert_eq!(overlay.bytes(), 0);
}
