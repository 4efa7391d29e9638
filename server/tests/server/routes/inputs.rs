//! What is asked wrongly is refused, and named.

use super::world::{World, call};
use serde_json::json;
use teamlog_server::{Call, Method, route};

fn field(said: &super::world::Said) -> &str {
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
    world.post("/v1/tasks", json!({"title": "one"})).done(201);
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
        Some("GET, HEAD")
    );
    let path = |target: &str| call(Method::Get, target, "").path;
    assert_eq!(
        route::allowed(&path("/v1/tasks")),
        Some("GET, HEAD, POST".to_owned())
    );
    assert_eq!(route::allowed(&path("/v1/nothing")), None);
}

#[test]
fn a_refusal_names_fields_as_the_route_does() {
    let world = World::with(&["ada", "bob"]);
    world
        .post("/v1/tasks", json!({"title": "one", "owner": "bob"}))
        .done(201);
    let claim = |agent: &str| world.post("/v1/tasks/1/claim", json!({"agentId": agent}));
    let message = |said: &super::world::Said| {
        let message = said.json["error"]["message"].as_str().unwrap();
        message.to_owned()
    };
    for (said, status, code, name) in [
        (claim("ada"), 409, "claim_conflict", "agentId"),
        (claim("eve"), 404, "worker_not_found", "agentId"),
        (claim("leader-fixed"), 404, "worker_not_found", "agentId"),
        (claim("a b"), 400, "invalid_input", "agentId"),
        (
            world.post("/v1/tasks", json!({"title": "two", "deps": ["a/b"]})),
            400,
            "invalid_input",
            "deps",
        ),
        (
            world.get("/v1/events?task_id=a\u{7}b"),
            400,
            "invalid_input",
            "task_id",
        ),
        (
            world.ask(Call {
                trace_id: Some(String::from("a\u{7}b")),
                ..call(Method::Post, "/v1/tasks", r#"{"title":"two"}"#)
            }),
            400,
            "invalid_input",
            "X-Trace-Id",
        ),
    ] {
        assert_eq!(field(said.refused(status, code)), name, "{}", said.json);
        let message = message(&said);
        assert!(message.starts_with(name), "{message}");
    }
    let said = world.post(
        "/v1/teams",
        json!({"budget": {"maxTokens": 5, "softLimitTokens": 6}}),
    );
    assert_eq!(
        field(said.refused(400, "invalid_input")),
        "budget.softLimitTokens"
    );
    assert_eq!(
        message(&said),
        "budget.softLimitTokens must be at most budget.maxTokens, 5, but is \"6\""
    );
}

#[test]
fn fields_inside_others_are_named_with_their_place() {
    let world = World::new();
    for (body, name, message) in [
        (
            json!({"agents": ["bob"]}),
            "agents[0]",
            "agents[0] must be an object, but is \"bob\"",
        ),
        (
            json!({"agents": [{"id": "ada"}, {"role": "x"}]}),
            "agents[1].id",
            "agents[1].id is required",
        ),
        (
            json!({"agents": [{"id": null}]}),
            "agents[0].id",
            "agents[0].id is required",
        ),
        (
            json!({"agents": [{"id": 7}]}),
            "agents[0].id",
            "agents[0].id must be a string, but is 7",
        ),
        (
            json!({"agents": [{"id": "ada", "rank": 1}]}),
            "agents[0].rank",
            "\"rank\" must be a field of agents[0], which takes ",
        ),
        (
            json!({"agents": {"id": "ada"}}),
            "agents",
            "agents must be an array, but is an object",
        ),
        (
            json!({"budget": 7}),
            "budget",
            "budget must be an object, but is 7",
        ),
        (
            json!({"budget": {"maxTokens": -1}}),
            "budget.maxTokens",
            "budget.maxTokens must be a non-negative integer, but is -1",
        ),
        (
            json!({"budget": {"maxTokens": 1.5}}),
            "budget.maxTokens",
            "budget.maxTokens must be a non-negative integer, but is 1.5",
        ),
        (
            json!({"budget": {"max": 1}}),
            "budget.max",
            "\"max\" must be a field of budget, which takes ",
        ),
    ] {
        let said = world.post("/v1/teams", body.clone());
        assert_eq!(field(said.refused(400, "invalid_input")), name, "{body}");
        let told = said.json["error"]["message"].as_str().unwrap();
        assert!(told.starts_with(message), "{told}");
    }
    // What is null or blank there is not given there either.
    let set = world.post(
        "/v1/teams",
        json!({"agents": [{"id": "ada", "role": " "}], "budget": {"maxTokens": null}}),
    );
    assert_eq!(set.done(201)["team"]["agents"][0]["role"], "worker");
}

#[test]
fn a_path_that_names_no_task_is_told_before_what_is_wrong_with_the_rest() {
    let world = World::with(&["ada"]);
    for (target, body) in [
        ("/v1/tasks/7/claim", json!({})),
        ("/v1/tasks/7/claim", json!({"agentId": "eve"})),
        ("/v1/tasks/7/claim", json!({"agentId": "ada", "ttlMs": 1})),
        ("/v1/tasks/7/renew", json!({"epoch": "x"})),
        ("/v1/tasks/7/complete", json!({})),
        ("/v1/tasks/7/fail", json!({"more": 1})),
    ] {
        let said = world.post(target, body.clone());
        assert_eq!(
            field(said.refused(404, "task_not_found")),
            "taskId",
            "{target} {body}"
        );
    }
    world
        .get("/v1/tasks/7?more=1")
        .refused(404, "task_not_found");
    // What is no request at all, or speaks of another team, is not looked at as far as that.
    world
        .post_text("/v1/tasks/7/claim", "{")
        .refused(400, "invalid_json");
    world
        .post("/v1/tasks/7/claim", json!({"teamId": "other"}))
        .refused(404, "team_not_found");
    let said = world.post("/v1/tasks/a%20b/claim", json!({}));
    said.refused(400, "invalid_input");
    world
        .post("/v1/threads/thread-0007/messages", json!({}))
        .refused(400, "invalid_input");
}
