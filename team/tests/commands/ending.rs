//! Tests of the end of a team: the gate, the calls that still work, and the deletion.

use crate::prelude::*;
use crate::workers::{answers, ask, heartbeat, identity, says};
use teamlog_engine::internals::storage::Fault;
use teamlog_team::lifecycle::cleanup::Cleanup;
use teamlog_team::worker::status::ReadStatus;

fn gentle() -> Cleanup {
    Cleanup::default()
}

fn forced() -> Cleanup {
    given!(Cleanup, force: true)
}

fn confirmed() -> Cleanup {
    given!(Cleanup, confirm_issues: true)
}

/// Checks that a cleanup is refused and records nothing.
fn held_back(team: &mut Team, cleanup: Cleanup, code: Code) -> Refusal {
    let before = kinds(team).len();
    let refusal = refused(team.cleanup(cleanup), code);
    assert_eq!(kinds(team).len(), before);
    refusal
}

fn task(world: &World, team: &mut Team, id: &str, status: &str) {
    // The clock advances, because messages with equal times could be sorted in another order.
    world.later(SECOND);
    team.task_update(update(id, status)).unwrap();
}

#[test]
fn a_team_with_nothing_left_over_is_closed() {
    let (world, mut team) = demo();
    task(&world, &mut team, "1", "completed");
    task(&world, &mut team, "2", "canceled");
    let answer = team.cleanup(gentle()).unwrap();
    assert_eq!(
        json(&answer),
        json!({"team_name": "demo", "cleanup_mode": "shutdown"})
    );
    let all = events(&mut team);
    let last = &all[all.len() - 3..];
    let kinds: Vec<_> = last
        .iter()
        .map(|event| event["kind"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["shutdown_gated", "phase_changed", "team_closed"]);
    assert_eq!(
        last[0]["payload"],
        json!({"forced": false, "allowed": true, "pending": 0, "assigned": 0, "blocked": 0, "in_progress": 0, "failed": 0})
    );
    has!(last[1], {"payload": {"from": "team-exec", "to": "cancelled"}});
    assert_eq!(last[2]["payload"], json!({"reason": "shutdown"}));
    for event in &last[1..] {
        assert_eq!(event["cause"], last[0]["id"], "{event}");
    }
    // A second cleanup changes nothing, with either operation.
    team.cleanup(gentle()).unwrap();
    team.orphan_cleanup(OrphanCleanup {}).unwrap();
    assert_eq!(events(&mut team).len(), all.len());
}

#[test]
fn failed_tasks_are_confirmed_first_even_with_work_left_over() {
    let (world, mut team) = demo();
    task(&world, &mut team, "1", "failed");
    task(&world, &mut team, "2", "failed");
    task(&world, &mut team, "3", "in_progress");
    let refusal = held_back(&mut team, gentle(), Code::ShutdownConfirm);
    assert_eq!(refusal.message, "shutdown_confirm_issues_required:failed=2");
    let refusal = held_back(&mut team, confirmed(), Code::ShutdownGateBlocked);
    shows!(refusal.message =>
        is "shutdown_gate_blocked:pending=0,blocked=0,in_progress=1,failed=2");
    task(&world, &mut team, "3", "completed");
    held_back(&mut team, gentle(), Code::ShutdownConfirm);
    team.cleanup(confirmed()).unwrap();
}

#[test]
fn work_left_over_holds_a_cleanup_back_whatever_its_state() {
    for (state, message) in [
        ("pending", "pending=1,blocked=0,in_progress=0"),
        ("assigned", "pending=1,blocked=0,in_progress=0"),
        ("blocked", "pending=0,blocked=1,in_progress=0"),
        ("in_progress", "pending=0,blocked=0,in_progress=1"),
    ] {
        let (world, mut team) = demo();
        task(&world, &mut team, "1", state);
        let refusal = held_back(&mut team, gentle(), Code::ShutdownGateBlocked);
        shows!(refusal.message => is format!("shutdown_gate_blocked:{message},failed=0"));
        team.cleanup(forced()).unwrap();
        let gate = events(&mut team)
            .into_iter()
            .find(|event| event["kind"] == "shutdown_gated");
        let gate = gate.unwrap();
        assert_eq!(
            (&gate["payload"]["forced"], &gate["payload"][state]),
            (&true.into(), &1.into())
        );
    }
}

#[test]
fn a_rejection_holds_until_the_worker_is_asked_again() {
    let (_, mut team) = demo();
    team.request_shutdown(ask("dev")).unwrap();
    team.write_shutdown_ack(answers("dev", "reject", Some("busy")))
        .unwrap();
    let refusal = held_back(&mut team, gentle(), Code::ShutdownRejected);
    assert_eq!(refusal.message, "shutdown_rejected:dev:busy");
    team.request_shutdown(ask("dev")).unwrap();
    team.write_shutdown_ack(answers("dev", "accept", None))
        .unwrap();
    team.write_shutdown_ack(answers("qa", "reject", None))
        .unwrap();
    let refusal = held_back(&mut team, gentle(), Code::ShutdownRejected);
    assert_eq!(refusal.details["worker"], "qa");
    team.request_shutdown(ask("qa")).unwrap();
    team.cleanup(gentle()).unwrap();
}

#[test]
fn a_team_can_do_without_the_gate() {
    let (world, mut team) = demo();
    task(&world, &mut team, "1", "failed");
    task(&world, &mut team, "2", "pending");
    team.write_shutdown_ack(answers("dev", "reject", None))
        .unwrap();
    held_back(&mut team, gentle(), Code::ShutdownConfirm);
    team.config_change(
        given!(ConfigChange, key: "governance.cleanup_requires_all_workers_inactive",
            value: "false"),
    )
    .unwrap();
    team.cleanup(gentle()).unwrap();
    assert!(kinds(&mut team).contains(&"team_closed".to_owned()));
}

#[test]
fn an_orphan_is_closed_without_a_gate() {
    let (world, mut team) = demo();
    task(&world, &mut team, "1", "failed");
    let answer = team.orphan_cleanup(OrphanCleanup {}).unwrap();
    assert_eq!(json(&answer)["cleanup_mode"], "orphan_cleanup");
    assert_eq!(kinds(&mut team)[2..], ["phase_changed", "team_closed"]);
    has!(events(&mut team)[3], {"payload": {"reason": "orphan_cleanup"}});
}

/// Creates a team with workers, tasks and messages, and closes it.
fn closed(world: &World) -> Team {
    let mut team = world.demo();
    team.write_identity(identity("dev", 1)).unwrap();
    team.update_heartbeat(heartbeat("dev", 1, true)).unwrap();
    team.task_assign(assign("1", "dev")).unwrap();
    team.send(given!(Send,
        delivery: Require { ack_timeout_seconds: Some(1), max_retries: Some(0), },
        ..message("lead", "dev")))
        .unwrap();
    team.task_create(given!(TaskCreate, subject: "held", description: "held"))
        .unwrap();
    team.task_claim(given!(TaskClaim, task_id: "2", worker: "dev"))
        .unwrap();
    team.cleanup(forced()).unwrap();
    team
}

#[test]
fn what_is_left_of_a_closed_team_can_be_read_and_not_changed() {
    let world = World::new();
    let mut team = closed(&world);
    refused(team.send(message("lead", "dev")), Code::TeamClosed);
    refused(
        team.update_heartbeat(heartbeat("dev", 2, true)),
        Code::TeamClosed,
    );
    refused(
        team.write_worker_status(says("dev", "idle", None)),
        Code::TeamClosed,
    );
    refused(team.request_shutdown(ask("dev")), Code::TeamClosed);
    refused(team.append(given!(Append, kind: "seen")), Code::TeamClosed);
    let more = given!(Init, members: ["new"], ..Init::for_team("demo"));
    refused(world.root.init(more), Code::TeamClosed);
    let import = given!(ImportMessages, team: "demo", restamp: true);
    let line = r#"{"id":"m","type":"handoff","from":"lead","to":"dev","created_at":"2026-01-01T08:00:00Z","payload":{}}"#;
    let imported = world.root.import_messages(import, &mut Cursor::new(line));
    refused(imported, Code::TeamClosed);
    let found = status(&mut team);
    assert_eq!(
        (
            found.closed_at.as_deref(),
            found.task_count,
            found.members.len()
        ),
        (
            events(&mut team).pop().unwrap()["created_at"].as_str(),
            2,
            3
        )
    );
    let read = given!(Read, agent: "dev");
    assert_eq!(team.read(read).unwrap().messages.len(), 2);
    let worker = given!(ReadStatus; worker: "dev");
    team.read_worker_status(worker).unwrap();
    team.summary(GetSummary {}).unwrap();
    settled_digest(&mut team);
}

#[test]
fn time_stands_still_in_a_closed_team() {
    let world = World::new();
    let mut team = closed(&world);
    world.later(3600 * SECOND);
    let recorded = kinds(&mut team).len();
    let ticked = team.tick(Tick::default()).unwrap();
    assert_eq!(
        (ticked.delivery.dead_lettered, ticked.next_due_at),
        (0, None)
    );
    assert_eq!(kinds(&mut team).len(), recorded);
    let nudge = given!(Nudge, idle_seconds: 0);
    refused(team.nudge(nudge), Code::TeamClosed);
}

#[test]
fn the_files_of_a_closed_team_go_and_nothing_brings_them_back() {
    let world = World::new();
    let mut team = closed(&world);
    let left = || {
        let mut names = world.memory.list(Path::new("teams/demo")).unwrap();
        names.retain(|name| {
            ![
                ".gitignore",
                "derived",
                "derived.lock",
                "events",
                "head",
                "lock",
                "log.json",
            ]
            .contains(&&**name)
        });
        names
    };
    assert_eq!(left(), Vec::<String>::new());
    team.summary(GetSummary {}).unwrap();
    settled_digest(&mut team);
    assert_eq!(left(), Vec::<String>::new());
    let report = json(&doctor(&world.root, "demo"));
    assert_eq!(report["overall_status"], "healthy", "{report:#}");
    // Creates the directory `tasks` again.
    world
        .memory
        .create_dir_all(Path::new("teams/demo/tasks"))
        .unwrap();
    let path = Path::new("teams/demo/tasks/1.json");
    world.memory.replace(path, b"{}", false).unwrap();
    let report = json(&doctor(&world.root, "demo"));
    let views = report["checks"]
        .as_array()
        .unwrap()
        .iter()
        .find(|check| check["name"] == "views");
    assert_ne!(views.unwrap()["status"], "healthy", "{report:#}");
    settled_digest(&mut team);
    assert_eq!(left(), Vec::<String>::new());
}

fn call(world: &World, operation: &str, input: Value) -> Result<Value, String> {
    let Value::Object(input) = input else {
        panic!("an input is an object")
    };
    let operation = api::find(operation).unwrap();
    match api::call(&world.root, operation, input, Default::default()) {
        Ok(answered) => Ok(serde_json::from_str(answered.data.get()).unwrap()),
        Err(fault) => Err(fault.code),
    }
}

#[test]
fn without_a_team_reads_of_workers_are_empty_and_cleanups_are_refused() {
    let world = World::new();
    let unknown = json!({"state": "unknown", "updated_at": "1970-01-01T00:00:00.000000Z"});
    for (operation, mut input, answer) in cases![
        ("read-worker-status", {"worker": "w"}, {"worker": "w", "status": unknown}),
        ("read-worker-heartbeat", {"worker": "w"}, {"worker": "w", "heartbeat": null}),
        ("read-shutdown-ack", {"worker": "w"}, {"worker": "w", "ack": null}),
        ("read-monitor-snapshot", {}, {"snapshot": null}),
        ("read-task-approval", {"task_id": "1"}, {"approval": null}),
    ] {
        input["team_name"] = "gone".into();
        let mut answer = answer;
        answer["warning"] = "there is no team \"gone\"".into();
        assert_eq!(call(&world, operation, input), Ok(answer), "{operation}");
    }
    for (operation, mut input, code) in [
        ("read-config", json!({}), "team_not_found"),
        ("read-manifest", json!({}), "manifest_not_found"),
        ("get-summary", json!({}), "team_not_found"),
        ("read-idle-state", json!({}), "team_not_found"),
        ("read-stall-state", json!({}), "team_not_found"),
        ("cleanup", json!({"confirmIssues": true}), "team_not_found"),
        ("orphan-cleanup", json!({}), "team_not_found"),
    ] {
        input["team_name"] = "gone".into();
        assert_eq!(
            call(&world, operation, input),
            Err(code.to_owned()),
            "{operation}"
        );
    }
    assert_eq!(
        world.memory.stat(Path::new("teams")).unwrap(),
        None,
        "nothing was made"
    );
}

#[test]
fn every_operation_of_workers_works_through_the_table() {
    let world = World::new();
    world.team(None, teamlog_engine::Format::Jsonl);
    for (operation, mut input, answer) in cases![
        ("write-worker-identity", {"worker": "w", "index": 1, "role": "executor"}, {"worker": "w"}),
        ("update-worker-heartbeat", {"worker": "w", "pid": 1, "turn_count": 2, "alive": true},
            {"worker": "w"}),
        ("write-worker-inbox", {"worker": "w", "content": "do"}, {"worker": "w"}),
        ("write-shutdown-request", {"worker": "w", "requested_by": "lead"}, {"worker": "w"}),
        ("write-monitor-snapshot", {"snapshot": {"a": 1}}, {}),
        ("write-task-approval", {"task_id": "1", "status": "approved", "reviewer": "lead",
            "decision_reason": "ok"}, {"task_id": "1", "status": "approved"}),
        ("cleanup", {"confirmIssues": true}, {"team_name": "demo", "cleanup_mode": "shutdown"}),
    ] {
        input["team_name"] = "demo".into();
        assert_eq!(call(&world, operation, input), Ok(answer), "{operation}");
    }
    let mut team = world.root.team("demo").unwrap();
    assert!(kinds(&mut team).contains(&"team_closed".to_owned()));
}

#[test]
fn only_a_closed_team_is_purged_and_then_there_is_none() {
    let (world, mut team) = demo();
    let refusal = refused(world.root.purge("demo"), Code::TeamOpen);
    assert_eq!(refusal.details["team"], "demo");
    assert_eq!(kinds(&mut team), ["team_created"]);
    team.orphan_cleanup(OrphanCleanup {}).unwrap();
    let log = team.log().identity().log.to_string();
    drop(team);
    let answer = world.root.purge("demo").unwrap();
    assert_eq!(
        json(&answer),
        json!({"status": "purged", "team": "demo", "log": log, "events": 3})
    );
    assert_eq!(world.names_in_teams(), Vec::<String>::new());
    refused(world.root.purge("demo"), Code::TeamNotFound);
    // After the purge the name is free again.
    let mut again = world.demo();
    assert_eq!(kinds(&mut again), ["team_created"]);
}

#[test]
fn a_purge_that_is_stopped_anywhere_leaves_the_whole_team_or_none() {
    let (mut whole, mut none) = (0, 0);
    for call in 0.. {
        let world = World::new();
        let recorded = kinds(&mut closed(&world)).len();
        let faulty = Faulty::new(world.memory.clone());
        faulty.arm(call, Fault::Stop);
        let root = Root::on(Arc::new(faulty.clone()), world.root.options().clone());
        let done = root.purge("demo");
        if faulty.count() <= call {
            done.unwrap();
            break;
        }
        for after in [world.memory.lose_unsynced(), world.memory.keep_unsynced()] {
            let root = Root::on(Arc::new(after), world.root.options().clone());
            if root.teams().unwrap().is_empty() {
                none += 1;
                refused(root.team("demo"), Code::TeamNotFound);
                continue;
            }
            whole += 1;
            let mut team = root.team("demo").unwrap();
            assert_eq!(kinds(&mut team).len(), recorded, "call {call}");
            assert!(team.verify(None).unwrap().ok, "call {call}");
            drop(team);
            root.purge("demo").unwrap();
        }
    }
    assert!(whole > 5 && none > 2, "{whole} {none}");
}

#[test]
fn nobody_writes_into_a_team_that_was_purged_meanwhile() {
    let world = World::new();
    let mut team = closed(&world);
    let mut other = world.root.team("demo").unwrap();
    world.root.purge("demo").unwrap();
    for handle in [&mut team, &mut other] {
        handle.send(message("lead", "dev")).unwrap_err();
        handle.cleanup(gentle()).unwrap_err();
    }
    assert_eq!(world.names_in_teams(), Vec::<String>::new());
}
