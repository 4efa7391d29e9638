//! Epochs fence: who is told what, in which order.

use crate::world::{SECOND, World};
use serde_json::{Value, json};

const WAYS: [&str; 3] = ["renew", "complete", "fail"];

fn claimed() -> World {
    let world = World::new();
    world.post("/v1/tasks", json!({"title": "one"})).done(201);
    world
        .post(
            "/v1/tasks/1/claim",
            json!({"agentId": "ada", "ttlMs": 1000}),
        )
        .done(200);
    world
}

fn way(way: &str) -> String {
    format!("/v1/tasks/1/{way}")
}

#[test]
fn the_task_comes_first() {
    let world = World::new();
    for name in WAYS {
        let target = format!("/v1/tasks/7/{name}");
        world
            .post(&target, json!({"epoch": 9, "agentId": "eve"}))
            .refused(404, "task_not_found");
    }
}

#[test]
fn then_the_epoch() {
    let world = claimed();
    for name in WAYS {
        for epoch in [0, 2, u64::MAX] {
            world
                .post(&way(name), json!({"epoch": epoch, "agentId": "eve"}))
                .refused(409, "epoch_mismatch");
        }
        let missing = world.post(&way(name), json!({"agentId": "ada"}));
        assert_eq!(
            missing.refused(400, "invalid_input").json["error"]["details"]["field"],
            "epoch"
        );
        for odd in [json!("1"), json!(1.5), json!(-1), json!([1])] {
            world
                .post(&way(name), json!({"epoch": odd}))
                .refused(400, "invalid_input");
        }
    }
    // Of a task that is finished too, a stale epoch is told before the state.
    world.post(&way("complete"), json!({"epoch": 1})).done(200);
    for name in WAYS {
        world
            .post(&way(name), json!({"epoch": 2}))
            .refused(409, "epoch_mismatch");
    }
}

#[test]
fn then_the_state() {
    let world = World::new();
    world.post("/v1/tasks", json!({"title": "one"})).done(201);
    for name in WAYS {
        world
            .post(&way(name), json!({"epoch": 0, "agentId": "eve"}))
            .refused(409, "claim_conflict");
    }
    world
        .post("/v1/tasks/1/claim", json!({"agentId": "ada"}))
        .done(200);
    world.post(&way("complete"), json!({"epoch": 1})).done(200);
    for name in WAYS {
        world
            .post(&way(name), json!({"epoch": 1, "agentId": "eve"}))
            .refused(409, "already_terminal");
    }
}

#[test]
fn then_the_holder_before_the_lease() {
    let world = claimed();
    world.later(2 * SECOND);
    for name in WAYS {
        world
            .post(&way(name), json!({"epoch": 1, "agentId": "eve"}))
            .refused(403, "not_holder");
    }
}

#[test]
fn a_lease_that_ran_out_is_told_the_same_before_and_after_it_is_recorded() {
    let world = claimed();
    world.later(SECOND);
    let before = world.get("/v1/tasks/1").done(200);
    assert_eq!(before["task"]["leaseExpired"], true);
    for name in WAYS.iter().cycle().take(6) {
        world
            .post(&way(name), json!({"epoch": 1, "agentId": "ada"}))
            .refused(403, "lease_expired");
    }
    let after = world.get("/v1/tasks/1").done(200);
    assert_eq!(after["task"]["status"], "pending");
    assert_eq!(after["task"]["lease"], Value::Null);
}

#[test]
fn a_zombie_completes_nothing_once_somebody_else_holds_the_task() {
    let world = claimed();
    world.later(5 * SECOND);
    let again = world
        .post("/v1/tasks/1/claim", json!({"agentId": "bob"}))
        .done(200);
    assert_eq!(again["lease"]["epoch"], 2);
    let late = world.post(&way("complete"), json!({"epoch": 1, "agentId": "ada"}));
    late.refused(409, "epoch_mismatch");
    world
        .post(&way("complete"), json!({"epoch": 2, "agentId": "ada"}))
        .refused(403, "not_holder");
    world
        .post(&way("complete"), json!({"epoch": 2, "agentId": "bob"}))
        .done(200);
}

#[test]
fn nobody_claims_what_another_holds() {
    let world = claimed();
    let second = world.post("/v1/tasks/1/claim", json!({"agentId": "bob"}));
    let details = &second.refused(409, "claim_conflict").json["error"]["details"];
    assert_eq!(details["owner"], "ada");
    assert_eq!(details["epoch"], 1);
}
