//! Rows that answer an operation's data as it is.

use super::world::World;
use serde_json::{Value, json};

/// What an operation answers is what its row answers.
#[track_caller]
fn same(world: &World, target: &str, operation: &str, input: Value) -> Value {
    let row = world.get(target).done(200);
    let envelope = world.post(&format!("/v1/api/{operation}"), input).done(200);
    assert_eq!(row, envelope["data"], "{target}");
    row
}

#[test]
fn a_mailbox_is_the_inbox_itself() {
    let world = World::with(&["lead", "dev"]);
    for body in ["one", "two", "three"] {
        let input = json!({"from_worker": "lead", "to_worker": "dev", "body": body});
        world.post("/v1/api/send-message", input).done(200);
    }
    let whole = same(
        &world,
        "/v1/mailbox?agentId=dev",
        "read-inbox",
        json!({"agent": "dev"}),
    );
    assert_eq!(whole["count"], 3);
    let target = "/v1/mailbox?agentId=dev&limit=2&unread=true";
    let input = json!({"agent": "dev", "limit": 2, "unread": true});
    let page = same(&world, target, "read-inbox", input);
    assert_eq!(page["count"], 2);
    let cursor = page["next_cursor"].as_str().unwrap();
    let older = world.get(&format!("{target}&cursor={cursor}")).done(200);
    assert_eq!(older["messages"][0], whole["messages"][0]);
    world.story(
        "
        GET /v1/mailbox -> 400 invalid_input
        GET /v1/mailbox?agentId=nobody -> 404 worker_not_found
        GET /v1/mailbox?agentId=dev&limit=1001 -> 400 invalid_input
        ",
    );
}

#[test]
fn runs_and_what_would_become_of_a_mode_are_read() {
    let world = World::new();
    let none = same(&world, "/v1/bootstrap", "bootstrap-list", json!({}));
    assert_eq!(none["runs"], json!([]));
    world.story("GET /v1/bootstrap/none -> 404 run_not_found");
    let started = world.post("/v1/api/bootstrap-start", json!({})).done(200);
    let run = started["data"]["run"].as_str().expect("a run").to_owned();
    let listed = same(&world, "/v1/bootstrap", "bootstrap-list", json!({}));
    assert_eq!(listed["runs"][0]["run"], *run);
    let target = format!("/v1/bootstrap/{run}");
    let shown = same(&world, &target, "bootstrap-show", json!({"run": run}));
    assert_eq!(shown["run"], *run);

    world
        .post("/v1/api/mode-start", json!({"mode": "blueprint"}))
        .done(200);
    let denied = same(
        &world,
        "/v1/modes/explain?mode=forge",
        "mode-explain",
        json!({"mode": "forge"}),
    );
    let target = "/v1/modes/explain?mode=forge&sessionId=s-1";
    let input = json!({"mode": "forge", "session_id": "s-1"});
    same(&world, target, "mode-explain", input);
    assert!(denied.is_object());
    world.story("GET /v1/modes/explain?mode=none -> 400 unsupported_mode");
}
