//! Tests of the operations on tasks, from JSON input to JSON answer.

use crate::prelude::*;
use teamlog_team::api::{self, Fault};

fn call(world: &World, operation: &str, mut input: Value) -> Result<Value, Fault> {
    let operation = api::find(operation).unwrap();
    if input.get("team_name").is_none() {
        input["team_name"] = "demo".into();
    }
    let input = input.as_object().unwrap().clone();
    let answered = api::call(&world.root, operation, input, Control::default())?;
    Ok(serde_json::from_str(answered.data.get()).unwrap())
}

fn code(outcome: Result<Value, Fault>) -> String {
    outcome.unwrap_err().code
}

fn make(world: &World, subject: &str) -> String {
    let input = json!({"subject": subject, "description": "all of it"});
    let made = call(world, "create-task", input).unwrap();
    made["task"]["id"].as_str().unwrap().to_owned()
}

#[test]
fn the_required_flow_read_claim_transition() {
    let world = World::new();
    world.demo();
    let id = make(&world, "first");
    let read = call(&world, "read-task", json!({"task_id": id})).unwrap();
    has!(read, {"/task/status": "pending", "/task/version": 1});
    let claim = json!({"task_id": 1, "worker": "dev", "expected_version": read["task"]["version"]});
    let claimed = call(&world, "team_claim_task", claim).unwrap();
    assert_eq!(claimed["ok"], true);
    assert_eq!(claimed["claimToken"], claimed["task"]["claim"]["token"]);
    assert_eq!(
        claimed["leased_until"],
        claimed["task"]["claim"]["leased_until"]
    );
    let finish = json!({"task_id": id, "from": "in_progress", "to": "completed",
        "claim_token": claimed["claimToken"], "result": "merged"});
    let finished = call(&world, "transition-task-status", finish.clone()).unwrap();
    has!(finished, {"ok": true, "/task/result": "merged"});
    assert_eq!(finished["task"].get("claim"), None);
    shows!(code(call(&world, "transition-task-status", finish)) => is "already_terminal");
}

#[test]
fn renew_release_cancel_reopen_and_next_are_operations_too() {
    let (world, mut team) = demo();
    for subject in ["1", "2"] {
        make(&world, subject);
    }
    let next = call(
        &world,
        "claim-next-task",
        json!({"worker": "dev", "lease_ms": 60_000}),
    )
    .unwrap();
    assert_eq!(next["task"]["id"], "1");
    let hold = |task: &str, claimed: &Value| json!({"task_id": task, "claim_token": claimed["claimToken"]});
    let renewed = call(&world, "renew-task-claim", hold("1", &next)).unwrap();
    assert_eq!(renewed["claimToken"], next["claimToken"]);
    let mut release = hold("1", &next);
    release["worker"] = "dev".into();
    let released = call(&world, "release-task-claim", release).unwrap();
    has!(released, {"ok": true, "/task/status": "pending"});
    let canceled = call(
        &world,
        "cancel-task",
        json!({"task_id": "1", "reason": "no"}),
    )
    .unwrap();
    assert_eq!(canceled["task"]["status"], "canceled");
    let next = call(&world, "claim-next-task", json!({"worker": "dev"})).unwrap();
    let fail = json!({"task_id": "2", "from": "in_progress", "to": "failed", "epoch": next["epoch"], "error": "e"});
    call(&world, "transition-task-status", fail).unwrap();
    let reopened = call(&world, "reopen-task", json!({"task_id": "2"})).unwrap();
    assert_eq!(reopened["task"]["status"], "pending");
    names!(kinds(&mut team)[3..] => task_claimed task_renewed task_released task_canceled
        task_claimed task_failed task_reopened);
}

#[test]
fn tasks_are_listed_all_at_once_or_by_page_and_filter() {
    let (world, mut team) = demo();
    for n in 1..=60 {
        make(&world, &n.to_string());
    }
    team.task_assign(assign("bd-1", "dev")).unwrap();
    let claim = json!({"task_id": "7", "worker": "dev"});
    call(&world, "claim-task", claim).unwrap();
    let ids = |input: Value| {
        let data = call(&world, "list-tasks", input).unwrap();
        let tasks = data["tasks"].as_array().unwrap();
        assert_eq!(data["count"], tasks.len());
        let ids: Vec<String> = tasks
            .iter()
            .map(|task| task["id"].as_str().unwrap().into())
            .collect();
        (ids, data.get("next_cursor").cloned())
    };
    let (all, more) = ids(json!({}));
    assert_eq!((all.len(), more), (61, None));
    assert_eq!((&*all[8], &*all[9], &*all[60]), ("9", "10", "bd-1"));
    let (page, more) = ids(json!({"limit": 2, "cursor": "9"}));
    assert_eq!(
        (page, more),
        (vec!["10".into(), "11".into()], Some(json!("11")))
    );
    assert_eq!(ids(json!({"owner": "dev"})).0, ["7", "bd-1"]);
    assert_eq!(
        ids(json!({"owner": "dev", "status": "in_progress"})).0,
        ["7"]
    );
    assert_eq!(ids(json!({"status": "done"})).0, Vec::<String>::new());
    shows!(code(call(&world, "list-tasks", json!({"status": "x"}))) => is "invalid_input");
    world.later(15 * MINUTE);
    let late = call(&world, "list-tasks", json!({"status": "in_progress"})).unwrap();
    assert_eq!(late["tasks"][0]["lease_expired"], true);
}

#[test]
fn what_is_not_there_is_said_as_each_operation_says_it() {
    let world = World::new();
    world.demo();
    let nowhere = |operation: &str, mut input: Value| {
        input["team_name"] = "nowhere".into();
        call(&world, operation, input)
    };
    shows!(code(nowhere("read-task", json!({"task_id": "1"}))) => is "task_not_found");
    assert_eq!(
        nowhere("list-tasks", json!({})).unwrap(),
        json!({"count": 0, "tasks": [], "warning": "there is no team \"nowhere\""})
    );
    for (operation, input) in cases![
        ("create-task", {"subject": "s", "description": "d"}),
        ("update-task", {"task_id": "1"}),
        ("claim-task", {"task_id": "1", "worker": "dev"}),
        ("claim-next-task", {"worker": "dev"}),
        ("renew-task-claim", {"task_id": "1", "epoch": 1}),
        ("release-task-claim", {"task_id": "1", "worker": "dev", "epoch": 1}),
        ("cancel-task", {"task_id": "1"}),
        ("reopen-task", {"task_id": "1"}),
    ] {
        let fault = nowhere(operation, input.clone()).unwrap_err();
        let inner = fault.details.get("code").and_then(Value::as_str);
        assert_eq!(
            inner.unwrap_or(&fault.code),
            "team_not_found",
            "{operation}"
        );
        if operation.contains("create") || operation.contains("next") {
            continue;
        }
        let fault = call(&world, operation, input).unwrap_err();
        assert_eq!(fault.code, "task_not_found", "{operation}");
    }
}

#[test]
fn a_refusal_says_what_stands_in_the_way() {
    let world = World::new();
    world.demo();
    make(&world, "1");
    let blocked = json!({"subject": "2", "description": "d", "blocked_by": ["1", "9"]});
    call(&world, "create-task", blocked).unwrap();
    let fault = call(
        &world,
        "claim-task",
        json!({"task_id": "2", "worker": "dev"}),
    )
    .unwrap_err();
    assert_eq!(fault.code, "blocked_dependency");
    assert_eq!(fault.details["dependencies"], json!(["1", "9"]));
    let cycle = json!({"task_id": "1", "blocked_by": ["2"]});
    let fault = call(&world, "update-task", cycle).unwrap_err();
    assert_eq!(
        (&*fault.code, &fault.details["cycle"]),
        ("dependency_cycle", &json!(["1", "2", "1"]))
    );
    let stale = json!({"task_id": "1", "expected_version": 4});
    assert_eq!(code(call(&world, "update-task", stale)), "version_conflict");
    let stale = json!({"task_id": "1", "worker": "dev", "expected_version": 4});
    assert_eq!(code(call(&world, "claim-task", stale)), "claim_conflict");
    let back = json!({"task_id": "1", "from": "in_progress", "to": "pending", "claim_token": "x"});
    shows!(code(call(&world, "transition-task-status", back)) => is "invalid_transition");
    let strange =
        json!({"task_id": "1", "from": "in_progress", "to": "finished", "claim_token": "x"});
    let fault = call(&world, "transition-task-status", strange).unwrap_err();
    assert_eq!(fault.code, "invalid_input");
    assert!(
        fault.message.contains("valid task statuses"),
        "{}",
        fault.message
    );
}

#[test]
fn an_update_takes_four_fields_and_leaves_the_lifecycle_alone() {
    let (world, mut team) = demo();
    make(&world, "1");
    for field in ["status", "owner", "result", "error", "claim", "version"] {
        let fault = call(
            &world,
            "update-task",
            json!({"task_id": "1", field: "x", "nonsense": 1}),
        );
        let fault = fault.unwrap_err();
        assert_eq!(fault.code, "invalid_input");
        assert!(
            fault.message.contains("lifecycle fields"),
            "{}",
            fault.message
        );
    }
    let fault = call(
        &world,
        "update-task",
        json!({"task_id": "1", "sibject": "x"}),
    )
    .unwrap_err();
    assert!(
        fault.message.contains("unsupported fields"),
        "{}",
        fault.message
    );
    assert!(fault.message.contains("subject"), "{}", fault.message);
    assert_eq!(kinds(&mut team).len(), 2);
    for field in [json!({"resources": ["src"]}), json!({"shared": true})] {
        let mut update = json!({"task_id": "1", "subject": "s"});
        update
            .as_object_mut()
            .unwrap()
            .extend(field.as_object().unwrap().clone());
        let fault = call(&world, "update-task", update).unwrap_err();
        assert_eq!(fault.code, "invalid_input");
        shows!(fault.message => has "unsupported fields");
    }
    assert_eq!(kinds(&mut team).len(), 2);
    let mended = json!({"task_id": "1", "subject": "s", "description": "d", "blocked_by": [], "requires_code_change": true});
    let mended = call(&world, "update-task", mended).unwrap();
    has!(mended, {"/task/subject": "s", "/task/version": 2});
}

#[test]
fn a_creator_keeps_what_it_said_unless_it_is_a_slip_or_the_lifecycle() {
    let (world, mut team) = demo();
    let of_old = json!({"subject": "s", "description": "d", "role": "executor", "filePaths": ["a.rs"], "domains": ["x"],
        "lane": "docs", "allocation_reason": "r", "delegation": {"mode": "none", "max_parallel_subtasks": 2}});
    let made = call(&world, "create-task", of_old.clone()).unwrap()["task"].clone();
    for (name, value) in of_old.as_object().unwrap() {
        assert_eq!(&made[name], value);
    }
    assert_eq!(
        call(&world, "read-task", json!({"task_id": "1"})).unwrap()["task"],
        made
    );
    for (field, near) in [
        ("blockedby", "blocked_by"),
        ("requires_code_changes", "requires_code_change"),
        ("sybject", "subject"),
    ] {
        let input = json!({"subject": "s", "description": "d", field: "x"});
        let fault = call(&world, "create-task", input).unwrap_err();
        assert_eq!(fault.code, "invalid_input");
        assert!(fault.message.contains(near), "{}", fault.message);
    }
    for field in ["status", "version", "claim", "result", "id"] {
        let input = json!({"subject": "s", "description": "d", field: "x"});
        assert_eq!(
            code(call(&world, "create-task", input)),
            "invalid_input",
            "{field}"
        );
    }
    assert_eq!(kinds(&mut team).len(), 2);
}

#[test]
fn every_answer_under_a_key_is_given_again() {
    let (world, mut team) = demo();
    let keyed = |operation: &str, input: Value| {
        let mut input = input;
        input["key"] = format!("key of {operation}").into();
        let first = call(&world, operation, input.clone()).unwrap();
        world.later(MINUTE);
        assert_eq!(
            call(&world, operation, input).unwrap(),
            first,
            "{operation}"
        );
        first
    };
    keyed(
        "create-task",
        json!({"subject": "s", "description": "d", "lane": "docs"}),
    );
    keyed("update-task", json!({"task_id": "1", "subject": "t"}));
    let claimed = keyed("claim-task", json!({"task_id": "1", "worker": "dev"}));
    keyed(
        "renew-task-claim",
        json!({"task_id": "1", "claim_token": claimed["claimToken"]}),
    );
    keyed(
        "release-task-claim",
        json!({"task_id": "1", "worker": "dev", "epoch": 1}),
    );
    let next = keyed("claim-next-task", json!({"worker": "dev"}));
    let nothing = json!({"worker": "dev", "key": "nothing"});
    let first = call(&world, "claim-next-task", nothing.clone()).unwrap();
    assert_eq!(first["task"], Value::Null);
    keyed(
        "transition-task-status",
        json!({"task_id": "1", "from": "in_progress", "to": "failed", "epoch": next["epoch"]}),
    );
    keyed("reopen-task", json!({"task_id": "1"}));
    keyed("cancel-task", json!({"task_id": "1"}));
    let answers = kinds(&mut team)
        .into_iter()
        .filter(|kind| kind == "response_stored");
    assert_eq!(answers.count(), 10);
    make(&world, "now there is one");
    assert_eq!(
        call(&world, "claim-next-task", nothing).unwrap(),
        first,
        "what was answered stays so"
    );
}
