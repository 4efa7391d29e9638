//! Tests of the storage in memory.

use super::*;
use crate::storage::locks_test::testing_locks;
use crate::storage::test_support::{fails, path};
use std::collections::BTreeSet;
use std::io::ErrorKind;

/// Creates a memory with `f`, named and synced, holding `bytes`.
fn with_file(bytes: &[u8]) -> (Memory, Box<dyn File>) {
    let memory = Memory::new();
    let file = memory.open(path("f"), OpenMode::CreateNew).unwrap();
    file.write_all_at(bytes, 0).unwrap();
    file.sync_data().unwrap();
    memory.sync_dir(path("")).unwrap();
    (memory, file)
}

/// Writes to an existing file.
fn write(memory: &Memory, at: &str, bytes: &[u8], offset: u64) {
    let file = memory.open(path(at), OpenMode::Write).unwrap();
    file.write_all_at(bytes, offset).unwrap();
}

/// Creates an empty memory with the given directories, durably.
fn with_dirs(dirs: &[&str]) -> Memory {
    let memory = Memory::new();
    dirs.iter()
        .for_each(|dir| memory.create_dir_all(path(dir)).unwrap());
    memory.sync_dir(path("")).unwrap();
    memory
}

fn read(memory: &Memory, at: &str) -> Option<Vec<u8>> {
    memory
        .stat(path(at))
        .unwrap()
        .map(|_| memory.read(path(at), 1 << 20).unwrap())
}

/// Returns the different contents of `f` after a crash.
fn outcomes(memory: &Memory) -> BTreeSet<Vec<u8>> {
    memory
        .crashes()
        .map(|left| read(&left, "f").unwrap())
        .collect()
}

/// Returns a text for each directory and each file of a tree. The text of a file contains its content.
fn tree(memory: &Memory, dir: &Path) -> Vec<String> {
    let mut lines = Vec::new();
    for name in memory.list(dir).unwrap() {
        let at = dir.join(name);
        if memory.stat(&at).unwrap().unwrap().is_dir {
            lines.push(format!("{}/", at.display()));
            lines.extend(tree(memory, &at));
        } else {
            let bytes = memory.read(&at, 1 << 20).unwrap();
            lines.push(format!(
                "{}={}",
                at.display(),
                String::from_utf8_lossy(&bytes)
            ));
        }
    }
    lines
}

fn trees(memory: &Memory) -> BTreeSet<Vec<String>> {
    memory.crashes().map(|left| tree(&left, path(""))).collect()
}

fn set<const N: usize>(trees: [&[&str]; N]) -> BTreeSet<Vec<String>> {
    trees
        .iter()
        .map(|tree| tree.iter().map(|line| (*line).to_owned()).collect())
        .collect()
}

#[test]
fn a_synced_file_without_a_synced_name_is_lost() {
    let memory = Memory::new();
    let file = memory.open(path("f"), OpenMode::CreateNew).unwrap();
    file.write_all_at(b"x", 0).unwrap();
    file.sync_all().unwrap();
    assert_eq!(read(&memory.lose_unsynced(), "f"), None);
    assert_eq!(read(&memory.keep_unsynced(), "f").unwrap(), b"x");
    memory.sync_dir(path("")).unwrap();
    assert_eq!(read(&memory.lose_unsynced(), "f").unwrap(), b"x");
}

#[test]
fn a_synced_name_without_synced_bytes_is_an_empty_file() {
    let memory = Memory::new();
    let file = memory.open(path("f"), OpenMode::Create).unwrap();
    file.write_all_at(b"x", 0).unwrap();
    memory.sync_dir(path("")).unwrap();
    assert_eq!(read(&memory.lose_unsynced(), "f").unwrap(), b"");
    assert_eq!(outcomes(&memory), [vec![], vec![0], vec![b'x']].into());
}

/// Fills each piece of `bytes` whose bit is set in `subset`.
fn fill_subset(bytes: &mut [u8], subset: usize, pieces: [std::ops::Range<usize>; 3]) {
    for (n, piece) in pieces.into_iter().enumerate() {
        if subset >> n & 1 == 1 {
            bytes[piece].fill(b'b');
        }
    }
}

#[test]
fn an_overwrite_lands_in_any_subset_of_its_sectors() {
    let (memory, file) = with_file(&[b'a'; 3 * 512]);
    // The write covers three pieces, from the middle of the first sector to the middle of the third sector.
    file.write_all_at(&[b'b'; 1024], 256).unwrap();
    let mut expected = BTreeSet::new();
    for subset in 0..8 {
        let mut bytes = vec![b'a'; 3 * 512];
        fill_subset(&mut bytes, subset, [256..512, 512..1024, 1024..1280]);
        expected.insert(bytes);
    }
    assert_eq!(outcomes(&memory), expected);
    file.sync_data().unwrap();
    assert_eq!(outcomes(&memory).len(), 1);
}

#[test]
fn growth_ends_anywhere_and_may_be_ahead_of_its_bytes() {
    let (memory, file) = with_file(&[b'a'; 100]);
    file.write_all_at(&[b'b'; 1000], 100).unwrap();
    let mut expected = BTreeSet::new();
    for len in [100, 512, 1024, 1100] {
        for subset in 0..8 {
            let mut bytes = vec![b'a'; 100];
            bytes.resize(1100, 0);
            fill_subset(&mut bytes, subset, [100..512, 512..1024, 1024..1100]);
            bytes.truncate(len);
            expected.insert(bytes);
        }
    }
    assert_eq!(outcomes(&memory), expected);
}

#[test]
fn a_cut_lands_or_not_and_what_grows_back_is_zero() {
    let (memory, file) = with_file(b"abcdef");
    file.set_len(2).unwrap();
    assert_eq!(
        outcomes(&memory),
        [b"abcdef".to_vec(), b"ab".to_vec()].into()
    );
    file.set_len(4).unwrap();
    assert_eq!(read(&memory, "f").unwrap(), b"ab\0\0");
    let expected = ["abcdef", "ab", "abcd", "ab\0\0"].map(|text| text.as_bytes().to_vec());
    assert_eq!(outcomes(&memory), expected.into());
    file.sync_data().unwrap();
    assert_eq!(outcomes(&memory), [b"ab\0\0".to_vec()].into());
}

#[test]
fn a_write_past_the_end_leaves_a_hole_of_zeros() {
    let (memory, file) = with_file(b"ab");
    file.write_all_at(b"z", 4).unwrap();
    assert_eq!(read(&memory, "f").unwrap(), b"ab\0\0z");
    let expected = ["ab", "ab\0\0\0", "ab\0\0z"].map(|text| text.as_bytes().to_vec());
    assert_eq!(outcomes(&memory), expected.into());
}

#[test]
fn later_writes_may_land_without_earlier_ones() {
    let (memory, file) = with_file(&[0; 1024]);
    file.write_all_at(b"1", 0).unwrap();
    file.write_all_at(b"2", 600).unwrap();
    file.write_all_at(b"3", 0).unwrap();
    let firsts_and_seconds: BTreeSet<(u8, u8)> = outcomes(&memory)
        .into_iter()
        .map(|bytes| (bytes[0], bytes[600]))
        .collect();
    let expected = [0, b'1', b'3']
        .into_iter()
        .flat_map(|first| [(first, 0), (first, b'2')])
        .collect();
    assert_eq!(firsts_and_seconds, expected);
}

#[test]
fn a_sync_of_one_file_leaves_others_unsynced() {
    let (memory, file) = with_file(b"a");
    let other = memory.open(path("g"), OpenMode::CreateNew).unwrap();
    memory.sync_dir(path("")).unwrap();
    other.write_all_at(b"o", 0).unwrap();
    file.write_all_at(b"b", 0).unwrap();
    file.sync_data().unwrap();
    let left = memory.lose_unsynced();
    assert_eq!(
        (read(&left, "f").unwrap(), read(&left, "g").unwrap()),
        (b"b".to_vec(), vec![])
    );
}

#[test]
fn a_handle_syncs_what_another_handle_wrote() {
    let (memory, file) = with_file(b"a");
    write(&memory, "f", b"b", 0);
    file.sync_data().unwrap();
    assert_eq!(read(&memory.lose_unsynced(), "f").unwrap(), b"b");
}

#[test]
fn names_land_in_order_up_to_any_point() {
    let memory = with_dirs(&["d"]);
    memory.open(path("d/a"), OpenMode::CreateNew).unwrap();
    memory.rename(path("d/a"), path("d/b")).unwrap();
    memory.open(path("d/c"), OpenMode::CreateNew).unwrap();
    memory.remove_file(path("d/b")).unwrap();
    let expected = set([
        &["d/"],
        &["d/", "d/a="],
        &["d/", "d/b="],
        &["d/", "d/b=", "d/c="],
        &["d/", "d/c="],
    ]);
    assert_eq!(trees(&memory), expected);
    memory.sync_dir(path("d")).unwrap();
    assert_eq!(trees(&memory), set([&["d/", "d/c="]]));
}

#[test]
fn a_replaced_file_is_the_old_or_the_new_one() {
    let memory = Memory::new();
    memory.replace(path("f"), b"old", true).unwrap();
    assert_eq!(trees(&memory), set([&["f=old"]]));
    // The file is synced, but its name is not.
    let file = memory.open(path("f.tmp"), OpenMode::Create).unwrap();
    file.write_all_at(b"new", 0).unwrap();
    file.sync_all().unwrap();
    memory.rename(path("f.tmp"), path("f")).unwrap();
    assert_eq!(
        trees(&memory),
        set([&["f=old"], &["f=old", "f.tmp=new"], &["f=new"]])
    );
    // Neither the content nor the name is synced, so an empty file may replace the old file.
    memory.replace(path("f"), b"third", false).unwrap();
    assert!(trees(&memory).contains(&vec!["f=".to_owned()]));
    memory.replace(path("f"), b"fourth", true).unwrap();
    assert_eq!(trees(&memory), set([&["f=fourth"]]));
}

#[test]
fn a_synced_directory_is_lost_with_an_unsynced_parent() {
    let memory = Memory::new();
    memory.create_dir_all(path("a/b")).unwrap();
    memory.open(path("a/b/f"), OpenMode::CreateNew).unwrap();
    memory.sync_dir(path("a/b")).unwrap();
    assert_eq!(
        trees(&memory),
        set([&[], &["a/"], &["a/", "a/b/", "a/b/f="]])
    );
    memory.sync_dir(path("a")).unwrap();
    assert_eq!(trees(&memory), set([&[], &["a/", "a/b/", "a/b/f="]]));
    memory.sync_dir(path("")).unwrap();
    assert_eq!(trees(&memory), set([&["a/", "a/b/", "a/b/f="]]));
}

#[test]
fn a_rename_between_directories_lands_whole() {
    let memory = Memory::new();
    memory.create_dir(path("a")).unwrap();
    memory.create_dir(path("b")).unwrap();
    memory.open(path("a/f"), OpenMode::CreateNew).unwrap();
    for dir in ["", "a", "b"] {
        memory.sync_dir(path(dir)).unwrap();
    }
    memory.open(path("b/before"), OpenMode::CreateNew).unwrap();
    memory.rename(path("a/f"), path("b/f")).unwrap();
    memory.open(path("a/after"), OpenMode::CreateNew).unwrap();
    let states = trees(&memory);
    assert_eq!(
        states,
        set([
            &["a/", "a/f=", "b/"],
            &["a/", "a/f=", "b/", "b/before="],
            &["a/", "b/", "b/before=", "b/f="],
            &["a/", "a/after=", "b/", "b/before=", "b/f="],
        ])
    );
    // The sync of one directory also makes the rename and earlier changes of the other directory durable, but no later changes.
    memory.sync_dir(path("b")).unwrap();
    assert_eq!(
        tree(&memory.lose_unsynced(), path("")),
        ["a/", "b/", "b/before=", "b/f="]
    );
}

#[test]
fn a_removed_tree_goes_name_by_name() {
    let memory = Memory::new();
    memory.create_dir(path("d")).unwrap();
    for name in ["d/a", "d/b"] {
        memory.open(path(name), OpenMode::CreateNew).unwrap();
    }
    memory.sync_dir(path("d")).unwrap();
    memory.sync_dir(path("")).unwrap();
    memory.remove_dir_all(path("d")).unwrap();
    assert_eq!(
        trees(&memory),
        set([&["d/", "d/a=", "d/b="], &["d/", "d/b="], &["d/"], &[]])
    );
}

#[test]
fn a_crash_or_snapshot_is_independent() {
    let (memory, file) = with_file(b"a");
    file.write_all_at(b"b", 0).unwrap();
    let (copy, crashed) = (memory.snapshot(), memory.lose_unsynced());
    // The copy still has its unsynced write.
    assert_eq!(outcomes(&copy), [b"a".to_vec(), b"b".to_vec()].into());
    write(&copy, "f", b"c", 0);
    write(&crashed, "f", b"d", 0);
    copy.remove_file(path("f")).unwrap();
    assert_eq!(read(&memory, "f").unwrap(), b"b");
    assert_eq!(read(&crashed, "f").unwrap(), b"d");
    assert_eq!(outcomes(&memory), [b"a".to_vec(), b"b".to_vec()].into());
    assert_eq!(
        memory.stat(path("f")).unwrap(),
        memory.lose_unsynced().stat(path("f")).unwrap()
    );
}

#[test]
fn a_snapshot_keeps_one_file_one() {
    let (memory, file) = with_file(b"a");
    memory.rename(path("f"), path("g")).unwrap();
    let copy = memory.snapshot();
    // The file has its durable name and a new name. A write through the new name is visible through the durable name.
    let written = copy.open(path("g"), OpenMode::Write).unwrap();
    written.write_all_at(b"z", 0).unwrap();
    written.sync_data().unwrap();
    assert_eq!(tree(&copy.lose_unsynced(), path("")), ["f=z"]);
    drop(file);
}

#[test]
fn directories_moved_into_each_other_do_not_loop() {
    let memory = with_dirs(&["a", "b"]);
    memory.rename(path("a"), path("b/a")).unwrap();
    memory.rename(path("b/a"), path("a")).unwrap();
    memory.rename(path("b"), path("a/b")).unwrap();
    let states = trees(&memory.snapshot());
    assert_eq!(
        states,
        set([&["a/", "b/"], &["b/", "b/a/"], &["a/", "a/b/"]])
    );
    assert!(memory.rename(path("a"), path("a/b/a")).is_err());
}

#[test]
fn locks_vanish_with_a_crash_and_a_snapshot() {
    let memory = Memory::new();
    let _held = memory.lock(path("lock"), Duration::ZERO).unwrap();
    let lock = |memory: &Memory| memory.lock(path("lock"), Duration::ZERO);
    assert!(matches!(lock(&memory), Err(LockError::Busy(_))));
    lock(&memory.snapshot()).unwrap();
    lock(&memory.lose_unsynced()).unwrap();
}

#[test]
fn locks_exclude_with_deadlines() {
    testing_locks(Arc::new(Memory::new()));
}

#[test]
fn a_clone_shares() {
    let memory = Memory::new();
    memory.clone().open(path("f"), OpenMode::CreateNew).unwrap();
    assert_eq!(memory.list(path("")).unwrap(), ["f"]);
}

#[test]
fn damage_is_on_the_disk() {
    let (memory, file) = with_file(b"abc");
    memory.corrupt(path("f"), 1, 0x20).unwrap();
    assert_eq!(read(&memory, "f").unwrap(), b"aBc");
    assert_eq!(read(&memory.lose_unsynced(), "f").unwrap(), b"aBc");
    assert!(memory.corrupt(path("f"), 3, 1).is_err());
    file.write_all_at(b"d", 3).unwrap();
    memory.truncate(path("f"), 2).unwrap();
    assert_eq!(outcomes(&memory), [b"aB".to_vec()].into());
    assert!(memory.truncate(path("f"), 3).is_err());
    assert!(memory.corrupt(path("none"), 0, 1).is_err());
}

#[test]
fn a_forgotten_write_reads_well_until_the_crash_whatever_is_synced() {
    let (memory, file) = with_file(b"old");
    file.write_all_at(b"NEW and more", 0).unwrap();
    memory.forget_unsynced(path("f")).unwrap();
    file.sync_data().unwrap();
    file.write_all_at(b"!", 12).unwrap();
    file.sync_data().unwrap();
    assert_eq!(read(&memory, "f").unwrap(), b"NEW and more!");
    assert_eq!(
        outcomes(&memory),
        [b"old\0\0\0\0\0\0\0\0\0!".to_vec()].into()
    );
    // Writing the bytes again makes them durable.
    file.write_all_at(b"NEW and more", 0).unwrap();
    file.sync_data().unwrap();
    assert_eq!(outcomes(&memory), [b"NEW and more!".to_vec()].into());
}

#[test]
fn refuses_what_a_directory_tree_refuses() {
    let (memory, _) = with_file(b"abc");
    memory.create_dir_all(path("d/e")).unwrap();
    fails(
        memory.open(path("none"), OpenMode::Read),
        ErrorKind::NotFound,
    );
    fails(
        memory.open(path("none/f"), OpenMode::Create),
        ErrorKind::NotFound,
    );
    fails(
        memory.open(path("f/x"), OpenMode::Create),
        ErrorKind::NotADirectory,
    );
    fails(
        memory.open(path("d"), OpenMode::Write),
        ErrorKind::IsADirectory,
    );
    fails(
        memory.open(path("f"), OpenMode::CreateNew),
        ErrorKind::AlreadyExists,
    );
    fails(
        memory.open(path("d/../f"), OpenMode::Read),
        ErrorKind::InvalidInput,
    );
    fails(memory.create_dir(path("f/x")), ErrorKind::NotADirectory);
    fails(
        memory.rename(path("d"), path("f")),
        ErrorKind::NotADirectory,
    );
    fails(memory.rename(path("f"), path("d")), ErrorKind::IsADirectory);
    memory.create_dir(path("x")).unwrap();
    fails(
        memory.rename(path("x"), path("d")),
        ErrorKind::DirectoryNotEmpty,
    );
    memory.rename(path("x"), path("d/e")).unwrap();
    fails(
        memory.rename(path("d"), path("d/e/d")),
        ErrorKind::InvalidInput,
    );
    fails(memory.remove_file(path("d")), ErrorKind::IsADirectory);
    fails(memory.remove_dir_all(path("f")), ErrorKind::NotADirectory);
    fails(memory.remove_dir_all(path("")), ErrorKind::InvalidInput);
    fails(memory.list(path("f")), ErrorKind::NotADirectory);
    fails(memory.sync_dir(path("none")), ErrorKind::NotFound);
    assert_eq!(memory.stat(path("none/f")).unwrap(), None);
    let reader = memory.open(path("f"), OpenMode::Read).unwrap();
    assert!(reader.write_at(b"x", 0).is_err());
    assert_eq!(read(&memory, "f").unwrap(), b"abc");
}

#[test]
fn counts_calls() {
    let (memory, file) = with_file(b"abc");
    file.sync_data().unwrap();
    let calls = memory.calls();
    let counts = ["sync_data", "sync_dir", "write_at", "open"].map(|name| calls[name]);
    assert_eq!(counts, [2, 1, 1, 1]);
    assert_eq!(calls.get("rename"), None);
}

#[test]
fn sealed_bytes_stay_what_they_were() {
    let (memory, file) = with_file(b"abc");
    let sealed = memory.sealed(path("f")).unwrap();
    file.write_all_at(b"x", 0).unwrap();
    assert_eq!(&*sealed, b"abc");
}

#[test]
fn a_crash_copies_only_what_was_not_synced() {
    let memory = Memory::new();
    for n in 0..20 {
        let file = memory
            .open(path(&format!("f{n}")), OpenMode::CreateNew)
            .unwrap();
        file.write_all_at(&[1; 100_000], 0).unwrap();
        file.sync_data().unwrap();
    }
    memory.sync_dir(path("")).unwrap();
    memory
        .open(path("f0"), OpenMode::Write)
        .unwrap()
        .write_all_at(&[2; 600], 1000)
        .unwrap();
    // Only the file with an unsynced write is copied. The other files are shared.
    let bytes =
        |left: &Memory, at: &str| guard(&left.file(path(at)).unwrap().content).now().clone();
    let all: Vec<Memory> = memory.crashes().collect();
    assert_eq!(all.len(), 8);
    for left in &all[1..] {
        assert!(Arc::ptr_eq(&bytes(&all[0], "f1"), &bytes(left, "f1")));
        assert!(!Arc::ptr_eq(&bytes(&all[0], "f0"), &bytes(left, "f0")));
    }
}
