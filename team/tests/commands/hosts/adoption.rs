//! Tests of a team that moves from one host to a journal and back.

use super::*;
use crate::world::doctor;
use teamlog_team::artifact::{ArtifactGet, ArtifactPut};
use teamlog_team::doctor::Health;

fn alone(journal: &MemoryJournal, resident: bool) -> (Memory, Root) {
    let (memory, root) = host(1, Arc::new(journal.clone()));
    let root = if resident { root.resident() } else { root };
    root.init(Init {
        journal: None,
        ..init()
    })
    .unwrap();
    create(&root, "alone");
    (memory, root)
}

#[test]
fn a_team_comes_to_a_journal_with_all_that_it_has() {
    for resident in [false, true] {
        let journal = MemoryJournal::default();
        let (memory, root) = alone(&journal, resident);
        let put = ArtifactPut {
            name: "plan.txt".into(),
            content: "step one".into(),
            ..ArtifactPut::default()
        };
        team(&root).artifact_put(put).unwrap();
        let before = team(&root).status(given!(Status, digest: true)).unwrap();
        let adopted = team(&root).adopt(&identity(), &mut |_, _| {}).unwrap();
        assert!(adopted.changed);
        assert_eq!(adopted.last_seq, before.last_seq + 1);
        let again = team(&root).adopt(&identity(), &mut |_, _| {}).unwrap();
        assert_eq!((again.changed, again.groups), (false, 0));
        let (other, second) = host(2, Arc::new(journal.clone()));
        join(&second, &journal);
        assert_eq!(create(&second, "together"), "2");
        assert_eq!(create(&root, "together, too"), "3");
        let name = "plan.txt".into();
        let got = team(&second).artifact_get(&ArtifactGet { name }).unwrap();
        assert_eq!(got.content.unwrap(), "step one");
        check_equal(&[(memory, root), (other, second)]);
    }
}

#[test]
fn a_team_goes_from_its_journal_on_one_host_and_ends_on_the_others() {
    for resident in [false, true] {
        let (_, mut hosts) = hosts(2);
        if resident {
            for (_, root) in &mut hosts {
                *root = root.clone().resident();
            }
        }
        let [(_, first), (_, second)] = &hosts[..] else {
            unreachable!()
        };
        create(second, "one");
        let left = team(first).leave().unwrap().unwrap();
        assert!(left.changed);
        assert_eq!(create(first, "alone"), "2");
        assert!(team(first).leave().unwrap().is_none());
        assert!(team(first).heal(&mut |_, _| {}).unwrap().is_none());
        let input = given!(TaskCreate, subject: "late");
        assert_eq!(code(team(second).task_create(input)), "journal_left");
        assert_eq!(code(team(second).leave()), "journal_left");
        // The events before `leave` stay readable.
        let status = team(second).status(Status::default()).unwrap();
        assert_eq!(status.last_seq, left.last_seq);
    }
}

#[test]
fn what_a_journal_lost_comes_back_from_a_host_with_its_artifacts() {
    let (there, hosts) = hosts(2);
    let [(_, first), (_, second)] = &hosts[..] else {
        unreachable!()
    };
    create(first, "one");
    create(second, "two");
    create(second, "three");
    let log = team(first).log().identity().log;
    let groups = there.groups(log);
    there.put_back(log, groups.len() - 2);
    let input = || given!(TaskCreate, subject: "four");
    assert_eq!(code(team(second).task_create(input())), "journal_behind");
    let seen = doctor(second, "demo");
    let journal = seen.checks.last().unwrap();
    assert_eq!(
        (journal.name, journal.status),
        ("journal", Health::Unhealthy)
    );
    assert_eq!(journal.details["code"], "journal_behind");
    assert_eq!(journal.recommendations, ["teamlog journal heal demo"]);
    let healed = team(second).heal(&mut |_, _| {}).unwrap().unwrap();
    assert_eq!((healed.groups, healed.changed), (2, true));
    assert_eq!(there.groups(log), groups);
    assert_eq!(create(second, "four"), "4");
    let again = team(second).heal(&mut |_, _| {}).unwrap().unwrap();
    assert_eq!((again.groups, again.changed), (0, false));
    check_equal(&hosts);
}

#[test]
fn doctor_sees_hosts_that_fold_the_same_events_to_another_state() {
    let (mut journal, hosts) = hosts(2);
    for (_, root) in &hosts {
        team(root).catch_up().unwrap();
        let seen = doctor(root, "demo");
        assert_eq!(seen.checks.last().unwrap().status, Health::Healthy);
    }
    let log = team(&hosts[0].1).log().identity().log;
    journal.compare_state(log, 1, "another digest").unwrap();
    let seen = doctor(&hosts[1].1, "demo");
    let check = seen.checks.last().unwrap();
    assert_eq!(check.details["code"], "state_diverged");
    assert_eq!(check.status, Health::Unhealthy);
}
