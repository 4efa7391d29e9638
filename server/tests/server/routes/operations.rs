//! Every operation by its name, in its own envelope.

use super::world::{SECOND, World};
use serde_json::json;

#[test]
fn an_operation_answers_in_its_envelope() {
    let world = World::new();
    let said = world.post(
        "/v1/api/create-task",
        json!({"subject": "one", "description": "d"}),
    );
    let envelope = said.done(200);
    assert_eq!(envelope["ok"], true);
    assert_eq!(envelope["command"], "teamlog api create-task");
    assert_eq!(envelope["data"]["task"]["id"], "1");
    let read = world.post(
        "/v1/api/team_read_task",
        json!({"team_name": "demo", "task_id": "1"}),
    );
    assert_eq!(read.done(200)["data"]["task"]["subject"], "one");
}

#[test]
fn its_faults_have_the_status_of_their_code() {
    let world = World::new();
    for (operation, body, status, code) in [
        ("read-task", json!({"task_id": "9"}), 404, "task_not_found"),
        ("read-task", json!({}), 400, "invalid_input"),
        (
            "read-task",
            json!({"task_id": "../x"}),
            400,
            "operation_failed",
        ),
        (
            "read-task",
            json!({"task_id": "1", "more": 1}),
            400,
            "invalid_input",
        ),
        (
            "read-task",
            json!({"team_name": "other", "task_id": "1"}),
            404,
            "team_not_found",
        ),
        (
            "read-task",
            json!({"team_name": ["demo"], "task_id": "1"}),
            400,
            "invalid_input",
        ),
        (
            "read-task",
            json!({"team_name": 7, "task_id": "1"}),
            400,
            "invalid_input",
        ),
        ("no-such-thing", json!({}), 404, "unknown_operation"),
    ] {
        let said = world.post(&format!("/v1/api/{operation}"), body);
        said.refused(status, code);
        assert_eq!(said.json["ok"], false);
        assert_eq!(said.json["schema_version"], "1.0");
    }
    world
        .post_text("/v1/api/read-task", "{")
        .refused(400, "invalid_json");
}

#[test]
fn a_repetition_gets_the_first_envelope_with_its_time() {
    let world = World::new();
    let body = json!({"subject": "one", "description": "d"});
    let first = world.keyed("k", "/v1/api/create-task", body.clone());
    world.later(77 * SECOND);
    let again = world.keyed("k", "/v1/api/create-task", body.clone());
    assert_eq!(again.header("Idempotent-Replayed"), Some("true"));
    assert_eq!(first.header("Idempotent-Replayed"), None);
    assert_eq!(first.reply.body, again.reply.body);
    let mut with_key = body;
    with_key["key"] = "k".into();
    let inner = world.post("/v1/api/create-task", with_key);
    assert_eq!(inner.reply.body, first.reply.body);
}
