//! Routes that answer with the data of an operation.

use super::world::{SECOND, World, call};
use serde_json::{Value, json};
use teamlog_server::Method;
use teamlog_team::lifecycle::tick::Tick;
use teamlog_team::message::send::{Require, Send};

/// Asserts that a route and its operation give equal answers. Returns the answer.
#[track_caller]
fn same(world: &World, target: &str, operation: &str, input: &str) -> Value {
    let row = world.get(target).done(200);
    let asked = world.post_text(&format!("/v1/api/{operation}"), input);
    assert_eq!(row, asked.done(200)["data"], "{target}");
    row
}

#[test]
fn a_mailbox_is_the_inbox_itself() {
    let world = World::with(&["lead", "dev"]);
    for body in ["one", "two", "three"] {
        let input = json!({"from_worker": "lead", "to_worker": "dev", "body": body});
        world.post("/v1/api/send-message", input).done(200);
    }
    let input = r#"{"agent": "dev"}"#;
    let whole = same(&world, "/v1/mailbox?agentId=dev", "read-inbox", input);
    assert_eq!(whole["count"], 3);
    let target = "/v1/mailbox?agentId=dev&limit=2&unread=true";
    let input = r#"{"agent": "dev", "limit": 2, "unread": true}"#;
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
    let none = same(&world, "/v1/bootstrap", "bootstrap-list", "{}");
    assert_eq!(none["runs"], json!([]));
    world.story("GET /v1/bootstrap/none -> 404 run_not_found");
    let started = world.post("/v1/api/bootstrap-start", json!({})).done(200);
    let run = started["data"]["run"].as_str().expect("a run").to_owned();
    let listed = same(&world, "/v1/bootstrap", "bootstrap-list", "{}");
    assert_eq!(listed["runs"][0]["run"], *run);
    let target = format!("/v1/bootstrap/{run}");
    let input = format!(r#"{{"run": "{run}"}}"#);
    let shown = same(&world, &target, "bootstrap-show", &input);
    assert_eq!(shown["run"], *run);

    world
        .post("/v1/api/mode-start", json!({"mode": "blueprint"}))
        .done(200);
    let (target, input) = ("/v1/modes/explain?mode=forge", r#"{"mode": "forge"}"#);
    let denied = same(&world, target, "mode-explain", input);
    let target = "/v1/modes/explain?mode=forge&sessionId=s-1";
    let input = r#"{"mode": "forge", "session_id": "s-1"}"#;
    same(&world, target, "mode-explain", input);
    assert!(denied.is_object());
    world.story("GET /v1/modes/explain?mode=none -> 400 unsupported_mode");
}

#[test]
fn deliveries_become_dead_letters_that_are_requeued_under_a_key() {
    let world = World::with(&["lead", "dev"]);
    let empty = same(&world, "/v1/deliveries", "list-deliveries", "{}");
    assert_eq!(empty["count"], 0);
    assert_eq!(empty["next_cursor"], Value::Null);
    let mut team = world.served.team("demo").unwrap();
    for id in ["m1", "m2"] {
        team.send(Send {
            message_id: Some(id.into()),
            from: "lead".into(),
            to: "dev".into(),
            kind: "handoff".into(),
            delivery: Some(Require {
                ack_timeout_seconds: Some(10),
                max_retries: Some(0),
            }),
            ..Send::default()
        })
        .unwrap();
    }
    let target = "/v1/deliveries?limit=1";
    let page = same(&world, target, "list-deliveries", r#"{"limit": 1}"#);
    let cursor = page["next_cursor"].as_str().unwrap();
    let next = world.get(&format!("{target}&cursor={cursor}")).done(200);
    assert_eq!(next["deliveries"][0]["message_id"], "m2");
    world.story(
        "
        GET /v1/deliveries?cursor=m1 -> 400 cursor_unknown cursor
        POST /v1/dead-letters/m1/requeue {} -> 404 dead_letter_not_found messageId
        ",
    );
    world.later(11 * SECOND);
    team.tick(Tick::default()).unwrap();
    let target = "/v1/dead-letters?agentId=dev&limit=1";
    let input = r#"{"agent": "dev", "limit": 1}"#;
    let letters = same(&world, target, "list-dead-letters", input);
    assert_eq!(letters["dead_letters"][0]["message_id"], "m2");
    assert!(letters["next_cursor"].is_string());

    let mut requeue = call(
        Method::Post,
        "/v1/dead-letters/m1/requeue",
        r#"{"agentId": "lead", "maxRetries": 3}"#,
    );
    requeue.key = Some("once".to_owned());
    let said = world.ask(requeue.clone()).done(200);
    assert_eq!(said["delivery"]["max_retries"], 3);
    assert_eq!(said["event"]["actor"], "lead");
    let again = world.ask(requeue);
    assert_eq!(again.header("Idempotent-Replayed"), Some("true"));
    assert_eq!(again.done(200), said);
    world.story(
        "
        POST /v1/dead-letters/m1/requeue {} -> 409 delivery_open messageId
        GET /v1/dead-letters?agentId=nobody -> 404 worker_not_found
        GET /v1/dead-letters?cursor=nothing -> 400 cursor_unknown cursor
        ",
    );
}

#[test]
fn threads_are_listed_with_what_was_said_last() {
    let world = World::new();
    world.story(
        r#"
        POST /v1/threads {"title": "first", "participants": ["ada", "bob"]} -> 201
        POST /v1/threads {"title": "second", "participants": ["bob"]} -> 201
        POST /v1/threads/thread-0001/messages {"agentId": "ada", "body": "one"} -> 201
        POST /v1/threads/thread-0001/messages {"agentId": "bob", "body": "two"} -> 201
        "#,
    );
    let all = same(&world, "/v1/threads", "list-threads", "{}");
    assert_eq!(all["count"], 2);
    assert_eq!(all["threads"][0]["id"], "thread-0002");
    assert_eq!(all["threads"][0]["last_by"], Value::Null);
    let first = &all["threads"][1];
    assert_eq!(first["messages"], 2);
    assert_eq!(first["last_by"], "bob");
    assert_eq!(first["last_text"], "two");
    let page = same(
        &world,
        "/v1/threads?limit=1",
        "list-threads",
        r#"{"limit": 1}"#,
    );
    assert_eq!(page["next_cursor"], "thread-0002");
    let next = world
        .get("/v1/threads?limit=1&cursor=thread-0002")
        .done(200);
    assert_eq!(
        (&next["threads"][0], &next["next_cursor"]),
        (first, &Value::Null)
    );
    world.story("GET /v1/threads?cursor=nothing -> 400 cursor_unknown cursor");
}
