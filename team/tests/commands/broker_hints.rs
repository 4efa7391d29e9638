//! Tests of hints in answers for brokers: unknown names, data of a monitor and of a leader's hook, the newest events.

use crate::prelude::*;
use teamlog_team::api::{self, Fault};

fn call(world: &World, operation: &str, input: Value) -> Result<Value, Fault> {
    let mut given: Map<String, Value> = input.as_object().unwrap().clone();
    given.entry("team_name").or_insert("demo".into());
    let operation = api::find(operation).unwrap();
    let answered = api::call(&world.root, operation, given, Control::default())?;
    Ok(serde_json::from_str(answered.data.get()).unwrap())
}

#[track_caller]
fn ok(world: &World, operation: &str, input: Value) -> Value {
    call(world, operation, input).unwrap_or_else(|fault| panic!("{operation}: {fault:?}"))
}

fn world() -> World {
    let world = World::new();
    world.team(Some(&["dev", "qa"]), teamlog_engine::Format::Jsonl);
    world
}

#[test]
fn what_is_empty_since_a_name_is_mistyped_says_so() {
    let world = world();
    for (operation, input) in cases![
        ("list-tasks", {}),
        ("read-events", {}),
        ("mailbox-list", {"worker": "dev"}),
        ("read-worker-status", {"worker": "dev"}),
        ("read-worker-heartbeat", {"worker": "dev"}),
        ("read-shutdown-ack", {"worker": "dev"}),
        ("read-monitor-snapshot", {}),
        ("read-task-approval", {"task_id": "1"}),
    ] {
        assert_eq!(
            ok(&world, operation, input.clone()).get("warning"),
            None,
            "{operation}"
        );
        let mut elsewhere = input.clone();
        elsewhere["team_name"] = "demmo".into();
        assert_eq!(
            ok(&world, operation, elsewhere)["warning"],
            "there is no team \"demmo\"; did you mean demo?",
            "{operation}"
        );
        if input.get("worker").is_some() {
            let mut other = input;
            other["worker"] = "dve".into();
            assert_eq!(
                ok(&world, operation, other)["warning"],
                "there is no worker \"dve\"; did you mean dev?",
                "{operation}"
            );
        }
    }
    // Without a team, a recording operation is refused. For an unknown worker, the operation only returns a warning.
    let mark = json!({"worker": "dve", "message_id": "m"});
    assert_eq!(
        ok(&world, "mailbox-mark-delivered", mark.clone())["warning"],
        "there is no worker \"dve\"; did you mean dev?"
    );
    for (operation, mut input) in [
        ("cleanup", json!({})),
        ("orphan-cleanup", json!({})),
        ("mailbox-mark-delivered", mark),
    ] {
        input["team_name"] = "demmo".into();
        let fault = call(&world, operation, input).unwrap_err();
        assert_eq!(
            (&*fault.code, &fault.details["nearest"]),
            ("team_not_found", &json!("demo")),
            "{operation}"
        );
    }
    let owner = ok(&world, "list-tasks", json!({"owner": "zzzzzz"}));
    assert_eq!(owner["warning"], "there is no worker \"zzzzzz\"");
    let leader = ok(&world, "mailbox-list", json!({"worker": "leader-fixed"}));
    assert_eq!(leader.get("warning"), None);
    // The refusal of an unknown team names the most similar team.
    let fault = call(&world, "read-config", json!({"team_name": "demmo"})).unwrap_err();
    assert_eq!(fault.details["nearest"], "demo");
    let send = json!({"from_worker": "dev", "to_worker": "qaa", "body": "b"});
    let fault = call(&world, "send-message", send).unwrap_err();
    assert_eq!(
        (&*fault.code, &fault.details["nearest"]),
        ("worker_not_found", &json!("qa"))
    );
}

#[test]
fn the_field_that_was_meant_is_named() {
    let world = world();
    for (operation, typed, meant) in [
        ("read-task", "id", "task_id"),
        ("read-task", "team", "team_name"),
        ("read-task", "taskId", "task_id"),
        ("send-message", "from", "from_worker"),
        ("send-message", "to", "to_worker"),
        ("mailbox-mark-notified", "id", "message_id"),
    ] {
        let mut input = json!({});
        input[typed] = "1".into();
        let fault = call(&world, operation, input).unwrap_err();
        let said = format!("{typed:?} (did you mean {meant}?)");
        assert!(fault.message.contains(&said), "{operation}: {fault:?}");
    }
    // An operation that keeps unknown fields names the likely misspelling of a missing field.
    let task = json!({"team": "demo", "subject": "s", "description": "d"});
    let operation = api::find("create-task").unwrap();
    let input = task.as_object().unwrap().clone();
    let fault = api::call(&world.root, operation, input, Control::default()).unwrap_err();
    assert!(fault.message.contains("team_name"), "{fault:?}");
    assert!(fault.message.contains("did you mean"), "{fault:?}");
    assert_eq!(api::meant("claim_tsk"), Some("claim-task"));
    assert_eq!(api::meant("TEAM_SEND_MESAGE"), Some("send-message"));
    assert_eq!(api::meant("xyzzyplugh"), None);
}

#[test]
fn completions_are_in_the_monitors_snapshot_until_it_writes_the_next() {
    let world = world();
    let complete = |id: &str| {
        let input = json!({"task_id": id, "subject": "s", "description": "d"});
        ok(&world, "create-task", input);
        world.later(SECOND);
        let token = ok(
            &world,
            "claim-task",
            json!({"task_id": id, "worker": "dev"}),
        )["claimToken"]
            .clone();
        let end =
            json!({"task_id": id, "from": "in_progress", "to": "completed", "claim_token": token});
        ok(&world, "transition-task-status", end);
    };
    let told = || {
        ok(&world, "read-monitor-snapshot", json!({}))["snapshot"]["completedEventTaskIds"].clone()
    };
    assert_eq!(told(), json!(null));
    complete("1");
    assert_eq!(told(), json!({"1": true}));
    complete("2");
    assert_eq!(told(), json!({"1": true, "2": true}));
    // A new snapshot of the monitor replaces the old one completely.
    world.later(SECOND);
    let snapshot =
        json!({"taskStatusById": {"1": "completed"}, "completedEventTaskIds": {"1": true}});
    ok(
        &world,
        "write-monitor-snapshot",
        json!({"snapshot": snapshot}),
    );
    assert_eq!(told(), json!({"1": true}));
    complete("3");
    assert_eq!(told(), json!({"1": true, "3": true}));
    // A failure or a later update is not a completion.
    ok(
        &world,
        "update-task",
        json!({"task_id": "2", "subject": "again"}),
    );
    assert_eq!(told(), json!({"1": true, "3": true}));
}

#[test]
fn a_leader_that_stopped_is_stale_until_it_does_something() {
    let world = world();
    let stall = || ok(&world, "read-stall-state", json!({}));
    assert_eq!(stall()["leader_attention_state"], json!(null));
    let stop = json!({"source": "native_stop", "leader_session_active": false, "leader_session_id": "s-1", "work_remaining": true});
    ok(&world, "write-leader-attention", stop.clone());
    let found = stall();
    assert_eq!(found["leader_attention_state"]["leader_session_id"], "s-1");
    assert_eq!(found["leader_attention_state"]["work_remaining"], true);
    assert!(found["leader_attention_state"]["leader_session_stopped_at"].is_string());
    has!(found, {"leader_stale": true, "leader_attention_pending": true, "team_stalled": true,
        "reasons": ["leader_attention_pending:leader_session_stopped"]});
    world.later(SECOND);
    let input = json!({"from_worker": "leader-fixed", "body": "I am here"});
    ok(&world, "broadcast", input);
    has!(stall(), {"leader_stale": false, "reasons": []});
    // A leader is missing only after the stop event of its own program. In a closed team no leader is missing.
    world.later(SECOND);
    let mut hook = stop.clone();
    hook["source"] = "notify_hook".into();
    ok(&world, "write-leader-attention", hook);
    assert_eq!(stall()["leader_stale"], false);
    world.later(SECOND);
    ok(&world, "write-leader-attention", stop);
    assert_eq!(stall()["leader_stale"], true);
    let bad = json!({"source": "native_stop", "leader_session_active": false, "leader_session_stopped_at": "noon"});
    let fault = call(&world, "write-leader-attention", bad).unwrap_err();
    assert_eq!(fault.details["field"], "leader_session_stopped_at");
    let mut team = world.root.team("demo").unwrap();
    let kinds: Vec<Value> = events(&mut team)
        .iter()
        .map(|event| event["kind"].clone())
        .collect();
    assert_eq!(
        kinds
            .iter()
            .filter(|kind| *kind == "leader_attention_set")
            .count(),
        3
    );
    settled_digest(&mut team);
    ok(&world, "orphan-cleanup", json!({}));
    assert_eq!(stall()["leader_stale"], false);
}

#[test]
fn what_a_leader_does_behind_its_stop_counts_whatever_time_the_stop_gives() {
    let world = world();
    let stop = json!({"source": "native_stop", "leader_session_active": false, "leader_session_stopped_at": "2099-01-01T00:00:00Z"});
    ok(&world, "write-leader-attention", stop);
    let stale = || ok(&world, "read-stall-state", json!({}))["leader_stale"].clone();
    assert_eq!(stale(), true);
    let here = json!({"from_worker": "leader-fixed", "body": "I am here"});
    ok(&world, "broadcast", here);
    assert_eq!(stale(), false);
}

#[test]
fn the_newest_events_are_read_from_the_end_as_they_are_from_the_beginning() {
    let world = world();
    let report = |kind: &str, worker: &str| {
        let input = json!({"type": kind, "worker": worker, "state": "idle"});
        ok(&world, "append-event", input);
    };
    for n in 0..6 {
        report(
            if n % 2 == 0 {
                "worker_state_changed"
            } else {
                "worker_idle"
            },
            "dev",
        );
        report("worker_diff_report", if n < 3 { "qa" } else { "dev" });
        report("worker_idle", "qa");
        report("worker_idle", "qa");
    }
    let read = |input: Value| ok(&world, "read-events", input);
    let whole = read(json!({}));
    let all = whole["events"].as_array().unwrap();
    let middle = all[all.len() / 2]["event_id"].clone();
    for filter in [
        json!({}),
        json!({"worker": "dev"}),
        json!({"wakeable_only": true}),
        json!({"type": "worker_idle", "worker": "qa"}),
        json!({"after_event_id": middle}),
    ] {
        let forward = read(filter.clone());
        let forward = forward["events"].as_array().unwrap();
        for last in [1, 2, 5, 1_000] {
            let mut asked = filter.clone();
            asked["last"] = last.into();
            let newest = read(asked);
            let expected = &forward[forward.len().saturating_sub(last)..];
            assert_eq!(newest["events"], json!(expected), "{filter} {last}");
            let cursor = expected.last().map(|event| event["event_id"].clone());
            assert_eq!(Some(newest["cursor"].clone()), cursor, "{filter} {last}");
        }
    }
    for bad in [
        json!({"last": 0}),
        json!({"last": 1_001}),
        json!({"last": 1, "limit": 1}),
    ] {
        let fault = call(&world, "read-events", bad).unwrap_err();
        assert_eq!(fault.details["field"], "last", "{fault:?}");
    }
}
