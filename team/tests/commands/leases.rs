//! Tests of leases: the duration of a claim, its end, and commands of its former holder.

use crate::claims::{
    after, change, claim, claimed, complete, count, done, new, status, task, waiting,
};
use crate::prelude::*;
use teamlog_engine::Point;
use teamlog_team::task::listed::Listed;

pub fn release(claimed: &ClaimAnswer) -> TaskRelease {
    given!(TaskRelease, task_id: claimed.task.task_id.clone(), worker: "dev",
        claim_token: claimed.claim_token.clone())
}

pub fn renew(claimed: &ClaimAnswer) -> TaskRenew {
    given!(TaskRenew, task_id: claimed.task.task_id.clone(), claim_token: claimed.claim_token.clone())
}

fn said(events: &[Value]) -> Vec<&str> {
    events
        .iter()
        .map(|event| event["kind"].as_str().unwrap())
        .collect()
}

#[test]
fn a_lease_lasts_as_long_as_was_asked_within_bounds() {
    let (_, mut team) = demo();
    let lasting = |task: &str, lease_ms| given!(TaskClaim, lease_ms, ..claim(task, "dev"));
    team.task_create(new("1")).unwrap();
    team.task_create(new("2")).unwrap();
    for lease_ms in [0, 999, 86_400_001, u64::MAX] {
        let refusal = refused(team.task_claim(lasting("1", lease_ms)), Code::InvalidInput);
        assert_eq!(refusal.field.as_deref(), Some("lease_ms"));
    }
    let short = team.task_claim(lasting("1", 1_000)).unwrap();
    assert_eq!(short.leased_until, time("2026-11-21T12:00:01.000000Z"));
    let long = team.task_claim(lasting("2", 86_400_000)).unwrap();
    assert_eq!(long.leased_until, time("2026-11-22T12:00:00.000000Z"));
}

#[test]
fn a_renewal_prolongs_and_never_shortens() {
    let (world, mut team) = demo();
    let held = claimed(&mut team, new("first"));
    world.later(5 * MINUTE);
    let short = given!(TaskRenew, lease_ms: 1_000, ..renew(&held));
    let renewed = team.task_renew(short).unwrap();
    assert_eq!(
        (&renewed.leased_until, renewed.task.version),
        (&held.leased_until, 3)
    );
    let renewed = team.task_renew(renew(&held)).unwrap();
    assert_eq!(renewed.leased_until, time("2026-11-21T12:20:00.000000Z"));
    assert_eq!(
        (renewed.claim_token.as_ref(), renewed.epoch),
        (Some(&held.claim_token), 1)
    );
    world.later(14 * MINUTE);
    team.task_finish(complete(&held)).unwrap();
}

#[test]
fn only_the_holder_renews_what_is_claimed() {
    let (_, mut team) = demo();
    let held = claimed(&mut team, new("first"));
    let wrong = given!(TaskRenew, claim_token: "x", ..renew(&held));
    refused(team.task_renew(wrong.clone()), Code::ClaimConflict);
    let nothing = given!(TaskRenew, claim_token: None::<String>, ..wrong.clone());
    refused(team.task_renew(nothing), Code::InvalidInput);
    let unknown = given!(TaskRenew, task_id: "9", ..wrong);
    refused(team.task_renew(unknown), Code::TaskNotFound);
    let stale = given!(TaskRenew, expected_version: 1, ..renew(&held));
    refused(team.task_renew(stale), Code::VersionConflict);
    team.task_release(release(&held)).unwrap();
    refused(team.task_renew(renew(&held)), Code::ClaimConflict);
}

#[test]
fn a_released_task_is_pending_again_which_is_no_completion() {
    let (_, mut team) = demo();
    let held = claimed(&mut team, new("first"));
    team.task_create(waiting("waits", &["1"])).unwrap();
    let wrong = given!(TaskRelease, claim_token: "x", ..release(&held));
    refused(team.task_release(wrong), Code::ClaimConflict);
    let released = team.task_release(release(&held)).unwrap();
    assert!(released.ok);
    let task = released.task;
    assert_eq!(
        (task.status.name(), task.version, task.governed.epoch),
        ("pending", 3, 1)
    );
    assert_eq!((task.owner.as_deref(), task.claim()), (None, None));
    assert_eq!(status(&mut team, "2"), "blocked");
    let event = after(&mut team, 4).pop().unwrap();
    has!(event, {"payload": {"task_id": "1", "worker": "dev", "epoch": 1}});
}

#[test]
fn releasing_what_nobody_holds_changes_nothing() {
    let (_, mut team) = demo();
    let held = claimed(&mut team, new("first"));
    team.task_release(release(&held)).unwrap();
    let before = count(&mut team);
    let again = team.task_release(release(&held)).unwrap();
    assert_eq!(
        (again.task.status.name(), again.task.version),
        ("pending", 3)
    );
    let anything = given!(TaskRelease, claim_token: "x", ..release(&held));
    team.task_release(anything).unwrap();
    assert_eq!(count(&mut team), before);
    // An epoch names one claim. Only the agent that released this claim gets the answer again.
    let by_epoch = |epoch: u64| given!(TaskRelease, task_id: "1", worker: "dev", epoch);
    team.task_release(by_epoch(1)).unwrap();
    refused(team.task_release(by_epoch(2)), Code::ClaimConflict);
    team.task_create(new("never claimed")).unwrap();
    let free = given!(TaskRelease, task_id: "2", ..by_epoch(1));
    let refusal = refused(team.task_release(free), Code::ClaimConflict);
    shows!(&*refusal.message => has "task 2 is not claimed");
    let unknown = given!(TaskRelease, task_id: "9", ..release(&held));
    refused(team.task_release(unknown), Code::TaskNotFound);
    // An expired task with an owner is not offered to other agents.
    let owned = given!(teamlog_team::task::create::TaskCreate, owner: "qa", ..new("owned"));
    let id = team.task_create(owned).unwrap().task.task.task_id;
    let other = given!(TaskRelease, task_id: id, ..release(&held));
    refused(team.task_release(other), Code::ClaimConflict);
}

#[test]
fn a_lease_that_ran_out_is_recorded_by_whoever_meets_it_and_refused() {
    for round in 0..5 {
        let (world, mut team) = demo();
        let held = claimed(&mut team, new("first"));
        world.later(15 * MINUTE);
        let code = match round {
            0 => refused(team.task_finish(complete(&held)), Code::LeaseExpired).code,
            1 => refused(team.task_release(release(&held)), Code::LeaseExpired).code,
            2 => refused(team.task_renew(renew(&held)), Code::LeaseExpired).code,
            3 => {
                let cancel =
                    given!(TaskCancel, task_id: "1", claim_token: held.claim_token.clone());
                refused(team.task_cancel(cancel), Code::LeaseExpired).code
            }
            _ => {
                let wrong = given!(teamlog_team::task::finish::TaskFinish, claim_token: "x",
                    ..complete(&held));
                refused(team.task_finish(wrong), Code::ClaimConflict).code
            }
        };
        let recorded = after(&mut team, 3);
        assert_eq!(said(&recorded), ["task_lease_expired"], "{code}");
        assert_eq!(
            recorded[0]["payload"],
            json!({"task_id": "1", "worker": "dev", "epoch": 1, "leased_until": held.leased_until})
        );
        has!(recorded[0], {"actor": "teamlog", "agent": "dev"});
        let task = team.task_record("1").unwrap();
        assert_eq!(
            (task.status.name(), task.owner.as_deref(), task.claim()),
            ("pending", None, None)
        );
        assert_eq!(
            (task.version, task.governed.epoch),
            (2, 1),
            "what follows is no new version"
        );
        settled_digest(&mut team);
    }
}

#[test]
fn the_last_moment_still_counts() {
    let (world, mut team) = demo();
    let held = claimed(&mut team, new("first"));
    world.later(15 * MINUTE - 1);
    team.task_finish(complete(&held)).unwrap();
}

#[test]
fn an_expired_lease_is_taken_over_by_an_event_that_names_the_old_holder() {
    let (world, mut team) = demo();
    claimed(&mut team, new("first"));
    world.later(15 * MINUTE);
    let taken = team.task_claim(claim("1", "qa")).unwrap();
    assert_eq!((taken.epoch, taken.task.owner.as_deref()), (2, Some("qa")));
    let recorded = after(&mut team, 3);
    assert_eq!(said(&recorded), ["task_lease_expired", "task_claimed"]);
    assert_eq!(recorded[0]["payload"]["worker"], "dev");
    assert_eq!(recorded[1]["cause"], recorded[0]["id"]);
}

/// The former holder gets the same answer, whether or not a tick ran before.
#[test]
fn the_old_holder_hears_the_same_whoever_came_first() {
    for ticked in [false, true] {
        let (world, mut team) = demo();
        let held = claimed(&mut team, new("first"));
        let by_epoch = given!(teamlog_team::task::finish::TaskFinish, claim_token: None::<String>,
            epoch: 1, ..complete(&held));
        world.later(15 * MINUTE);
        if ticked {
            team.tick(Tick::default()).unwrap();
        }
        refused(team.task_finish(complete(&held)), Code::LeaseExpired);
        refused(team.task_finish(by_epoch.clone()), Code::LeaseExpired);
        refused(team.task_release(release(&held)), Code::LeaseExpired);
        refused(team.task_renew(renew(&held)), Code::LeaseExpired);
        let next = team.task_claim(claim("1", "qa")).unwrap();
        for _ in 0..2 {
            refused(team.task_finish(complete(&held)), Code::ClaimConflict);
            refused(team.task_finish(by_epoch.clone()), Code::ClaimConflict);
            refused(team.task_renew(renew(&held)), Code::ClaimConflict);
            let given_back = team.task_release(release(&next));
            assert!(given_back.is_ok());
        }
    }
}

#[test]
fn a_tick_records_leases_that_ran_out_and_says_when_the_next_does() {
    let (world, mut team) = demo();
    for n in 1..=3 {
        let lasting = given!(TaskClaim, lease_ms: n * 60_000, ..claim(&n.to_string(), "dev"));
        team.task_create(new("some")).unwrap();
        team.task_claim(lasting).unwrap();
    }
    let tick = |team: &mut Team| json(&team.tick(Tick::default()).unwrap());
    let first = tick(&mut team);
    has!(first, {"leases": {"expired": 0}, "next_due_at": "2026-11-21T12:01:00.000000Z"});
    world.later(2 * MINUTE);
    let seq = count(&mut team);
    let second = tick(&mut team);
    has!(second, {"leases": {"expired": 2}, "next_due_at": "2026-11-21T12:03:00.000000Z"});
    let recorded = after(&mut team, seq);
    names!(said(&recorded) => task_lease_expired task_lease_expired);
    assert_eq!(
        (&recorded[0]["task_id"], &recorded[1]["task_id"]),
        (&json!("1"), &json!("2"))
    );
    assert_eq!(tick(&mut team)["leases"], json!({"expired": 0}));
    assert_eq!(status(&mut team, "3"), "in_progress");
    settled_digest(&mut team);
}

#[test]
fn many_leases_run_out_group_by_group() {
    let (world, mut team) = demo();
    for n in 1..=300 {
        team.task_create(new("some")).unwrap();
        team.task_claim(claim(&n.to_string(), "dev")).unwrap();
    }
    world.later(15 * MINUTE);
    let ticked = json(&team.tick(Tick::default()).unwrap());
    has!(ticked, {"leases": {"expired": 300}, "next_due_at": null});
}

#[test]
fn a_reader_sees_a_lease_that_ran_out_and_records_nothing() {
    let (world, mut team) = demo();
    claimed(&mut team, new("first"));
    let shown = |team: &mut Team| {
        let show = given!(TaskShow, task_id: "1");
        let (record, shown) = (
            json(&team.task_record("1").unwrap()),
            json(&team.task_show(show).unwrap()),
        );
        let primed = json(&team.prime(&given!(Prime, agent: "dev")).unwrap());
        let brief = primed["in_progress"]["items"][0].clone();
        assert_eq!(brief["leased_until"], "2026-11-21T12:15:00.000000Z");
        let flags = [&record, &shown, &brief].map(|answer| answer.get("lease_expired").cloned());
        (flags, record)
    };
    assert_eq!(shown(&mut team).0, [None, None, None]);
    world.later(15 * MINUTE);
    let (flags, record) = shown(&mut team);
    assert_eq!(
        flags,
        [Some(json!(true)), Some(json!(true)), Some(json!(true))]
    );
    has!(record, {"status": "in_progress", "/claim/owner": "dev"});
    assert_eq!(kinds(&mut team).len(), 3);
}

#[test]
fn a_task_whose_lease_ran_out_is_ready_before_anybody_records_it() {
    let (world, mut team) = demo();
    claimed(&mut team, new("first"));
    team.task_create(new("second")).unwrap();
    let waits = given!(TaskCreate, blocked_by: ["2"], ..new("waits"));
    team.task_create(waits).unwrap();
    let held = (kinds(&mut team).len() as u64, world.clock_at());
    let ready = |team: &mut Team, agent: Option<&str>| {
        let ready = given!(Ready, agent, limit: 1);
        let first = team.ready(&ready).unwrap();
        let cursor = first.next_cursor.clone();
        let second =
            cursor.map(|_| team.ready(&given!(Ready, cursor: first.next_cursor.clone(), ..ready)));
        let pages = [Some(first), second.map(Result::unwrap)];
        let pages = pages.into_iter().flatten().map(|page| json(&page));
        pages.collect::<Vec<_>>()
    };
    let named = |pages: &[Value]| -> Vec<(String, bool)> {
        let tasks = pages
            .iter()
            .flat_map(|page| page["tasks"].as_array().unwrap());
        let named = tasks.map(|task| {
            let id = task["task_id"].as_str().unwrap().to_owned();
            (id, task["lease_expired"] == true)
        });
        named.collect()
    };
    let primed = |team: &mut Team, agent: &str| {
        let prime = given!(Prime, agent);
        json(&team.prime(&prime).unwrap())["ready"].clone()
    };
    let second = ("2".to_owned(), false);
    for agent in [None, Some("dev"), Some("qa")] {
        assert_eq!(named(&ready(&mut team, agent)), vec![second.clone()]);
    }
    let seen = team.tasks(Tasks::default()).unwrap();
    assert!(seen.tasks.iter().all(|task| !task.lease_expired()));
    world.later(15 * MINUTE);
    let first = ("1".to_owned(), true);
    for agent in [None, Some("dev"), Some("qa")] {
        let pages = ready(&mut team, agent);
        assert_eq!(named(&pages), [first.clone(), second.clone()], "{agent:?}");
        assert!(pages.iter().all(|page| page["total"] == 2), "{pages:?}");
    }
    let qa = primed(&mut team, "qa");
    has!(qa, {"total": 2, "/items/0/task_id": "1", "/items/0/lease_expired": true});
    assert_eq!(qa["items"][1].get("lease_expired"), None);
    let seen = team.tasks(Tasks::default()).unwrap();
    let marked = seen.tasks.iter().map(Listed::lease_expired);
    assert_eq!(marked.collect::<Vec<_>>(), [true, false, false]);

    // The requested point in time decides, not the clock.
    let mut past = world
        .root
        .team("demo")
        .unwrap()
        .at(Point::Seq(held.0))
        .unwrap();
    assert_eq!(named(&ready(&mut past, None)), vec![second.clone()]);
    let later = Timestamp::from_micros(held.1 + 15 * MINUTE).unwrap();
    let mut past = world
        .root
        .team("demo")
        .unwrap()
        .at(Point::Time(later))
        .unwrap();
    assert_eq!(named(&ready(&mut past, None)), [first, second]);

    // The first listed task is granted.
    let next = given!(ClaimNext, worker: "qa");
    let granted = team.claim_next(next).unwrap().task.unwrap();
    assert_eq!(json(&granted)["id"], "1");
    settled_digest(&mut team);
}

#[test]
fn a_task_whose_lease_ran_out_and_that_waits_for_another_is_not_ready() {
    let (world, mut team) = demo();
    team.task_create(new("first")).unwrap();
    claimed(&mut team, new("second"));
    let change = given!(TaskChange, task_id: "2", blocked_by: ["1"]);
    team.task_change(change).unwrap();
    world.later(15 * MINUTE);
    let ready = team.ready(&Ready::default()).unwrap();
    let ids: Vec<_> = ready.tasks.iter().map(|task| &*task.task_id).collect();
    assert_eq!((ids, ready.total), (vec!["1"], 1));
}

#[test]
fn a_lease_outlives_the_handle_and_the_derived_store() {
    let (world, mut team) = demo();
    let held = claimed(&mut team, new("first"));
    team.finish().unwrap();
    drop(team);
    let mut team = world.root.team("demo").unwrap();
    refused(team.task_claim(claim("1", "qa")), Code::ClaimConflict);
    settled_digest(&mut team);
    drop(team);
    let mut team = world.root.team("demo").unwrap();
    world.later(10 * MINUTE);
    let renewed = team.task_renew(renew(&held)).unwrap();
    assert_eq!(renewed.leased_until, time("2026-11-21T12:25:00.000000Z"));
    drop(team);
    world.later(16 * MINUTE);
    let mut team = world.root.team("demo").unwrap();
    refused(team.task_finish(complete(&held)), Code::LeaseExpired);
    assert_eq!(task(&mut team, "1").status.name(), "pending");
    settled_digest(&mut team);
}

#[test]
fn what_ran_out_waits_again_for_what_it_waits_for() {
    let (world, mut team) = demo();
    let one = done(&mut team, new("1"));
    let held = claimed(&mut team, waiting("2", &[&one]));
    let more = given!(teamlog_team::task::change::TaskChange, blocked_by: vec![one, "9".into()],
        ..crate::claims::change(&held.task.task_id));
    team.task_change(more).unwrap();
    world.later(15 * MINUTE);
    let seq = count(&mut team);
    team.tick(Tick::default()).unwrap();
    let recorded = after(&mut team, seq);
    assert_eq!(said(&recorded), ["task_lease_expired", "task_blocked"]);
    assert_eq!(recorded[1]["payload"]["waits_for"], json!(["9"]));
    assert_eq!(status(&mut team, &held.task.task_id), "blocked");
    world.later(SECOND);
    refused(
        team.task_claim(claim(&held.task.task_id, "qa")),
        Code::BlockedDependency,
    );
}

#[test]
fn what_prime_says_to_type_is_said_once_and_only_where_it_is_granted() {
    let (world, mut team) = demo();
    let own = claimed(&mut team, new("first")).task.task.task_id;
    let waits = claimed(&mut team, new("second")).task.task.task_id;
    let third = team.task_create(new("third")).unwrap().task.task.task_id;
    let changed = given!(TaskChange, blocked_by: vec![third], ..change(&waits));
    team.task_change(changed).unwrap();
    world.later(86_400 * SECOND);
    let prime = given!(Prime, agent: "dev");
    let commands = team.prime(&prime).unwrap().commands;
    let said = |id: &str| {
        let line = format!("teamlog task claim demo {id} --worker dev");
        commands.iter().filter(|command| **command == line).count()
    };
    assert_eq!((said(&own), said(&waits)), (1, 0), "{commands:?}");
}

#[test]
fn in_a_closed_team_nothing_is_ready_and_nothing_to_type_but_what_reads() {
    let (_, mut team) = demo();
    for subject in ["first", "second"] {
        team.task_create(new(subject)).unwrap();
    }
    crate::mailbox::send(&mut team, "dev", "look");
    team.orphan_cleanup(OrphanCleanup {}).unwrap();
    let ready = team.ready(&Ready::default()).unwrap();
    assert_eq!((ready.count, ready.total), (0, 0));
    let prime = given!(Prime, agent: "dev");
    for command in team.prime(&prime).unwrap().commands {
        let verb = command.split(' ').nth(1).unwrap();
        assert!(["read", "wait"].contains(&verb) || command.starts_with("teamlog task show"));
    }
}
