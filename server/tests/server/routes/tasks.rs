//! Tasks from creation to completion.

use super::world::{SECOND, World};
use serde_json::{Value, json};

#[test]
fn a_task_shows_the_approval_that_it_requires() {
    let world = World::new();
    let made = world.story(r#"POST /v1/tasks {"title": "one", "requiresApproval": true} -> 201"#);
    assert_eq!(made["task"]["requiresApproval"], true);
    let shown = world.story(
        r#"
        POST /v1/tasks/1/claim {"agentId": "ada"} -> 200
        POST /v1/tasks/1/complete {"agentId": "ada", "epoch": 1} -> 409 approval_required
        POST /v1/api/write-task-approval {"task_id": "1", "status": "rejected", "reviewer": "lead", "decision_reason": "r"} -> 200
        GET /v1/tasks/1 -> 200
        "#,
    );
    assert_eq!(shown["task"]["approval"]["decisionReason"], "r");
    let listed = world.story("GET /v1/tasks -> 200");
    assert_eq!(listed["tasks"][0]["approval"]["status"], "rejected");
}

fn keys(value: &Value) -> Vec<&str> {
    // The keys of a parsed object are sorted.
    value
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect()
}

#[test]
fn a_task_is_made_claimed_and_completed() {
    let world = World::new();
    let made = world.post(
        "/v1/tasks",
        json!({"title": " Fix bug ", "description": "", "deps": [], "resources": []}),
    );
    let made = made.done(201);
    assert_eq!(made["task"]["id"], "1");
    assert_eq!(made["task"]["title"], "Fix bug");
    assert_eq!(made["task"]["status"], "pending");
    assert_eq!(made["task"]["owner"], Value::Null);
    assert_eq!(made["task"]["lease"], Value::Null);
    assert_eq!(made["task"]["epoch"], 0);

    let claimed =
        world.story(r#"POST /v1/tasks/1/claim {"teamId": "demo", "agentId": "ada"} -> 200"#);
    assert_eq!(keys(&claimed), ["lease", "task", "taskId"]);
    assert_eq!(claimed["taskId"], "1");
    assert_eq!(
        claimed["lease"],
        json!({"holder": "ada", "epoch": 1, "expiresAt": "2026-11-21T12:05:00.000Z"})
    );
    assert_eq!(claimed["task"]["lease"], claimed["lease"]);
    assert_eq!(claimed["task"]["status"], "in_progress");

    world.later(60 * SECOND);
    for ttl in [600_000, 1000] {
        let renewed = world.post(
            "/v1/tasks/1/renew",
            json!({"agentId": "ada", "epoch": 1, "ttlMs": ttl}),
        );
        let expires = &renewed.done(200)["lease"]["expiresAt"];
        assert_eq!(expires, "2026-11-21T12:11:00.000Z");
    }

    let done = world.story(
        r#"POST /v1/tasks/1/complete {"agentId": "ada", "epoch": 1, "result": "fixed"} -> 200"#,
    );
    assert_eq!(done["task"]["status"], "completed");
    assert_eq!(done["task"]["owner"], "ada");
    assert_eq!(done["task"]["lease"], Value::Null);
    assert_eq!(
        done["task"]["timestamps"]["completedAt"],
        "2026-11-21T12:01:00.000Z"
    );
    assert_eq!(done["task"]["timestamps"]["failedAt"], Value::Null);
    let read = world.get("/v1/tasks/1?teamId=demo").done(200);
    assert_eq!(read["task"], done["task"]);
}

#[test]
fn a_task_has_the_fields_of_the_protocol_in_its_order() {
    let world = World::new();
    let made = world.post("/v1/tasks", json!({"title": "one"}));
    let text = String::from_utf8(made.reply.body).unwrap();
    let mut at = 0;
    for name in "schemaVersion id title description status owner deps resources lease epoch timestamps createdAt startedAt \
                 completedAt failedAt"
        .split_whitespace()
    {
        let found = text
            .find(&format!("\"{name}\":"))
            .unwrap_or_else(|| panic!("{name}"));
        assert!(found > at, "{name} in {text}");
        at = found;
    }
    assert!(text.ends_with("}}\n"), "{text}");
}

#[test]
fn a_failed_task_says_when_and_frees_nobody() {
    let world = World::new();
    let second = world.story(
        r#"
        POST /v1/tasks {"title": "first"} -> 201
        POST /v1/tasks {"title": "second", "deps": [" 1 ", "1", ""]} -> 201
        "#,
    );
    assert_eq!(second["task"]["deps"], json!(["1"]));
    assert_eq!(second["task"]["status"], "blocked");
    let failed = world.story(
        r#"
        POST /v1/tasks/2/claim {"agentId": "ada"} -> 409 blocked_dependency
        POST /v1/tasks/1/claim {"agentId": "ada"} -> 200
        POST /v1/tasks/1/fail {"epoch": 1, "error": "no"} -> 200
        "#,
    );
    assert_eq!(failed["task"]["status"], "failed");
    assert_eq!(failed["task"]["error"], "no");
    assert_eq!(
        failed["task"]["timestamps"]["failedAt"],
        "2026-11-21T12:00:00.000Z"
    );
    assert_eq!(failed["task"]["timestamps"]["completedAt"], Value::Null);
    let second = world.get("/v1/tasks/2").done(200);
    assert_eq!(second["task"]["status"], "blocked");
    assert_eq!(second["task"]["failedDependencies"], json!(["1"]));
    assert_eq!(second["task"].get("unknownDependencies"), None);
    let all = world.get("/v1/tasks").done(200);
    assert_eq!(all["tasks"][1], second["task"]);
    assert_eq!(all["tasks"][0].get("failedDependencies"), None);
}

#[test]
fn tasks_are_listed_in_natural_order_and_in_pages() {
    let world = World::new();
    for number in 1..=11 {
        world
            .post("/v1/tasks", json!({"title": format!("task {number}")}))
            .done(201);
    }
    let ids = |answer: &Value| -> Vec<String> {
        let tasks = answer["tasks"].as_array().unwrap().iter();
        tasks
            .map(|task| task["id"].as_str().unwrap().to_owned())
            .collect()
    };
    let all = world.get("/v1/tasks").done(200);
    let natural: Vec<String> = (1..=11).map(|number| number.to_string()).collect();
    assert_eq!(ids(&all), natural);
    assert_eq!(all.get("nextCursor"), None);
    let first = world.get("/v1/tasks?limit=2").done(200);
    assert_eq!(ids(&first), ["1", "2"]);
    assert_eq!(first["nextCursor"], "2");
    let next = world.get("/v1/tasks?limit=2&cursor=2").done(200);
    assert_eq!(ids(&next), ["3", "4"]);
    world.story("GET /v1/tasks?cursor=77 -> 400 cursor_unknown");
    let none = world.get("/v1/tasks?status=completed").done(200);
    assert_eq!(none["tasks"], json!([]));
    world.story("GET /v1/tasks?status=lazy -> 400 invalid_input");
}

#[test]
fn no_segment_of_a_path_becomes_one_of_the_disk() {
    let world = World::new();
    for id in ["..%2Fruntime", "../team", "..", "a/b", "a\u{0}b"] {
        let said = world.ask(teamlog_server::Call {
            path: ["v1", "tasks", id].map(str::to_owned).to_vec(),
            ..super::world::call(teamlog_server::Method::Get, "/", "")
        });
        said.refused(400, "invalid_input");
    }
    world.get("/v1/tasks/none").refused(404, "task_not_found");
    world
        .get(&format!("/v1/tasks/{}", "x".repeat(300)))
        .refused(400, "invalid_input");
}

#[test]
fn a_task_that_waits_for_none_that_exists_says_so() {
    let world = World::new();
    let made = world.story(r#"POST /v1/tasks {"title": "one", "deps": ["9"]} -> 201"#);
    assert_eq!(made["unknownDeps"], json!(["9"]));
    assert_eq!(made["task"]["unknownDependencies"], json!(["9"]));
    assert_eq!(made.get("ownerUnknown"), None);
    let shown = world.get("/v1/tasks/1").done(200);
    assert_eq!(shown, json!({"task": made["task"]}));
    assert_eq!(world.get("/v1/tasks").done(200)["tasks"][0], made["task"]);
    let nine = world.story(r#"POST /v1/tasks {"title": "nine", "deps": ["1"]} -> 201"#);
    assert_eq!(keys(&nine), ["task"]);
}
