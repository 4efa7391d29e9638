//! Fencing with epochs: refusals and their order.

use super::world::World;
use serde_json::json;
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
