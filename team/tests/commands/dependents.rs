//! Tests of tasks that depend on other tasks: completing a task unblocks its dependents.

use crate::claims::{
    after, change, claim, claimed, complete, count, fail, new, status, task, waiting,
};
use crate::prelude::*;
use crate::transitions::{cancel, reopen};
use teamlog_team::lifecycle::status::Status;

#[test]
fn completing_the_last_dependency_frees_those_that_wait_in_the_same_group() {
    let (_, mut team) = demo();
    let one = claimed(&mut team, new("1"));
    let two = claimed(&mut team, new("2"));
    for deps in [&["1"][..], &["1", "2"], &["1", "404"]] {
        team.task_create(waiting("waits", deps)).unwrap();
    }
    let seq = count(&mut team);
    team.task_finish(complete(&one)).unwrap();
    let recorded = after(&mut team, seq);
    let said: Vec<(&str, &str)> = recorded
        .iter()
        .map(|event| {
            (
                event["kind"].as_str().unwrap(),
                event["task_id"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(said, [("task_completed", "1"), ("task_unblocked", "3")]);
    assert_eq!(recorded[1]["cause"], recorded[0]["id"]);
    assert_eq!(
        task(&mut team, "3").version,
        1,
        "what follows is no new version"
    );
    team.task_finish(complete(&two)).unwrap();
    assert_eq!(status(&mut team, "4"), "pending");
    assert_eq!(status(&mut team, "5"), "blocked");
    team.task_claim(claim("4", "qa")).unwrap();
}

#[test]
fn a_failed_or_canceled_dependency_frees_nobody() {
    let (_, mut team) = demo();
    let one = claimed(&mut team, new("1"));
    team.task_create(waiting("2", &["1"])).unwrap();
    team.task_finish(fail(&one)).unwrap();
    assert_eq!(status(&mut team, "2"), "blocked");
    team.task_reopen(reopen("1")).unwrap();
    team.task_cancel(cancel("1")).unwrap();
    assert_eq!(status(&mut team, "2"), "blocked");
}

#[test]
fn who_waits_in_vain_is_told_so_everywhere() {
    let (_, mut team) = demo();
    let one = claimed(&mut team, new("1"));
    team.task_create(new("2")).unwrap();
    team.task_create(new("3")).unwrap();
    team.task_create(waiting("waits", &["1", "2", "3", "404"]))
        .unwrap();
    let told = |team: &mut Team| {
        let record = team.task_record("4").unwrap();
        let page = team.task_records(Tasks::default()).unwrap();
        assert_eq!(
            page.tasks[3].context.unmet.failed,
            record.context.unmet.failed
        );
        let shown = team.task_show(given!(TaskShow, task_id: "4")).unwrap();
        assert_eq!(shown.failed_dependencies, record.context.unmet.failed);
        let status = team.status(Status::default()).unwrap();
        let refusal = refused(team.task_claim(claim("4", "qa")), Code::BlockedDependency);
        let (mut map, mut details) = (BTreeMap::new(), None);
        if !record.context.unmet.failed.is_empty() {
            map.insert("4".to_owned(), record.context.unmet.failed.clone());
            details = Some(json!(record.context.unmet.failed));
        }
        assert_eq!(status.failed_dependencies, map);
        assert_eq!(refusal.details.get("failed_dependencies"), details.as_ref());
        record.context.unmet.failed
    };
    assert!(told(&mut team).is_empty());
    team.task_finish(fail(&one)).unwrap();
    assert_eq!(told(&mut team), ["1"]);
    team.task_cancel(cancel("3")).unwrap();
    assert_eq!(told(&mut team), ["1", "3"]);
    team.task_reopen(reopen("1")).unwrap();
    assert_eq!(told(&mut team), ["3"]);
    // A task whose dependency is removed no longer waits.
    let instead = given!(TaskChange, blocked_by: ["2"], ..change("4"));
    team.task_change(instead).unwrap();
    assert!(told(&mut team).is_empty());
}

#[test]
fn a_report_that_completes_a_message_governed_task_frees_those_that_wait() {
    let (world, mut team) = demo();
    team.task_assign(assign("bd-1", "dev")).unwrap();
    for deps in [&["bd-1"][..], &["bd-2"], &["bd-1", "bd-2"]] {
        team.task_create(waiting("waits", deps)).unwrap();
    }
    world.later(2 * SECOND);
    // A report that is older than the assignment completes no task.
    let late = |id: &str, back: i64| {
        let now = world.root.options().clock.now();
        given!(teamlog_team::message::task_update::TaskUpdate,
            created_at: now.plus_micros(-back).to_string(), ..update(id, "done"))
    };
    team.task_update(late("bd-1", 3 * SECOND)).unwrap();
    assert_eq!(status(&mut team, "1"), "blocked");
    let seq = count(&mut team);
    let sent = team.task_update(update("bd-1", "done")).unwrap();
    assert_eq!(sent.event.event.kind, "message_sent");
    let recorded = after(&mut team, seq);
    let kinds: Vec<&str> = recorded
        .iter()
        .map(|event| event["kind"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["message_sent", "task_unblocked"]);
    assert_eq!(recorded[1]["cause"], recorded[0]["id"]);
    assert_eq!(status(&mut team, "1"), "pending");
    // A report may also complete a task that it creates.
    team.task_update(update("bd-2", "completed")).unwrap();
    assert_eq!(
        (status(&mut team, "2"), status(&mut team, "3")),
        ("pending", "pending")
    );
}

#[test]
fn a_report_that_takes_a_completion_back_blocks_those_that_wait_again() {
    let (world, mut team) = demo();
    team.task_assign(assign("bd-1", "dev")).unwrap();
    team.task_create(waiting("waits", &["bd-1"])).unwrap();
    world.later(SECOND);
    team.task_update(update("bd-1", "done")).unwrap();
    assert_eq!(status(&mut team, "1"), "pending");
    world.later(SECOND);
    let seq = count(&mut team);
    let sent = team.task_update(update("bd-1", "in_progress")).unwrap();
    assert_eq!(sent.event.event.kind, "message_sent");
    let recorded = after(&mut team, seq);
    assert_eq!(recorded[1]["kind"], "task_blocked");
    assert_eq!(recorded[1]["cause"], recorded[0]["id"]);
    assert_eq!(recorded[1]["payload"]["waits_for"], json!(["bd-1"]));
    assert_eq!(status(&mut team, "1"), "blocked");
    world.later(SECOND);
    team.task_update(update("bd-1", "done")).unwrap();
    assert_eq!(status(&mut team, "1"), "pending");
    // A new assignment makes the task unfinished again, so its dependents wait.
    world.later(SECOND);
    team.task_assign(assign("bd-1", "qa")).unwrap();
    assert_eq!(status(&mut team, "1"), "blocked");
}

#[test]
fn a_message_cannot_complete_what_a_claim_governs() {
    let (_, mut team) = demo();
    team.task_create(new("1")).unwrap();
    team.task_create(waiting("2", &["1"])).unwrap();
    team.task_update(update("1", "done")).unwrap();
    assert_eq!(
        (status(&mut team, "1"), status(&mut team, "2")),
        ("pending", "blocked")
    );
    assert_eq!(kinds(&mut team).last().unwrap(), "message_sent");
}

#[test]
fn what_an_import_completes_is_free_at_once_and_a_tick_says_so() {
    let (world, mut team) = demo();
    team.task_create(waiting("waits", &["bd-1"])).unwrap();
    world.later(10 * SECOND);
    let line = json!({"id": "m1", "type": "task_update", "from": "dev", "to": "lead", "task_id": "bd-1",
        "priority": "normal", "created_at": "2026-11-21T12:00:05Z", "schema_version": 1,
        "payload": {"status": "done"}});
    let how = given!(ImportMessages, team: "demo");
    let imported = world
        .root
        .import_messages(how, &mut Cursor::new(line.to_string()));
    assert_eq!(imported.unwrap().imported, 1);
    assert_eq!(
        status(&mut team, "1"),
        "blocked",
        "an import derives no events"
    );
    let ready = team.ready(&Default::default()).unwrap();
    assert_eq!(ready.tasks[0].task_id, "1");
    let ticked = json(&team.tick(Tick::default()).unwrap());
    assert_eq!(ticked["tasks"], json!({"unblocked": 1}));
    assert_eq!(status(&mut team, "1"), "pending");
    let again = json(&team.tick(Tick::default()).unwrap());
    assert_eq!(again["tasks"], json!({"unblocked": 0}));
}

#[test]
fn more_than_fit_into_a_group_are_free_at_once_and_ticks_say_so_group_by_group() {
    const AT_ONCE: usize = 2_000;
    const BEYOND: usize = 150;
    let (world, mut team) = demo();
    let one = claimed(&mut team, new("1"));
    for _ in 0..AT_ONCE + BEYOND {
        team.task_create(waiting("waits", &["1"])).unwrap();
    }
    let seq = count(&mut team);
    team.task_finish(complete(&one)).unwrap();
    assert_eq!(count(&mut team) - seq, 1 + AT_ONCE);
    drop(team);
    // The process dies here. The next process finds the unblocked task and claims it.
    let root = Root::on(world.memory.clone(), world.root.options().clone());
    let mut team = root.team("demo").unwrap();
    let (last, before) = ((1 + AT_ONCE + BEYOND).to_string(), AT_ONCE + 100);
    assert_eq!(status(&mut team, &last), "blocked");
    team.task_claim(claim(&last, "qa")).unwrap();
    assert_eq!(status(&mut team, &before.to_string()), "blocked");
    let groups = world.memory.calls()["sync_data"];
    let ticked = json(&team.tick(Tick::default()).unwrap());
    assert_eq!(ticked["tasks"], json!({"unblocked": BEYOND - 1}));
    let groups = world.memory.calls()["sync_data"] - groups;
    assert_eq!(groups, 3, "64 tasks a group");
    assert_eq!(status(&mut team, &before.to_string()), "pending");
}
