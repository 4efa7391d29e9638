//! Invalid requests are refused, and the refusal names the fault.

use super::world::{World, call};
use serde_json::{Value, json};
use teamlog_server::{Call, Method, route};

fn field(said: &super::world::TestReply) -> &str {
    said.json["error"]["details"]["field"]
        .as_str()
        .unwrap_or("-")
}

#[test]
fn unknown_fields_are_named() {
    // Parameters of the path are not fields of the body.
    World::new().story(
        r#"
        POST /v1/tasks {"title": "one", "titel": "two"} -> 400 invalid_input titel
        GET /v1/tasks?team=demo -> 400 invalid_input team
        POST /v1/tasks {"title": "one"} -> 201
        POST /v1/tasks/1/claim {"agentId": "ada", "taskId": "2"} -> 400 invalid_input taskId
        POST /v1/tasks?title=x {} -> 400 invalid_input title
        GET /v1/tasks?owner=a&owner=b -> 400 invalid_input owner
        "#,
    );
}

#[test]
fn missing_and_mistyped_fields_are_named() {
    World::new().story(
        r#"
        POST /v1/tasks {} -> 400 invalid_input title
        POST /v1/tasks {"title": ""} -> 400 invalid_input title
        POST /v1/tasks {"title": " \t"} -> 400 invalid_input title
        POST /v1/tasks {"title": null} -> 400 invalid_input title
        POST /v1/tasks {"title": 7} -> 400 invalid_input title
        POST /v1/tasks {"title": "a", "deps": "1"} -> 400 invalid_input deps
        POST /v1/tasks {"title": "a", "deps": [1]} -> 400 invalid_input deps
        POST /v1/tasks {"title": "a", "deps": ["a/b"]} -> 400 invalid_input deps
        POST /v1/tasks {"title": "a", "priority": "soon"} -> 400 invalid_input priority
        POST /v1/tasks {"title": "a", "teamId": 7} -> 400 invalid_input teamId
        POST /v1/tasks {"title": "one"} -> 201
        POST /v1/tasks/1/claim {"agentId": "ada", "ttlMs": 0} -> 400 invalid_input ttlMs
        POST /v1/tasks/1/claim {"agentId": "ada", "ttlMs": 999} -> 400 invalid_input ttlMs
        POST /v1/tasks/1/claim {"agentId": "ada", "ttlMs": -1} -> 400 invalid_input ttlMs
        POST /v1/tasks/1/claim {"agentId": "ada", "ttlMs": 1e15} -> 400 invalid_input ttlMs
        POST /v1/tasks/1/claim {"agentId": "ada", "ttlMs": 1e18} -> 400 invalid_input ttlMs
        POST /v1/tasks/1/claim {"agentId": "ada", "ttlMs": "9000"} -> 400 invalid_input ttlMs
        POST /v1/tasks/1/claim {"agentId": "ada", "ttlMs": 86400001} -> 400 invalid_input ttlMs
        POST /v1/tasks/1/claim {} -> 400 invalid_input agentId
        POST /v1/tasks/1/claim {"agentId": "a b"} -> 400 invalid_input agentId
        GET /v1/tasks?limit=ten -> 400 invalid_input limit
        GET /v1/tasks?limit=0 -> 400 invalid_input limit
        "#,
    );
}

#[test]
fn a_body_is_one_object_of_json() {
    let world = World::new();
    let plain = r#"{ [] null 7 "x" {}{} {"title":"a","title":"b"} {"title":"\ud800"} {"title":NaN} {"title":1e999} title=a"#;
    let deep = "[".repeat(100_000);
    let bodies = plain
        .split(' ')
        .chain(["\u{feff}[]", "{\"title\":\"a\u{0}\"}", &deep]);
    for body in bodies
        .map(str::as_bytes)
        .chain([&b"{\"title\":\"\xff\"}"[..]])
    {
        let said = world.ask(Call {
            body: body.to_vec(),
            ..call(Method::Post, "/v1/tasks", "")
        });
        said.refused(400, "invalid_json");
    }
    // A missing body counts as an empty body.
    world.story("POST /v1/tasks -> 400 invalid_input title");
}

#[test]
fn the_team_is_that_of_the_token() {
    let world = World::new();
    let team = world.story(
        r#"
        GET /v1/tasks?teamId=demo -> 200
        POST /v1/tasks {"title": "one", "teamId": "demo"} -> 201
        GET /v1/tasks?teamId= -> 200
        POST /v1/tasks {"title": "one", "teamId": ""} -> 201
        GET /v1/tasks?teamId=other -> 404 team_not_found
        POST /v1/tasks {"title": "one", "teamId": "other"} -> 404 team_not_found
        GET /v1/teams/other -> 404 team_not_found
        GET /v1/teams/demo -> 200
        "#,
    );
    assert_eq!(team["team"]["teamId"], "demo");
    let teams = world.story("GET /v1/teams -> 200");
    assert_eq!(teams["teams"], json!([team["team"]]));
}

#[test]
fn paths_are_exact_and_methods_are_told() {
    let world = World::new();
    let paths =
        "/ /v1 /v1/ /v1/tasks/ /v1//tasks /v1/tasks/1/ /v2/tasks /V1/tasks /v1/tasks/1/claim/2";
    for path in paths.split(' ') {
        world.get(path).refused(404, "not_found");
        world.post(path, json!({})).refused(404, "not_found");
    }
    for (said, methods) in [
        (world.get("/v1/tasks/1/claim"), "POST"),
        (world.post("/v1/status", json!({})), "GET, HEAD"),
    ] {
        let said = said.refused(405, "method_not_allowed");
        assert_eq!(said.header("Allow"), Some(methods));
    }
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
    let message = |said: &super::world::TestReply| {
        let message = said.json["error"]["message"].as_str().unwrap();
        message.to_owned()
    };
    let tasks = |body: Value| world.post("/v1/tasks", body);
    let traced = Call {
        trace_id: Some(String::from("a\u{7}b")),
        ..call(Method::Post, "/v1/tasks", r#"{"title":"two"}"#)
    };
    let events = world.get("/v1/events?task_id=a\u{7}b");
    for (said, status, code, name) in [
        (claim("ada"), 409, "claim_conflict", "agentId"),
        (claim("eve"), 404, "worker_not_found", "agentId"),
        (claim("leader-fixed"), 404, "worker_not_found", "agentId"),
        (claim("a b"), 400, "invalid_input", "agentId"),
        (
            tasks(json!({"title": "two", "deps": ["a/b"]})),
            400,
            "invalid_input",
            "deps",
        ),
        (events, 400, "invalid_input", "task_id"),
        (world.ask(traced), 400, "invalid_input", "X-Trace-Id"),
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
    for line in r#"
        {"agents": ["bob"]} -> agents[0] must be an object, but is "bob"
        {"agents": [{"id": "ada"}, {"role": "x"}]} -> agents[1].id is required
        {"agents": [{"id": null}]} -> agents[0].id is required
        {"agents": [{"id": 7}]} -> agents[0].id must be a string, but is 7
        {"agents": {"id": "ada"}} -> agents must be an array, but is an object
        {"budget": 7} -> budget must be an object, but is 7
        {"budget": {"maxTokens": -1}} -> budget.maxTokens must be a non-negative integer, but is -1
        {"budget": {"maxTokens": 1.5}} -> budget.maxTokens must be a non-negative integer, but is 1.5
        "#
    .lines()
    .filter(|line| !line.trim().is_empty())
    {
        let (body, message) = line.split_once(" -> ").unwrap();
        let said = world.post_text("/v1/teams", body);
        let name = message.split(' ').next().unwrap();
        assert_eq!(field(said.refused(400, "invalid_input")), name, "{body}");
        assert_eq!(said.json["error"]["message"], message);
    }
    let ada = r#"{"agents": [{"id": "ada", "rank": 1}]}"#;
    for (body, place, name) in [
        (ada, "agents[0]", "rank"),
        (r#"{"budget": {"max": 1}}"#, "budget", "max"),
    ] {
        let said = world.post_text("/v1/teams", body);
        let whole = format!("{place}.{name}");
        assert_eq!(field(said.refused(400, "invalid_input")), whole, "{body}");
        let message = format!("unknown field \"{name}\" of {place}; fields: ");
        let told = said.json["error"]["message"].as_str().unwrap();
        assert!(told.starts_with(&message), "{told}");
    }
    // In nested objects, null and blank fields count as absent too.
    let set = world.post(
        "/v1/teams",
        json!({"agents": [{"id": "ada", "role": " "}], "budget": {"maxTokens": null}}),
    );
    assert_eq!(set.done(201)["team"]["agents"][0]["role"], "worker");
}

#[test]
fn a_path_that_names_no_task_is_told_before_what_is_wrong_with_the_rest() {
    // A body that is not an object or names another team is refused before its fields are checked.
    World::with(&["ada"]).story(
        r#"
        POST /v1/tasks/7/claim {} -> 404 task_not_found taskId
        POST /v1/tasks/7/claim {"agentId": "eve"} -> 404 task_not_found taskId
        POST /v1/tasks/7/claim {"agentId": "ada", "ttlMs": 1} -> 404 task_not_found taskId
        POST /v1/tasks/7/renew {"epoch": "x"} -> 404 task_not_found taskId
        POST /v1/tasks/7/complete {} -> 404 task_not_found taskId
        POST /v1/tasks/7/fail {"more": 1} -> 404 task_not_found taskId
        GET /v1/tasks/7?more=1 -> 404 task_not_found
        POST /v1/tasks/7/claim { -> 400 invalid_json
        POST /v1/tasks/7/claim {"teamId": "other"} -> 404 team_not_found
        POST /v1/tasks/a%20b/claim {} -> 400 invalid_input
        POST /v1/threads/thread-0007/messages {} -> 400 invalid_input
        "#,
    );
}
