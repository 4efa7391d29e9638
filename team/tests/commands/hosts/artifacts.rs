//! Tests of artifacts in a team on several hosts: each host finds the artifacts of the others.

use super::*;
use crate::world::doctor_of;
use teamlog_team::artifact::{ArtifactGet, ArtifactPut};
use teamlog_team::doctor::Health;

fn put(root: &Root, content: &str) -> Result<bool, Failure> {
    let put = ArtifactPut {
        name: "plan.txt".into(),
        content: content.into(),
        replace: true,
        ..ArtifactPut::default()
    };
    team(root).artifact_put(put).map(|answer| answer.stored)
}

fn get(root: &Root) -> Result<String, Failure> {
    let name = "plan.txt".into();
    let got = team(root).artifact_get(&ArtifactGet { name })?;
    Ok(got.content.unwrap())
}

/// Returns two hosts, and the second host's connection to the journal.
fn two() -> (Line, [Root; 2]) {
    let journal = MemoryJournal::default();
    let line = Line {
        journal: journal.clone(),
        cut: Arc::default(),
        overtaken: Arc::default(),
        silence: Arc::default(),
    };
    let (_, first) = host(1, Arc::new(journal.clone()));
    let (_, second) = host(2, Arc::new(line.clone()));
    first.init(init()).unwrap();
    join(&second, &journal);
    (line, [first, second])
}

#[test]
fn what_one_host_left_the_others_find_and_keep() {
    let (line, [first, second]) = two();
    assert!(put(&first, "step one").unwrap());
    team(&second).catch_up().unwrap();
    line.cut.store(true, Ordering::SeqCst);
    assert_eq!(code(get(&second)), "journal_unreachable");
    line.cut.store(false, Ordering::SeqCst);
    assert_eq!(get(&second).unwrap(), "step one");
    line.cut.store(true, Ordering::SeqCst);
    assert_eq!(get(&second).unwrap(), "step one", "it lies here by now");
}

#[test]
fn an_artifact_that_the_journal_does_not_keep_is_not_recorded() {
    let (line, [first, second]) = two();
    line.cut.store(true, Ordering::SeqCst);
    let before = team(&second).status(Status::default()).unwrap().last_seq;
    assert_eq!(code(put(&second, "step two")), "journal_unreachable");
    let behind = team(&second).status(Status::default()).unwrap().last_seq;
    assert_eq!(before, behind);
    line.cut.store(false, Ordering::SeqCst);
    assert!(put(&second, "step two").unwrap());
    team(&first).catch_up().unwrap();
    assert_eq!(get(&first).unwrap(), "step two");
}

#[test]
fn what_the_journal_keeps_is_held_against_its_digest() {
    let (line, [first, second]) = two();
    let wrong = blake3::hash(b"step one").to_hex().to_string();
    let mut journal = line.journal.clone();
    let log = team(&first).log().identity().log;
    journal.put_blob(log, &wrong, b"step 1").unwrap();
    put(&first, "step one").unwrap();
    team(&second).catch_up().unwrap();
    assert_eq!(code(get(&second)), "artifact_damaged");
    assert_eq!(get(&first).unwrap(), "step one");
}

#[test]
fn doctor_does_not_miss_what_was_left_elsewhere() {
    let (_, [first, second]) = two();
    put(&first, "step one").unwrap();
    team(&second).catch_up().unwrap();
    for root in [&first, &second] {
        for deep in [false, true] {
            let report = doctor_of(root, "demo", deep);
            assert_eq!(report.overall_status, Health::Healthy, "{report:?}");
        }
    }
}
