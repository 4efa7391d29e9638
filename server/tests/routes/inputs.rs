//! What is asked wrongly is refused, and named.

use crate::world::{World, call};
use serde_json::json;
use teamlog_server::{Call, Method, route};

fn field(said: &crate::world::Said) -> &str {
    said.json["error"]["details"]["field"]
        .as_str()
        .unwrap_or("-")
}

#[test]
fn unknown_fields_are_named() {
    let world = World::new();
    let said = world.post("/v1/tasks", json!({"title": "one", "titel": "two"}));
    assert_eq!(field(said.refused(400, "invalid_input")), "titel");
    let said = world.get("/v1/tasks?team=demo");
    assert_eq!(field(said.refused(400, "invalid_input")), "team");
    // What the path says is no field of the body.
    let said = world.post(
        "/v1/tasks/1/claim",
        json!({"agentId": "ada", "taskId": "2"}),
    );
    assert_eq!(field(said.refused(400, "invalid_input")), "taskId");
    let said = world.post("/v1/tasks?title=x", json!({}));
    assert_eq!(field(said.refused(400, "invalid_input")), "title");
    let said = world.get("/v1/tasks?owner=a&owner=b");
    assert_eq!(field(said.refused(400, "invalid_input")), "owner");
}

#[test]
fn missing_and_mistyped_fields_are_named() {
    let world = World::new();
    for (body, name) in [
        (json!({}), "title"),
        (json!({"title": ""}), "title"),
        (json!({"title": " \t"}), "title"),
        (json!({"title": null}), "title"),
        (json!({"title": 7}), "title"),
        (json!({"title": "a", "deps": "1"}), "deps"),
        (json!({"title": "a", "deps": [1]}), "deps"),
        (json!({"title": "a", "deps": ["a/b"]}), "deps"),
        (json!({"title": "a", "priority": "soon"}), "priority"),
        (json!({"title": "a", "teamId": 7}), "teamId"),
    ] {
        let said = world.post("/v1/tasks", body.clone());
        assert_eq!(
            field(said.refused(400, "invalid_input")),
            name,
            "{body} {}",
            said.json
        );
    }
    world.post("/v1/tasks", json!({"title": "one"})).done(201);
    for ttl in [
        json!(0),
        json!(999),
        json!(-1),
        json!(1e15),
        json!(1e18),
        json!("9000"),
        json!(86_400_001),
    ] {
        let said = world.post("/v1/tasks/1/claim", json!({"agentId": "ada", "ttlMs": ttl}));
        assert_eq!(field(said.refused(400, "invalid_input")), "ttlMs");
    }
    let said = world.post("/v1/tasks/1/claim", json!({}));
    assert_eq!(field(said.refused(400, "invalid_input")), "agentId");
    let said = world.post("/v1/tasks/1/claim", json!({"agentId": "a b"}));
    assert_eq!(field(said.refused(400, "invalid_input")), "agentId");
    let said = world.get("/v1/tasks?limit=ten");
    assert_eq!(field(said.refused(400, "invalid_input")), "limit");
    let said = world.get("/v1/tasks?limit=0");
    assert_eq!(field(said.refused(400, "invalid_input")), "limit");
}

#[test]
fn a_body_is_one_object_of_json() {
    let world = World::new();
    for body in [
        "{",
        "[]",
        "null",
        "7",
        "\"x\"",
        "{}{}",
        "{\"title\":\"a\",\"title\":\"b\"}",
        "\u{feff}{}",
        "{\"title\":\"\\ud800\"}",
        "{\"title\":NaN}",
        "{\"title\":1e999}",
        "{\"title\":\"a\u{0}\"}",
        "title=a",
    ] {
        world
            .post_text("/v1/tasks", body)
            .refused(400, "invalid_json");
    }
    world
        .post_text("/v1/tasks", &"[".repeat(100_000))
        .refused(400, "invalid_json");
    let said = world.ask(Call {
        body: b"{\"title\":\"\xff\"}".to_vec(),
        ..call(Method::Post, "/v1/tasks", "")
    });
    said.refused(400, "invalid_json");
    // No body is an empty one.
    assert_eq!(
        field(
            world
                .post_text("/v1/tasks", "")
                .refused(400, "invalid_input")
        ),
        "title"
    );
}

#[test]
fn the_team_is_that_of_the_token() {
    let world = World::new();
    for team in ["demo", ""] {
        world.get(&format!("/v1/tasks?teamId={team}")).done(200);
        world
            .post("/v1/tasks", json!({"title": "one", "teamId": team}))
            .done(201);
    }
    world
        .get("/v1/tasks?teamId=other")
        .refused(404, "team_not_found");
    world
        .post("/v1/tasks", json!({"title": "one", "teamId": "other"}))
        .refused(404, "team_not_found");
    world.get("/v1/teams/other").refused(404, "team_not_found");
    let team = world.get("/v1/teams/demo").done(200);
    assert_eq!(team["team"]["teamId"], "demo");
    let teams = world.get("/v1/teams").done(200);
    assert_eq!(teams["teams"], json!([team["team"]]));
}

#[test]
fn paths_are_exact_and_methods_are_told() {
    let world = World::new();
    for path in [
        "/",
        "/v1",
        "/v1/",
        "/v1/tasks/",
        "/v1//tasks",
        "/v1/tasks/1/",
        "/v2/tasks",
        "/V1/tasks",
        "/v1/tasks/1/claim/2",
    ] {
        world.get(path).refused(404, "not_found");
        world.post(path, json!({})).refused(404, "not_found");
    }
    let said = world.get("/v1/tasks/1/claim");
    assert_eq!(
        said.refused(405, "method_not_allowed").header("Allow"),
        Some("POST")
    );
    let said = world.post("/v1/status", json!({}));
    assert_eq!(
        said.refused(405, "method_not_allowed").header("Allow"),
        Some("GET")
    );
    let path = |target: &str| call(Method::Get, target, "").path;
    assert_eq!(
        route::allowed(&path("/v1/tasks")),
        Some("GET, POST".to_owned())
    );
    assert_eq!(route::allowed(&path("/v1/nothing")), None);
}
