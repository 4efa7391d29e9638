//! Tests that damage to any file of the store is detected, or is harmless.

use super::*;
use crate::prelude::*;

/// Creates a store of one small run, with all of its answers.
fn small() -> (Arc<dyn Storage>, Truth) {
    let storage = memory();
    let changes = sample(0, 60);
    let store = flush(&open(&storage), 5, &changes);
    let truth = Truth {
        live: folded([changes]),
        events: 5,
        runs: store.runs().len(),
    };
    (storage, truth)
}

struct Truth {
    live: BTreeMap<Vec<u8>, Vec<u8>>,
    events: u64,
    runs: usize,
}

impl Truth {
    /// Compares all answers; an `Err` is detected damage. Panics on a wrong answer.
    fn ask(&self, store: &Store) -> Result<(), Error> {
        for (key, value) in &self.live {
            assert_eq!(store.get(key)?.as_deref(), Some(value.as_slice()));
        }
        assert_eq!(store.get(b"\x01nobody")?.as_deref(), None);
        for seq in 1..=self.events {
            assert_eq!(store.place(seq)?, Some(place(seq)));
        }
        for reverse in [false, true] {
            let mut got = BTreeMap::new();
            for entry in store.scan(&[0], &[0xff; 8], reverse) {
                let (key, value) = entry?;
                got.insert(key, value.to_vec());
            }
            assert_eq!(got, self.live);
        }
        Ok(())
    }
    /// Returns true if damage was detected. Damage shows as an error that names a run, or as an empty store.
    fn notices(&self, storage: &Arc<dyn Storage>) -> bool {
        let store = open(storage);
        if store.runs().is_empty() {
            assert!(store.covered().is_none());
            let named = storage.stat(&Path::new(DIR).join("manifest")).unwrap();
            assert_eq!(store.left_out().is_some(), named.is_some());
            return true;
        }
        assert_eq!(store.left_out(), None);
        let checked = open(storage).check();
        assert_eq!(store.runs().len(), self.runs);
        match self.ask(&store) {
            Ok(()) => {
                assert_eq!(checked.unwrap(), self.runs);
                false
            }
            Err(Error::Derived { .. }) => {
                assert!(store.damaged().is_some());
                assert!(matches!(checked, Err(Error::Derived { .. })));
                assert!(store.covered().is_none_or(|last| last.seq < self.events));
                true
            }
            Err(error) => panic!("{error}"),
        }
    }
}

fn only_run(storage: &Arc<dyn Storage>) -> std::path::PathBuf {
    Path::new(DIR).join(&open(storage).runs().first().unwrap().name)
}

#[test]
fn every_flipped_bit_is_noticed() {
    let (storage, truth) = small();
    assert!(!truth.notices(&storage));
    let run = only_run(&storage);
    for path in [run, Path::new(DIR).join("manifest")] {
        let file = storage.open(&path, OpenMode::Write).unwrap();
        for offset in 0..file.stat().unwrap().len {
            let mut byte = [0];
            file.read_exact_at(&mut byte, offset).unwrap();
            for bit in 0..8 {
                file.write_all_at(&[byte[0] ^ (1 << bit)], offset).unwrap();
                assert!(
                    truth.notices(&storage),
                    "bit {bit} of byte {offset} in {}",
                    path.display()
                );
            }
            file.write_all_at(&byte, offset).unwrap();
        }
    }
    assert!(!truth.notices(&storage));
}

#[test]
fn every_truncation_is_noticed() {
    let (storage, truth) = small();
    for path in [only_run(&storage), Path::new(DIR).join("manifest")] {
        let whole = storage.read(&path, 1 << 20).unwrap();
        for len in (0..whole.len()).rev() {
            let file = storage.open(&path, OpenMode::Write).unwrap();
            file.set_len(len as u64).unwrap();
            assert!(truth.notices(&storage), "{} cut to {len}", path.display());
        }
        storage.replace(&path, &whole, false).unwrap();
        assert!(!truth.notices(&storage));
    }
}

#[test]
fn pages_that_never_reached_the_disk_are_noticed() {
    let (storage, truth) = small();
    let path = only_run(&storage);
    let whole = storage.read(&path, 1 << 20).unwrap();
    for page in 0..whole.len() / 4096 {
        let mut holed = whole.clone();
        holed[page * 4096..][..4096].fill(0);
        storage.replace(&path, &holed, false).unwrap();
        assert!(truth.notices(&storage), "page {page} is zeros");
        for other in 0..whole.len() / 4096 {
            let mut swapped = whole.clone();
            swapped.copy_within(other * 4096..(other + 1) * 4096, page * 4096);
            storage.replace(&path, &swapped, false).unwrap();
            assert_eq!(truth.notices(&storage), other != page, "{other} at {page}");
        }
    }
}

/// Damages the second of three runs by `spoil`, then detects and repairs the damage.
fn mends(spoil: impl Fn(&dyn Storage, &Path)) {
    let storage = memory();
    let rounds: Vec<Changes> = (0..3).map(|round| sample(round, 100)).collect();
    let mut store = open(&storage);
    for changes in &rounds {
        store = flush(&store, 10, changes);
    }
    let names: Vec<String> = store.runs().into_iter().map(|run| run.name).collect();
    spoil(&*storage, &Path::new(DIR).join(&names[1]));

    let store = open(&storage);
    // The walk needs the damaged run, so its failure shows the damage.
    let walk: Result<Vec<_>, Error> = store.scan(&[0], &[0xff], false).collect();
    assert!(matches!(walk, Err(Error::Derived { .. })));
    let damaged = store.damaged().unwrap();
    assert_eq!((damaged.first_seq, damaged.last.seq), (11, 20));
    assert_eq!(store.covered(), Some(anchor(10)));

    let before = store.before(damaged.first_seq);
    assert_eq!(live(&before), folded([rounds[0].clone()]));
    let mended = write(&store, 11, 20, &rounds[1]).unwrap();
    assert_eq!(mended.damaged(), None);
    for store in [mended, open(&storage)] {
        assert_eq!(live(&store), folded(rounds.clone()));
        assert_eq!(store.covered(), Some(anchor(30)));
        assert_eq!(store.place(15).unwrap(), Some(place(15)));
        assert_eq!(store.runs().len(), 3);
        assert_ne!(store.runs()[1].name, names[1]);
    }
}

#[test]
fn a_deleted_run_is_mended() {
    mends(|storage, path| storage.remove_file(path).unwrap());
}

#[test]
fn a_cut_run_is_mended() {
    mends(|storage, path| {
        let file = storage.open(path, OpenMode::Write).unwrap();
        file.set_len(4096).unwrap();
    });
}

#[test]
fn a_run_with_a_damaged_block_is_mended() {
    mends(|storage, path| {
        // The first page holds the places; the second page holds the first entries.
        let file = storage.open(path, OpenMode::Write).unwrap();
        file.write_all_at(&[0xaa; 8], 4096 + 100).unwrap();
    });
}

#[test]
fn another_run_in_its_place_is_mended() {
    mends(|storage, path| {
        let other = path.with_file_name("00000001.run");
        let bytes = storage.read(&other, 1 << 20).unwrap();
        storage.replace(path, &bytes, false).unwrap();
    });
}

#[test]
fn a_view_before_the_damage_can_be_built_upon() {
    let storage = memory();
    let rounds: Vec<Changes> = (0..4).map(|round| sample(round, 30)).collect();
    let mut store = open(&storage);
    for changes in &rounds {
        store = flush(&store, 10, changes);
    }
    let shorter = flush(&store.before(21), 5, &rounds[2]);
    assert_eq!(shorter.covered(), Some(anchor(25)));
    for store in [shorter, open(&storage)] {
        assert_eq!(live(&store), folded(rounds[..3].to_vec()));
        assert_eq!(store.runs().len(), 3);
    }
}

#[test]
fn a_store_without_its_manifest_is_empty_and_can_be_built_again() {
    let (storage, truth) = small();
    storage
        .remove_file(&Path::new(DIR).join("manifest"))
        .unwrap();
    let store = open(&storage);
    assert!(store.runs().is_empty() && store.covered().is_none() && store.damaged().is_none());
    let store = flush(&store, 5, &sample(0, 60));
    truth.ask(&store).unwrap();
    let names = storage.list(Path::new(DIR)).unwrap();
    assert_eq!(names, ["00000002.run", "manifest"], "the orphan is gone");
}

/// The next writer replaces any file or directory in the place of the store or its files.
#[test]
fn what_stands_in_the_way_of_the_store_gives_way_to_the_next_writer() {
    let on_disk = || {
        let (dir, storage) = files();
        (Some(dir), storage)
    };
    for make in [on_disk, || (None, memory())] {
        for (place, is_dir) in [
            ("teams/demo/derived", false),
            ("teams/demo/derived/v1", false),
            ("teams/demo/derived/v1/manifest", true),
            ("teams/demo/derived/v1/00000001.run", true),
        ] {
            let (_dir, storage) = make();
            let changes = sample(0, 60);
            flush(&open(&storage), 5, &changes);
            let at = Path::new(place);
            match is_dir {
                true => {
                    storage.remove_file(at).unwrap();
                    storage.create_dir_all(&at.join("inside")).unwrap();
                }
                false => {
                    storage.remove_dir_all(at).unwrap();
                    storage.replace(at, b"x", false).unwrap();
                }
            }
            let store = held(&storage);
            assert!(store.covered().is_none(), "{place}: nothing of it counts");
            let base = match store.damaged() {
                Some(run) => store.before(run.first_seq),
                None => store,
            };
            let truth = Truth {
                live: folded([changes.clone()]),
                events: 5,
                runs: 1,
            };
            truth.ask(&flush(&base, 5, &changes)).unwrap();
            let again = open(&storage);
            truth.ask(&again).unwrap();
            assert_eq!(again.left_out(), None, "{place}");
            let names = storage.list(Path::new(DIR)).unwrap();
            assert_eq!(names.len(), 2, "{place}: {names:?}");
        }
    }
}
