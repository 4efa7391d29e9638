//! Compares a directory tree with the storage in memory after random histories. Both must give the same answers, call by call,
//! and the same tree at the end. In memory, the state after a crash must be between no and all unsynced changes.

use super::{Files, Memory, OpenMode, Storage};
use proptest::prelude::*;
use std::io;
use std::path::Path;

#[derive(Debug, Clone)]
enum Step {
    Open(String, u8),
    Write(String, u16, Vec<u8>),
    SetLen(String, u16),
    SyncFile(String),
    CreateDir(String),
    Rename(String, String),
    RemoveFile(String),
    RemoveDirAll(String),
    SyncDir(String),
    List(String),
    Replace(String, bool),
}

fn paths() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(vec!["a", "b", "c"]), 1..4)
        .prop_map(|names| names.join("/"))
}

fn steps() -> impl Strategy<Value = Step> {
    let bytes = prop::collection::vec(1..=255_u8, 0..1200);
    prop_oneof![
        4 => (paths(), 0..4_u8).prop_map(|(path, how)| Step::Open(path, how)),
        4 => (paths(), 0..2000_u16, bytes).prop_map(|(path, at, bytes)| Step::Write(path, at, bytes)),
        1 => (paths(), 0..2000_u16).prop_map(|(path, len)| Step::SetLen(path, len)),
        2 => paths().prop_map(Step::SyncFile),
        4 => paths().prop_map(Step::CreateDir),
        4 => (paths(), paths()).prop_map(|(from, to)| Step::Rename(from, to)),
        1 => paths().prop_map(Step::RemoveFile),
        1 => paths().prop_map(Step::RemoveDirAll),
        2 => paths().prop_map(Step::SyncDir),
        2 => (paths(), any::<bool>()).prop_map(|(path, durable)| Step::Replace(path, durable)),
    ]
}

fn run(storage: &dyn Storage, step: &Step) -> io::Result<()> {
    match step {
        Step::Open(path, how) => {
            let how = [
                OpenMode::Read,
                OpenMode::Write,
                OpenMode::CreateNew,
                OpenMode::Create,
            ][usize::from(*how)];
            storage.open(Path::new(path), how).map(drop)
        }
        Step::Write(path, at, bytes) => storage
            .open(Path::new(path), OpenMode::Write)?
            .write_all_at(bytes, (*at).into()),
        Step::SetLen(path, len) => storage
            .open(Path::new(path), OpenMode::Write)?
            .set_len((*len).into()),
        Step::SyncFile(path) => storage.open(Path::new(path), OpenMode::Write)?.sync_data(),
        Step::CreateDir(path) => storage.create_dir(Path::new(path)),
        Step::Rename(from, to) => storage.rename(Path::new(from), Path::new(to)),
        Step::RemoveFile(path) => storage.remove_file(Path::new(path)),
        Step::RemoveDirAll(path) => storage.remove_dir_all(Path::new(path)),
        Step::SyncDir(path) => storage.sync_dir(Path::new(path)),
        Step::List(path) => storage.list(Path::new(path)).map(drop),
        Step::Replace(path, durable) => storage.replace(Path::new(path), b"replaced", *durable),
    }
}

/// Returns the step without its syncs.
fn hurried(step: &Step) -> Step {
    match step {
        Step::SyncFile(path) => Step::Open(path.clone(), 1),
        Step::SyncDir(path) => Step::List(path.clone()),
        Step::Replace(path, _) => Step::Replace(path.clone(), false),
        other => other.clone(),
    }
}

/// Returns every path with its content (none for a directory).
fn tree(storage: &dyn Storage, dir: &Path) -> Vec<(String, Option<Vec<u8>>)> {
    let mut found = Vec::new();
    for name in storage.list(dir).unwrap() {
        let path = dir.join(name);
        let text = path.to_str().unwrap().to_owned();
        if storage.stat(&path).unwrap().unwrap().is_dir {
            found.push((text, None));
            found.extend(tree(storage, &path));
        } else {
            let bytes = storage.read(&path, 1 << 20).unwrap();
            assert_eq!(&*storage.sealed(&path).unwrap(), bytes);
            found.push((text, Some(bytes)));
        }
    }
    found
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn memory_answers_as_a_directory_tree_does(history in prop::collection::vec(steps(), 1..40), seed: u64) {
        let dir = tempfile::tempdir().unwrap();
        let files = Files::open(dir.path()).unwrap();
        let memory = Memory::new();
        for step in &history {
            let on_disk = run(&files, &hurried(step)).map_err(|error| error.kind());
            let in_memory = run(&memory, step).map_err(|error| error.kind());
            prop_assert_eq!(on_disk, in_memory, "{:?}", step);
        }
        let now = tree(&files, Path::new(""));
        prop_assert_eq!(&now, &tree(&memory, Path::new("")));
        prop_assert_eq!(&now, &tree(&memory.snapshot(), Path::new("")));
        prop_assert_eq!(&now, &tree(&memory.keep_unsynced(), Path::new("")));

        // After any crash, the tree can be walked, a second crash changes nothing, and the original storage is unchanged.
        let mut random = seed;
        let left = memory.crash(&mut |choices| {
            random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (random >> 33) as usize % choices
        });
        let after = tree(&left, Path::new(""));
        prop_assert_eq!(&after, &tree(&left.lose_unsynced(), Path::new("")));
        prop_assert_eq!(&now, &tree(&memory, Path::new("")));
    }
}
