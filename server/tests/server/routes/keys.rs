//! A request that is repeated with its key is carried out once. The answers have equal bytes.

use super::world::{SECOND, World, call};
use serde_json::{Value, json};
use teamlog_server::{Call, Method};

const REPLAYED: &str = "Idempotent-Replayed";

fn count(world: &World) -> u64 {
    world.get("/v1/status").done(200)["events"]
        .as_u64()
        .unwrap()
}

#[test]
fn a_repetition_gets_the_first_bytes_also_when_the_world_moved_on_and_after_a_restart() {
    let world = World::new();
    let create = json!({"title": "one", "resources": ["src"]});
    let first = world.keyed("k1", "/v1/tasks", create.clone());
    assert_eq!((first.status, first.header(REPLAYED)), (201, None));
    world.story(r#"POST /v1/tasks/1/claim {"agentId": "ada"} -> 200"#);
    let done = world.keyed("k3", "/v1/tasks/1/complete", json!({"epoch": 1}));
    assert_eq!(done.status, 200);
    let events = count(&world);
    world.later(3_600 * SECOND);
    let check = |world: &World| {
        for (key, target, body, before) in [
            ("k1", "/v1/tasks", create.clone(), &first),
            ("k3", "/v1/tasks/1/complete", json!({"epoch": 1}), &done),
        ] {
            let again = world.keyed(key, target, body);
            assert_eq!(again.reply.body, before.reply.body);
            assert_eq!(again.status, before.status);
            assert_eq!(again.header(REPLAYED), Some("true"));
        }
        assert_eq!(count(world), events);
    };
    check(&world);
    check(&world.restarted());
}

#[test]
fn how_a_body_is_written_makes_no_other_request() {
    let world = World::new();
    let ask = |body: &str| {
        world.ask(Call {
            key: Some("k".to_owned()),
            ..call(Method::Post, "/v1/tasks", body)
        })
    };
    let first = ask(r#"{"title":"é","description":"d"}"#);
    let again = ask("{ \"description\" : \"d\",\n\"title\":\"\\u00e9\" }");
    assert_eq!(first.reply.body, again.reply.body);
    assert_eq!(again.header(REPLAYED), Some("true"));
}

#[test]
fn another_request_under_the_key_is_refused_and_changes_nothing() {
    let world = World::new();
    world.story(
        r#"
        k: POST /v1/tasks {"title": "one"} -> 201
        POST /v1/tasks {"title": "two"} -> 201
        "#,
    );
    let events = count(&world);
    world.story(
        r#"
        k: POST /v1/tasks {"title": "other"} -> 422 idempotency_key_reused
        k: POST /v1/tasks {"title": "one", "description": "more"} -> 422 idempotency_key_reused
        k: POST /v1/tasks/1/claim {"agentId": "ada"} -> 422 idempotency_key_reused
        k: POST /v1/tasks/2/claim {"agentId": "ada"} -> 422 idempotency_key_reused
        k: POST /v1/api/create-task {"subject": "one", "description": "d"} -> 422 idempotency_key_reused
        "#,
    );
    assert_eq!(count(&world), events);
    // An equal body for another task is another request.
    world.story(
        r#"
        c: POST /v1/tasks/1/claim {"agentId": "ada"} -> 200
        c: POST /v1/tasks/2/claim {"agentId": "ada"} -> 422 idempotency_key_reused
        "#,
    );
}

#[test]
fn duplicates_at_the_same_time_are_one() {
    let world = World::new();
    let bodies: Vec<Vec<u8>> = std::thread::scope(|scope| {
        let ask = || {
            world
                .keyed("k", "/v1/tasks", json!({"title": "one"}))
                .reply
                .body
        };
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(ask)).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    assert!(bodies.iter().all(|body| *body == bodies[0]));
    let tasks = world.get("/v1/tasks").done(200);
    assert_eq!(tasks["tasks"].as_array().map(Vec::len), Some(1));
}

#[test]
fn a_key_that_is_no_identifier_is_refused() {
    let world = World::new();
    for key in ["a\nb", &"x".repeat(129)] {
        let said = world.keyed(key, "/v1/tasks", json!({"title": "one"}));
        said.refused(400, "invalid_input");
        assert_eq!(said.json["error"]["details"]["field"], "Idempotency-Key");
    }
    for key in ["__proto__", "constructor", "a/b"] {
        let first = world
            .keyed(key, "/v1/tasks", json!({"title": "one"}))
            .done(201);
        let again: Value = world
            .keyed(key, "/v1/tasks", json!({"title": "one"}))
            .done(201);
        assert_eq!(first, again);
    }
}
