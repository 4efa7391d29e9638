//! Tests of idempotency keys: a repeated request gets its first answer.

use crate::prelude::*;
use teamlog_team::api::{self, Fault};

fn call(world: &World, operation: &str, input: Value) -> Result<Value, Fault> {
    let operation = api::find(operation).unwrap();
    let Value::Object(input) = input else {
        unreachable!()
    };
    let answered = api::call(&world.root, operation, input, Control::default())?;
    Ok(serde_json::from_str(answered.data.get()).unwrap())
}

fn create(key: &str, subject: &str) -> Value {
    json!({"team_name": "demo", "subject": subject, "description": "all of it", "key": key})
}

#[test]
fn a_repeated_request_gets_its_first_answer_and_records_nothing() {
    let (world, mut team) = demo();
    let first = call(&world, "create-task", create("k-1", "one")).unwrap();
    let recorded = events(&mut team);
    let last = recorded.last().unwrap();
    has!(last, {"kind": "response_stored", "key": "k-1"});
    // The state may have changed since the first answer.
    let claim = json!({"team_name": "demo", "task_id": first["task"]["id"], "worker": "dev"});
    call(&world, "claim-task", claim).unwrap();
    let before = events(&mut team).len();
    assert_eq!(
        call(&world, "create-task", create("k-1", "one")).unwrap(),
        first
    );
    assert_eq!(events(&mut team).len(), before);
    // A second handle on the log knows the key too, as a restarted process would.
    let mut other = world.root.team("demo").unwrap();
    other.finish().unwrap();
    assert_eq!(
        call(&world, "create-task", create("k-1", "one")).unwrap(),
        first
    );
}

#[test]
fn a_key_stands_for_one_request() {
    let (world, mut team) = demo();
    call(&world, "create-task", create("k-1", "one")).unwrap();
    let before = events(&mut team).len();
    for (operation, input) in [
        ("create-task", create("k-1", "two")),
        ("get-summary", json!({"team_name": "demo", "key": "k-1"})),
    ] {
        let fault = call(&world, operation, input).unwrap_err();
        assert_eq!(fault.code, "idempotency_key_reused", "{operation}");
        shows!(&*fault.message => has "used already by teamlog for another request of create-task");
        assert_eq!(fault.details["operation"], "create-task");
    }
    assert_eq!(events(&mut team).len(), before);
}

#[test]
fn what_was_refused_may_be_asked_again_under_its_key() {
    let (world, mut team) = demo();
    call(&world, "create-task", create("k-1", "one")).unwrap();
    let claim = |key: &str, worker: &str| json!({"team_name": "demo", "task_id": "1", "worker": worker, "key": key});
    let held = call(&world, "claim-task", claim("k-2", "dev")).unwrap();
    let fault = call(&world, "claim-task", claim("k-3", "qa")).unwrap_err();
    assert_eq!(fault.code, "claim_conflict");
    let release = json!({"team_name": "demo", "task_id": "1", "worker": "dev", "claim_token": held["claimToken"]});
    call(&world, "release-task-claim", release).unwrap();
    let later = call(&world, "claim-task", claim("k-3", "qa")).unwrap();
    assert_ne!(later["claimToken"], held["claimToken"]);
    // The first claim has ended, so its answer is not repeated.
    let fault = call(&world, "claim-task", claim("k-2", "dev")).unwrap_err();
    assert_eq!(fault.code, "claim_conflict");
    let stored = kinds(&mut team)
        .iter()
        .filter(|kind| *kind == "response_stored")
        .count();
    assert_eq!(stored, 3);
}

/// Returns the operations that grant a claim, each under the key `k`.
fn grants(world: &World) -> [(&'static str, Value); 3] {
    let input = |more: Value| {
        let mut input = json!({"team_name": "demo", "lease_ms": 1_000, "key": "k"});
        let fields = more.as_object().unwrap().clone();
        input.as_object_mut().unwrap().extend(fields);
        input
    };
    call(world, "create-task", create("c", "one")).unwrap();
    cases![
        (
            "claim-task",
            input(json!({"task_id": "1", "worker": "dev"}))
        ),
        ("claim-next-task", input(json!({"worker": "dev"}))),
        (
            "renew-task-claim",
            input(json!({"task_id": "1", "epoch": 1}))
        ),
    ]
}

/// Grants a claim, runs `meanwhile`, and repeats the request under its key.
fn asked_again(at: usize, meanwhile: &dyn Fn(&World, &Value)) -> (Value, Result<Value, Fault>) {
    let (world, mut team) = demo();
    let (operation, input) = grants(&world)[at].clone();
    if operation == "renew-task-claim" {
        let claim =
            json!({"team_name": "demo", "task_id": "1", "worker": "dev", "lease_ms": 1_000});
        call(&world, "claim-task", claim).unwrap();
    }
    let first = call(&world, operation, input.clone()).unwrap();
    assert_eq!(first["epoch"], 1, "{operation}");
    meanwhile(&world, &first["claimToken"]);
    let before = events(&mut team);
    let again = call(&world, operation, input);
    // The stored answer stays, and no event is recorded.
    assert_eq!(events(&mut team), before, "{operation}");
    let stored = before
        .iter()
        .filter(|event| event["kind"] == "response_stored" && event["key"] == "k");
    assert_eq!(stored.count(), 1, "{operation}");
    (first, again)
}

#[test]
fn a_claim_is_answered_again_only_as_long_as_it_lives() {
    let on_task = |world: &World, operation: &str, more: Value| {
        let mut input = json!({"team_name": "demo", "task_id": "1"});
        let fields = more.as_object().unwrap().clone();
        input.as_object_mut().unwrap().extend(fields);
        call(world, operation, input).unwrap();
    };
    let finish = |world: &World, token: &Value, to: &str| {
        let more = json!({"from": "in_progress", "to": to, "claim_token": token});
        on_task(world, "transition-task-status", more);
    };
    let claim = |world: &World| on_task(world, "claim-task", json!({"worker": "qa"}));
    type Meanwhile<'a> = &'a dyn Fn(&World, &Value);
    let cases: [(&str, &str, Meanwhile); 9] = [
        ("", "", &|_, _| {}),
        ("", "", &|world, _| world.later(999_000)),
        ("lease_expired", "pending", &|world, _| {
            world.later(1_000_000)
        }),
        ("lease_expired", "pending", &|world, _| {
            world.later(1_000_000);
            world
                .root
                .team("demo")
                .unwrap()
                .tick(Tick::default())
                .unwrap();
        }),
        ("claim_conflict", "in_progress", &|world, _| {
            world.later(1_000_000);
            claim(world);
        }),
        ("claim_conflict", "pending", &|world, token| {
            let more = json!({"worker": "dev", "claim_token": token});
            on_task(world, "release-task-claim", more);
        }),
        ("claim_conflict", "completed", &|world, token| {
            finish(world, token, "completed");
        }),
        ("claim_conflict", "pending", &|world, token| {
            finish(world, token, "failed");
            on_task(world, "reopen-task", json!({}));
        }),
        ("claim_conflict", "canceled", &|world, token| {
            on_task(world, "cancel-task", json!({"claim_token": token}));
        }),
    ];
    for (code, status, meanwhile) in cases {
        for at in 0..3 {
            let (first, again) = asked_again(at, meanwhile);
            match again {
                Ok(again) => assert_eq!((code, again), ("", first), "{at}"),
                Err(fault) => {
                    assert_eq!(fault.code, code, "{at}: {fault:?}");
                    assert_eq!(fault.details["status"], status, "{at}: {fault:?}");
                    assert_eq!(fault.details["field"], "key", "{at}: {fault:?}");
                    let token = first["claimToken"].as_str().unwrap();
                    assert!(!format!("{fault:?}").contains(token), "{fault:?}");
                }
            }
        }
    }
}

#[test]
fn that_nothing_was_ready_is_answered_again() {
    let world = World::new();
    world.demo();
    let next = json!({"team_name": "demo", "worker": "dev", "key": "k"});
    let first = call(&world, "claim-next-task", next.clone()).unwrap();
    assert_eq!(first["task"], Value::Null);
    call(&world, "create-task", create("c", "one")).unwrap();
    assert_eq!(call(&world, "claim-next-task", next).unwrap(), first);
}

#[test]
fn the_answer_lies_in_the_group_of_its_events() {
    let (world, mut team) = demo();
    call(&world, "create-task", create("k-1", "one")).unwrap();
    let kinds = kinds(&mut team);
    names!(kinds[kinds.len() - 2..] => task_created response_stored);
    let recorded = events(&mut team);
    let [.., created, stored] = &recorded[..] else {
        unreachable!()
    };
    assert_eq!(
        (&created["key"], &stored["key"]),
        (&json!("k-1"), &json!("k-1"))
    );
    let segment = team.log().dir().join("events/2026-11-21.jsonl");
    let bytes = world.memory.read(&segment, 1 << 20).unwrap();
    let text = String::from_utf8(bytes).unwrap();
    let last: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    assert_eq!(last["group"], json!([1, 2]));
}

#[test]
fn an_answer_that_is_too_large_to_keep_is_said_to_have_been_given() {
    let (world, mut team) = demo();
    let mut large = create("k-1", "one");
    large["description"] = json!("x".repeat(1_046_000));
    call(&world, "create-task", large.clone()).unwrap();
    let before = events(&mut team).len();
    shows!(call(&world, "create-task", large).unwrap_err().code => is "response_too_large");
    assert_eq!(events(&mut team).len(), before);
}

#[test]
fn a_closed_team_keeps_no_answers_but_that_of_its_closing() {
    let (world, mut team) = demo();
    let close = json!({"team_name": "demo", "key": "k-1"});
    let closed = call(&world, "orphan-cleanup", close.clone()).unwrap();
    let before = events(&mut team).len();
    assert_eq!(kinds(&mut team).last().unwrap(), "response_stored");
    assert_eq!(call(&world, "orphan-cleanup", close).unwrap(), closed);
    for operation in ["get-summary", "cleanup", "orphan-cleanup"] {
        let input = json!({"team_name": "demo", "key": format!("for {operation}")});
        call(&world, operation, input).unwrap();
    }
    assert_eq!(events(&mut team).len(), before);
}

#[test]
fn what_only_follows_stays_in_the_story_of_its_own_task() {
    let (world, mut team) = demo();
    call(&world, "create-task", create("k-1", "one")).unwrap();
    for story in [None, Some("story-b")] {
        let mut waits = create(&format!("k-{story:?}"), "waits");
        waits["blocked_by"] = json!(["1"]);
        waits["trace_id"] = json!(story);
        call(&world, "create-task", waits).unwrap();
    }
    let claim = json!({"team_name": "demo", "task_id": "1", "worker": "dev"});
    let held = call(&world, "claim-task", claim).unwrap();
    let done = json!({
        "team_name": "demo", "task_id": "1", "from": "in_progress", "to": "completed",
        "claim_token": held["claimToken"], "trace_id": "story-a", "actor": "boss",
    });
    call(&world, "transition-task-status", done).unwrap();
    let recorded = events(&mut team);
    let [.., completed, first, second] = &recorded[..] else {
        unreachable!()
    };
    let said = |event: &Value| {
        (
            event["kind"].clone(),
            event["actor"].clone(),
            event["trace_id"].clone(),
        )
    };
    assert_eq!(
        said(completed),
        (json!("task_completed"), json!("boss"), json!("story-a"))
    );
    assert_eq!(
        said(first),
        (json!("task_unblocked"), json!("teamlog"), Value::Null)
    );
    assert_eq!(
        said(second),
        (json!("task_unblocked"), json!("teamlog"), json!("story-b"))
    );
}

#[test]
fn behind_the_last_number_that_is_counted_free_ones_are_given() {
    let world = World::new();
    world.demo();
    let mut last = create("k-1", "last");
    last["task_id"] = json!("999999999999999");
    call(&world, "create-task", last).unwrap();
    let next = call(&world, "create-task", create("k-2", "next")).unwrap();
    assert_eq!(next["task"]["id"], "2");
    let mut named = create("k-3", "named");
    named["task_id"] = json!("next-1");
    call(&world, "create-task", named).unwrap();
}

#[test]
fn a_blank_token_is_none_and_the_leader_owns_no_task() {
    let world = World::new();
    world.demo();
    call(&world, "create-task", create("k-1", "one")).unwrap();
    let claim = json!({"team_name": "demo", "task_id": "1", "worker": "dev"});
    let held = call(&world, "claim-task", claim).unwrap();
    let token = held["claimToken"].as_str().unwrap();
    let finish = |token: &str| {
        json!({
            "team_name": "demo", "task_id": "1", "from": "in_progress", "to": "completed",
            "claim_token": token,
        })
    };
    let fault = call(&world, "transition-task-status", finish("  ")).unwrap_err();
    assert_eq!(fault.code, "invalid_input");
    call(
        &world,
        "transition-task-status",
        finish(&format!(" {token} ")),
    )
    .unwrap();
    let mut owned = create("k-2", "two");
    owned["owner"] = json!("leader-fixed");
    shows!(call(&world, "create-task", owned).unwrap_err().code => is "worker_not_found");
}
