//! Tests of runs for a private fold.

use super::*;

fn scratch_dirs(storage: &Arc<dyn Storage>) -> Vec<String> {
    let mut names = storage.list(Path::new("teams/demo/derived")).unwrap();
    names.retain(|name| name.starts_with("past-"));
    names
}

#[test]
fn nobody_else_sees_them_and_they_stay_readable_once_they_are_unlinked() {
    let (_dir, on_disk) = files();
    for storage in [memory(), on_disk] {
        let store = flush(&open(&storage), 10, &sample(0, 40));
        let scratch = store.scratch().unwrap();
        let scratch = flush(&scratch, 10, &sample(1, 40));
        assert_eq!(live(&open(&storage)), folded([sample(0, 40)]));
        assert_eq!(scratch_dirs(&storage), ["past-0"]);
        let unlinked = scratch.unlink().unwrap();
        assert!(scratch_dirs(&storage).is_empty());
        assert_eq!(live(&unlinked), folded([sample(0, 40), sample(1, 40)]));
        // Another fold can start from the unlinked view.
        let next = unlinked.scratch().unwrap();
        let next = flush(&next, 10, &sample(2, 40)).unlink().unwrap();
        drop((scratch, unlinked));
        let all = [sample(0, 40), sample(1, 40), sample(2, 40)];
        assert_eq!(live(&next), folded(all));
        assert_eq!(store.runs().len(), 1);
    }
}

#[test]
fn two_folds_have_a_directory_each_and_leave_none() {
    let (_dir, storage) = files();
    let store = flush(&open(&storage), 10, &sample(0, 40));
    let (one, other) = (store.scratch().unwrap(), store.scratch().unwrap());
    assert_eq!(scratch_dirs(&storage), ["past-0", "past-1"]);
    drop(one);
    assert_eq!(scratch_dirs(&storage), ["past-1"]);
    let third = store.scratch().unwrap();
    assert_eq!(scratch_dirs(&storage), ["past-0", "past-1"]);
    drop((other, third));
    assert!(scratch_dirs(&storage).is_empty());
}

#[test]
fn what_a_killed_process_left_is_removed_by_the_next_fold() {
    let (_dir, storage) = files();
    let store = flush(&open(&storage), 10, &sample(0, 40));
    let left = Path::new("teams/demo/derived/past-0");
    storage.create_dir(left).unwrap();
    for name in ["lock", "run-00000002", "junk"] {
        storage.replace(&left.join(name), b"left", false).unwrap();
    }
    let scratch = store.scratch().unwrap();
    assert_eq!(storage.list(left).unwrap(), ["lock"]);
    drop(scratch);
    assert!(scratch_dirs(&storage).is_empty());
}

#[test]
fn where_no_directory_can_be_made_there_is_none() {
    let storage = memory();
    // The directory `derived` is missing, because no run was ever written.
    assert!(open(&storage).scratch().is_none());
    assert!(storage.list(Path::new("teams/demo")).unwrap().is_empty());
}
