//! Idempotency keys: what was answered first is answered again.

use crate::world::{World, events, kinds};
use serde_json::{Value, json};
use teamlog_engine::storage::Storage;
use teamlog_team::act::Control;
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
    let world = World::new();
    let mut team = world.demo();
    let first = call(&world, "create-task", create("k-1", "one")).unwrap();
    let recorded = events(&mut team);
    let last = recorded.last().unwrap();
    assert_eq!(
        (&last["kind"], &last["key"]),
        (&json!("response_stored"), &json!("k-1"))
    );
    // Much may have changed since.
    let claim = json!({"team_name": "demo", "task_id": first["task"]["id"], "worker": "dev"});
    call(&world, "claim-task", claim).unwrap();
    let before = events(&mut team).len();
    assert_eq!(
        call(&world, "create-task", create("k-1", "one")).unwrap(),
        first
    );
    assert_eq!(events(&mut team).len(), before);
    // Another handle on the same log, as after a restart, knows it too.
    let mut other = world.root.team("demo").unwrap();
    other.finish().unwrap();
    assert_eq!(
        call(&world, "create-task", create("k-1", "one")).unwrap(),
        first
    );
}

#[test]
fn a_key_stands_for_one_request() {
    let world = World::new();
    let mut team = world.demo();
    call(&world, "create-task", create("k-1", "one")).unwrap();
    let before = events(&mut team).len();
    for (operation, input) in [
        ("create-task", create("k-1", "two")),
        ("get-summary", json!({"team_name": "demo", "key": "k-1"})),
    ] {
        let fault = call(&world, operation, input).unwrap_err();
        assert_eq!(fault.code, "idempotency_key_reused", "{operation}");
        assert_eq!(fault.details["operation"], "create-task");
    }
    assert_eq!(events(&mut team).len(), before);
}

#[test]
fn what_was_refused_may_be_asked_again_under_its_key() {
    let world = World::new();
    let mut team = world.demo();
    call(&world, "create-task", create("k-1", "one")).unwrap();
    let claim = |key: &str, worker: &str| json!({"team_name": "demo", "task_id": "1", "worker": worker, "key": key});
    let held = call(&world, "claim-task", claim("k-2", "dev")).unwrap();
    let fault = call(&world, "claim-task", claim("k-3", "qa")).unwrap_err();
    assert_eq!(fault.code, "claim_conflict");
    let release = json!({"team_name": "demo", "task_id": "1", "worker": "dev", "claim_token": held["claimToken"]});
    call(&world, "release-task-claim", release).unwrap();
    let later = call(&world, "claim-task", claim("k-3", "qa")).unwrap();
    assert_ne!(later["claimToken"], held["claimToken"]);
    // The first claim's answer is still that of its own key.
    assert_eq!(
        call(&world, "claim-task", claim("k-2", "dev")).unwrap(),
        held
    );
    let stored = kinds(&mut team)
        .iter()
        .filter(|kind| *kind == "response_stored")
        .count();
    assert_eq!(stored, 3);
}

#[test]
fn the_answer_lies_in_the_group_of_its_events() {
    let world = World::new();
    let mut team = world.demo();
    call(&world, "create-task", create("k-1", "one")).unwrap();
    let kinds = kinds(&mut team);
    assert_eq!(
        kinds[kinds.len() - 2..],
        ["task_created", "response_stored"]
    );
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
    let world = World::new();
    let mut team = world.demo();
    let mut large = create("k-1", "one");
    large["description"] = json!("x".repeat(1_046_000));
    call(&world, "create-task", large.clone()).unwrap();
    let before = events(&mut team).len();
    assert_eq!(
        call(&world, "create-task", large).unwrap_err().code,
        "response_too_large"
    );
    assert_eq!(events(&mut team).len(), before);
}
