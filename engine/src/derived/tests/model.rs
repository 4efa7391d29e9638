//! Compares the store with a plain map after random histories.

use super::*;
use proptest::prelude::*;

/// One step of a history.
#[derive(Debug, Clone)]
enum Step {
    Change(Vec<u8>, Option<Vec<u8>>),
    Flush(u8),
    Merge,
    MergeAll,
    Reopen,
}

/// Generates one of few different keys, so that keys are overwritten, deleted and shared. Some keys are long, and some are in a series.
fn a_key() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        (1_u8..4, 0_u16..40).prop_map(|(namespace, number)| {
            let mut key = vec![namespace];
            key.extend(format!("task-{number}").into_bytes());
            key
        }),
        (0x80_u8..0x83, 0_u8..6, 0_u64..30).prop_map(|(namespace, name, number)| series_key(
            namespace,
            &"n".repeat(usize::from(name) * 20 + 1),
            number
        )),
        proptest::collection::vec(any::<u8>(), 1..6),
    ]
}

fn a_value() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        8 => proptest::collection::vec(any::<u8>(), 0..60),
        1 => (4000_usize..10_000).prop_map(|len| vec![7; len]),
    ]
}

fn a_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        60 => (a_key(), proptest::option::weighted(0.8, a_value()))
            .prop_map(|(key, value)| Step::Change(key, value)),
        6 => (1_u8..255).prop_map(Step::Flush),
        1 => Just(Step::Merge),
        1 => Just(Step::MergeAll),
        1 => Just(Step::Reopen),
    ]
}

/// Checks one range of a scan, forwards and in reverse, against the model.
fn check_range(
    store: &Store,
    model: &BTreeMap<Vec<u8>, Vec<u8>>,
    from: &[u8],
    to: &[u8],
) -> Result<(), TestCaseError> {
    let all = model
        .iter()
        .map(|(key, value)| (key.clone(), value.clone()));
    let want: Vec<_> = all
        .filter(|(key, _)| from <= key.as_slice() && key.as_slice() < to)
        .collect();
    let got = |reverse| -> Vec<_> {
        let scan = store.scan(from, to, reverse);
        scan.map(|entry| entry.map(|(key, value)| (key, value.to_vec())).unwrap())
            .collect()
    };
    let mut backwards = got(true);
    backwards.reverse();
    prop_assert_eq!(&got(false), &want);
    prop_assert_eq!(&backwards, &want);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn answers_as_a_map_would(
        steps in proptest::collection::vec(a_step(), 1..600),
        asked in proptest::collection::vec((a_key(), a_key()), 30),
    ) {
        let storage = memory();
        let mut store = open(&storage);
        let mut pending = Changes::new();
        let mut model = BTreeMap::new();
        for step in steps {
            match step {
                Step::Change(key, value) => {
                    pending.insert(key, value);
                }
                Step::Flush(events) => {
                    store = flush(&store, u64::from(events) * 3, &pending);
                    model.extend(std::mem::take(&mut pending));
                }
                Step::Merge => store = store.merge(u64::MAX).unwrap().unwrap(),
                Step::MergeAll => store = store.merge_all().unwrap().unwrap(),
                Step::Reopen => store = open(&storage),
            }
        }
        let model = folded([model]);
        prop_assert_eq!(&live(&store), &model);
        for (a, b) in &asked {
            prop_assert_eq!(store.get(a).unwrap().map(|value| value.to_vec()), model.get(a).cloned());
            check_range(&store, &model, a, b)?;
            // Check ranges within one series, with each kind of bound that callers use.
            let series = super::super::filter::filter_key(a);
            let mut end = series.to_vec();
            end.extend([0xff; 8]);
            check_range(&store, &model, series, &end)?;
            let mut end = series.to_vec();
            if let Some(last) = end.last_mut() {
                *last = last.saturating_add(1);
            }
            check_range(&store, &model, series, &end)?;
            check_range(&store, &model, a, &end)?;
        }
        let covered = store.covered().map_or(0, |last| last.seq);
        for seq in 1..=covered {
            prop_assert_eq!(store.place(seq).unwrap(), Some(place(seq)));
        }
        prop_assert_eq!(store.place(0).unwrap(), None);
        prop_assert_eq!(store.place(covered + 1).unwrap(), None);
        prop_assert!(store.damaged().is_none());
    }
}

#[test]
fn a_deep_tree_finds_every_key() {
    let storage = memory();
    // Long keys leave room for few entries in an index block, so the tree gets four levels.
    let key = |number: u32| {
        let mut key = vec![1; 900];
        key.extend(number.to_be_bytes());
        key
    };
    let changes: Changes = (0..600)
        .map(|number| (key(number * 2), Some(vec![3])))
        .collect();
    let store = flush(&open(&storage), 1, &changes);
    for number in 0..1200 {
        let found = store.get(&key(number)).unwrap();
        assert_eq!(found.is_some(), number % 2 == 0, "key {number}");
        let above = store
            .scan(&key(number), &[2], false)
            .next()
            .unwrap_or_else(|| Ok((vec![], crate::storage::Bytes::new([]))));
        let want = if number < 1199 {
            key(number.next_multiple_of(2))
        } else {
            vec![]
        };
        assert_eq!(above.unwrap().0, want, "from {number}");
        let below = store.scan(&[1], &key(number), true).next();
        let want = (number > 0).then(|| key((number - 1) / 2 * 2));
        assert_eq!(below.map(|entry| entry.unwrap().0), want, "below {number}");
    }
}

#[test]
fn separators_of_every_length_lead_to_every_key() {
    let storage = memory();
    let mut state = 1_u64;
    let mut random = |below: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) % below
    };
    // The keys have a long common prefix and a short end of varying length. So separators can be shortened much on each level of a deep
    // tree.
    let mut changes = Changes::new();
    for _ in 0..3000 {
        let mut key = vec![1; 600];
        for _ in 0..=random(7) {
            key.push(b'a' + random(4) as u8);
        }
        changes.insert(key, Some(vec![2; 200]));
    }
    let store = flush(&open(&storage), 1, &changes);
    for key in changes.keys() {
        assert!(store.get(key).unwrap().is_some());
        let first = store.scan(key, &[2], false).next().unwrap().unwrap();
        assert_eq!(&first.0, key);
    }
}
