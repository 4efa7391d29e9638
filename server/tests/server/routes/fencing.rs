//! Fencing with epochs: refusals and their order.

use super::world::{SECOND, World};
use serde_json::{Value, json};
use std::ops::ControlFlow;
use teamlog_team::message::task_update::TaskUpdate;

const WAYS: [&str; 3] = ["renew", "complete", "fail"];

fn claimed() -> World {
    let world = World::new();
    world.story(
        r#"
        POST /v1/tasks {"title": "one"} -> 201
        POST /v1/tasks/1/claim {"agentId": "ada", "ttlMs": 1000} -> 200
        "#,
    );
    world
}

fn way(way: &str) -> String {
    format!("/v1/tasks/1/{way}")
}

/// Calls each route that presents a claim, with these fields. Checks the answers.
#[track_caller]
fn each(world: &World, lines: &str) {
    for name in WAYS {
        let lines = lines.lines().map(str::trim).filter(|line| !line.is_empty());
        for line in lines {
            world.story(&format!("POST {} {line}", way(name)));
        }
    }
}

#[test]
fn the_task_comes_first() {
    for name in WAYS {
        let line = r#"{"epoch": 9, "agentId": "eve"} -> 404 task_not_found"#;
        World::new().story(&format!("POST /v1/tasks/7/{name} {line}"));
    }
}

#[test]
fn then_the_epoch() {
    let world = claimed();
    each(
        &world,
        r#"
        {"epoch": 0, "agentId": "eve"} -> 409 epoch_mismatch
        {"epoch": 2, "agentId": "eve"} -> 409 epoch_mismatch
        {"epoch": 18446744073709551615, "agentId": "eve"} -> 409 epoch_mismatch
        {"agentId": "ada"} -> 400 invalid_input epoch
        {"epoch": "1"} -> 400 invalid_input
        {"epoch": 1.5} -> 400 invalid_input
        {"epoch": -1} -> 400 invalid_input
        {"epoch": [1]} -> 400 invalid_input
        "#,
    );
    // An old epoch is refused before the status of the task is checked, even if the task is finished.
    world.post(&way("complete"), json!({"epoch": 1})).done(200);
    each(&world, r#"{"epoch": 2} -> 409 epoch_mismatch"#);
}

#[test]
fn then_the_state() {
    let world = World::new();
    world.story(r#"POST /v1/tasks {"title": "one"} -> 201"#);
    each(
        &world,
        r#"{"epoch": 0, "agentId": "eve"} -> 409 claim_conflict"#,
    );
    world.story(
        r#"
        POST /v1/tasks/1/claim {"agentId": "ada"} -> 200
        POST /v1/tasks/1/complete {"epoch": 1} -> 200
        "#,
    );
    each(
        &world,
        r#"{"epoch": 1, "agentId": "eve"} -> 409 already_terminal"#,
    );
}

#[test]
fn then_the_holder_before_the_lease() {
    let world = claimed();
    world.later(2 * SECOND);
    each(
        &world,
        r#"{"epoch": 1, "agentId": "eve"} -> 403 not_holder"#,
    );
}

#[test]
fn an_override_skips_the_holder_never_the_epoch_and_is_recorded() {
    for name in WAYS {
        let world = claimed();
        let forced = |epoch: u64| json!({"epoch": epoch, "agentId": "eve", "force": true});
        world
            .post(&way(name), forced(2))
            .refused(409, "epoch_mismatch");
        world.post(&way(name), forced(1)).done(200);
        let mut team = world.served.root().team("demo").unwrap();
        let mut last = Value::Null;
        team.export(&mut |line| {
            last = serde_json::from_slice(line).unwrap();
            ControlFlow::Continue(())
        })
        .unwrap();
        assert_eq!(
            (&last["actor"], &last["payload"]["forced"]),
            (&json!("eve"), &json!(true)),
            "{name}: {last}"
        );
    }
}

#[test]
fn the_operations_hold_an_epoch_against_whoever_acts_too() {
    let world = claimed();
    let finish = |more: (&str, &str)| {
        let mut input = json!({"task_id": "1", "from": "in_progress", "to": "completed"});
        input["epoch"] = json!(1);
        input[more.0] = json!(more.1);
        world.post("/v1/api/transition-task-status", input)
    };
    finish(("worker", "eve")).refused(403, "not_holder");
    finish(("actor", "eve")).refused(403, "not_holder");
    finish(("actor", "ada")).done(200);
}

#[test]
fn what_messages_reported_of_a_claimed_task_is_shown() {
    let world = claimed();
    let mut team = world.served.root().team("demo").unwrap();
    team.task_update(TaskUpdate {
        from: "ada".into(),
        to: "lead".into(),
        task_id: "1".into(),
        status: Some("done".into()),
        progress: Some("40%".into()),
        eta: Some("noon".into()),
        blocked: Some(true),
        note: Some("no schema".into()),
        ..TaskUpdate::default()
    })
    .unwrap_or_else(|failure| panic!("{failure}"));
    for task in [
        &world.get("/v1/tasks/1").done(200)["task"],
        &world.get("/v1/tasks").done(200)["tasks"][0],
    ] {
        for (field, value) in [
            ("status", json!("in_progress")),
            ("reportedStatus", json!("completed")),
            ("reportedBlocked", json!(true)),
            ("reportedProgress", json!("40%")),
            ("reportedEta", json!("noon")),
            ("reportedNote", json!("no schema")),
            ("reportedBy", json!("ada")),
            ("reportedAt", json!("2026-11-21T12:00:00.000Z")),
        ] {
            assert_eq!(task[field], value, "{field}: {task}");
        }
    }
}

#[test]
fn a_holder_who_claims_again_is_told_that_it_holds_the_task() {
    let world = claimed();
    let again = world.post("/v1/tasks/1/claim", json!({"agentId": "ada"}));
    let details = &again.refused(409, "claim_conflict").json["error"]["details"];
    assert_eq!(details["yours"], true);
    assert_eq!(details["epoch"], 1);
    let other = world.post("/v1/tasks/1/claim", json!({"agentId": "eve"}));
    let details = &other.refused(409, "claim_conflict").json["error"]["details"];
    assert_eq!(details.get("yours"), None);
}

#[test]
fn a_lease_that_ran_out_is_told_the_same_before_and_after_it_is_recorded() {
    let world = claimed();
    world.later(SECOND);
    let before = world.get("/v1/tasks/1").done(200);
    assert_eq!(before["task"]["leaseExpired"], true);
    for _ in 0..2 {
        each(
            &world,
            r#"{"epoch": 1, "agentId": "ada"} -> 403 lease_expired"#,
        );
    }
    let after = world.get("/v1/tasks/1").done(200);
    assert_eq!(after["task"]["status"], "pending");
    assert_eq!(after["task"]["lease"], Value::Null);
}

#[test]
fn a_zombie_completes_nothing_once_somebody_else_holds_the_task() {
    let world = claimed();
    world.later(5 * SECOND);
    let again = world.story(r#"POST /v1/tasks/1/claim {"agentId": "bob"} -> 200"#);
    assert_eq!(again["lease"]["epoch"], 2);
    world.story(
        r#"
        POST /v1/tasks/1/complete {"epoch": 1, "agentId": "ada"} -> 409 epoch_mismatch
        POST /v1/tasks/1/complete {"epoch": 2, "agentId": "ada"} -> 403 not_holder
        POST /v1/tasks/1/complete {"epoch": 2, "agentId": "bob"} -> 200
        "#,
    );
}

#[test]
fn nobody_claims_what_another_holds() {
    let world = claimed();
    let second = world.post("/v1/tasks/1/claim", json!({"agentId": "bob"}));
    let details = &second.refused(409, "claim_conflict").json["error"]["details"];
    assert_eq!(details["owner"], "ada");
    assert_eq!(details["epoch"], 1);
}
