//! Every operation is called by name. The answers have the envelope of operations.

use super::world::{SECOND, World};
use serde_json::json;

#[test]
fn an_operation_answers_in_its_envelope() {
    let world = World::new();
    let envelope =
        world.story(r#"POST /v1/api/create-task {"subject": "one", "description": "d"} -> 200"#);
    assert_eq!(envelope["ok"], true);
    assert_eq!(envelope["command"], "teamlog api create-task");
    assert_eq!(envelope["data"]["task"]["id"], "1");
    let read =
        world.story(r#"POST /v1/api/team_read_task {"team_name": "demo", "task_id": "1"} -> 200"#);
    assert_eq!(read["data"]["task"]["subject"], "one");
}

#[test]
fn its_faults_have_the_status_of_their_code() {
    let world = World::new();
    for line in [
        r#"read-task {"task_id": "9"} -> 404 task_not_found"#,
        r#"read-task {} -> 400 invalid_input"#,
        r#"read-task {"task_id": "../x"} -> 400 operation_failed"#,
        r#"read-task {"task_id": "1", "more": 1} -> 400 invalid_input"#,
        r#"read-task {"team_name": "other", "task_id": "1"} -> 404 team_not_found"#,
        r#"read-task {"team_name": ["demo"], "task_id": "1"} -> 400 invalid_input"#,
        r#"read-task {"team_name": 7, "task_id": "1"} -> 400 invalid_input"#,
        r#"no-such-thing {} -> 404 unknown_operation"#,
    ] {
        let envelope = world.story(&format!("POST /v1/api/{line}"));
        assert_eq!(envelope["ok"], false);
        assert_eq!(envelope["schema_version"], "1.0");
    }
    world.story("POST /v1/api/read-task { -> 400 invalid_json");
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
