//! What is read for people who look on.

use super::world::{SECOND, World};
use serde_json::json;

#[test]
fn what_needs_attention_is_answered_as_the_operation_has_it() {
    let world = World::new();
    world.story(
        r#"
        POST /v1/tasks {"title": "one"} -> 201
        POST /v1/tasks {"title": "two", "deps": ["1"]} -> 201
        POST /v1/tasks/1/claim {"agentId": "ada", "ttlMs": 1000} -> 200
        "#,
    );
    assert_eq!(world.get("/v1/attention").done(200)["items"], json!([]));
    world.later(2 * SECOND);
    let answer = world.get("/v1/attention?limit=5").done(200);
    assert_eq!(
        (&answer["team"], &answer["count"]),
        (&json!("demo"), &json!(1))
    );
    assert_eq!(
        answer["items"],
        json!([{"kind": "lease_expired", "severity": "warning", "text": "lease ran out: 1 of ada",
            "command": "teamlog task claim demo 1 --worker ada", "task_id": "1", "agent": "ada",
            "seq": answer["items"][0]["seq"], "since": "2026-11-21T12:00:01.000000Z"}])
    );
    let envelope = world.story("POST /v1/api/list-attention {} -> 200");
    assert_eq!(envelope["data"]["items"], answer["items"]);
    world.story("GET /v1/attention?limit=0 -> 400 invalid_input limit");
}
