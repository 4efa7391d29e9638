//! Threads, and the feeds of agents.

use super::world::World;
use serde_json::{Value, json};

fn kinds(feed: &Value) -> Vec<&str> {
    let events = feed["events"].as_array().unwrap().iter();
    events
        .map(|event| event["type"].as_str().unwrap())
        .collect()
}

#[test]
fn a_thread_is_begun_posted_to_read_and_linked_as_its_plainest_client_does() {
    let world = World::new();
    let thread = world.story(
        r#"
        POST /v1/tasks {"title": "one"} -> 201
        POST /v1/threads {"title": "", "taskId": "", "participants": ["ada", " bob ", "", "ada"]} -> 201
        "#,
    );
    assert_eq!(thread["thread"]["id"], "thread-0001");
    assert_eq!(thread["thread"]["title"], "Thread");
    assert_eq!(thread["thread"]["participants"], json!(["ada", "bob"]));
    assert_eq!(thread["thread"]["taskId"], Value::Null);

    let posted =
        world.story(r#"POST /v1/threads/thread-0001/messages {"message": " hello "} -> 201"#);
    assert_eq!(posted["message"]["from"], "system");
    assert_eq!(posted["message"]["body"], "hello");
    assert_eq!(posted["message"]["threadId"], "thread-0001");
    let own = world.story(
        r#"POST /v1/threads/thread-0001/messages {"body": "mine", "agentId": "ada", "to": ["bob"]} -> 201"#,
    );
    assert_eq!(own["message"]["to"], json!(["bob"]));

    for target in [
        "tail?limit=20",
        "messages?tail=20",
        "tail",
        "messages?tail=0",
        "tail?limit=9999",
    ] {
        let tail = world.story(&format!("GET /v1/threads/thread-0001/{target} -> 200"));
        let bodies: Vec<&str> = tail["messages"]
            .as_array()
            .unwrap()
            .iter()
            .map(|message| message["body"].as_str().unwrap())
            .collect();
        assert_eq!(bodies, ["hello", "mine"], "{target}");
        assert_eq!(tail["thread"]["id"], "thread-0001");
    }
    let last = world.story("GET /v1/threads/thread-0001/messages?tail=1 -> 200");
    assert_eq!(last["messages"].as_array().map(Vec::len), Some(1));
    assert_eq!(last["messages"][0]["body"], "mine");

    let linked = world.story(r#"POST /v1/threads/thread-0001/link {"taskId": "1"} -> 200"#);
    assert_eq!(linked["thread"]["taskId"], "1");
    for found in ["?q=HELLO", "?q=bob", "", "?q="] {
        let threads = world.get(&format!("/v1/threads/search{found}")).done(200);
        assert_eq!(
            threads["threads"].as_array().map(Vec::len),
            Some(1),
            "{found}"
        );
    }
    let none = world.get("/v1/threads/search?q=nothing").done(200);
    assert_eq!(none["threads"], json!([]));
}

#[test]
fn what_a_thread_cannot_take_is_refused() {
    World::new().story(
        r#"
        POST /v1/threads {} -> 201
        POST /v1/threads/thread-0001/messages {} -> 400 invalid_input message
        POST /v1/threads/thread-0001/messages {"message": " "} -> 400 invalid_input message
        POST /v1/threads/thread-0001/messages {"message": "a", "body": "b"} -> 400 invalid_input message
        POST /v1/threads/thread-0001/messages {"message": "a", "agentId": "a b"} -> 400 invalid_input agentId
        POST /v1/threads/thread-0009/messages {"message": "a"} -> 404 thread_not_found
        GET /v1/threads/thread-0009/tail -> 404 thread_not_found
        GET /v1/threads/..%2Fx/tail -> 400 invalid_input
        POST /v1/threads/thread-0001/link {"taskId": "../team"} -> 400 invalid_input
        POST /v1/threads/thread-0001/link {"taskId": "9"} -> 404 task_not_found
        POST /v1/threads {"taskId": "9"} -> 404 task_not_found
        POST /v1/threads {"participants": ["a b"]} -> 400 invalid_input
        "#,
    );
}

#[test]
fn an_inbox_is_read_behind_a_cursor_that_is_text() {
    let world = World::with(&["ada", "bob"]);
    let nothing = world.get("/v1/inbox?agentId=ada").done(200);
    assert_eq!(nothing["events"], json!([]));
    let since = nothing["nextSince"].as_str().unwrap().to_owned();
    world.story(
        r#"
        POST /v1/tasks {"title": "one"} -> 201
        POST /v1/tasks/1/claim {"agentId": "bob"} -> 200
        POST /v1/threads {"participants": ["ada", "bob"]} -> 201
        POST /v1/threads/thread-0001/messages {"message": "hi", "agentId": "bob"} -> 201
        "#,
    );
    let read =
        |behind: &str| world.story(&format!("GET /v1/inbox?agentId=ada&since={behind} -> 200"));
    let feed = read(&format!("{since}&teamId=demo"));
    assert_eq!(kinds(&feed), ["task_claimed", "thread_message"]);
    assert_eq!(feed["messages"][0]["type"], "task_claimed");
    assert_eq!(feed["messages"][0]["payload"]["taskId"], "1");
    assert_eq!(feed["events"][1]["content"], "hi");
    let next = feed["nextSince"].as_str().unwrap();
    let rest = read(next);
    assert!(kinds(&rest).is_empty());
    assert_eq!(rest["nextSince"].as_str(), Some(next));

    let first = read(&format!("{since}&limit=1"));
    assert_eq!(kinds(&first), vec!["task_claimed"]);
    assert_eq!(first["more"].as_bool(), Some(true));
    let next = first["nextSince"].as_str().unwrap();
    let second = read(next);
    assert_eq!(kinds(&second), ["thread_message"]);

    world.story(
        "
        GET /v1/inbox?agentId=ada&since=9999 -> 409 cursor_ahead
        GET /v1/inbox?agentId=ada&since=-1 -> 400 invalid_input
        GET /v1/inbox?agentId=ada&since=1.9 -> 400 invalid_input
        GET /v1/inbox?agentId=ada&since=x -> 400 invalid_input
        GET /v1/inbox?agentId=ada&since=1x -> 400 invalid_input
        GET /v1/inbox?agentId=ada&since=99999999999999999999 -> 400 invalid_input
        GET /v1/inbox -> 400 invalid_input
        GET /v1/inbox?agentId=a%20b -> 400 invalid_input
        ",
    );
}

#[test]
fn who_holds_a_path_may_write_it() {
    let world = World::new();
    world.story(r#"POST /v1/tasks {"title": "one", "resources": ["src/io/"]} -> 201"#);
    let ask = |path: &str| {
        world.story(&format!(
            "GET /v1/can-write?teamId=demo&agentId=ada&path={path} -> 200"
        ))
    };
    assert_eq!(ask("src/io/file.rs")["reason"], "no_active_lease_for_path");
    let claimed = world.story(r#"POST /v1/tasks/1/claim {"agentId": "ada"} -> 200"#);
    assert_eq!(claimed["task"]["resources"], json!(["src/io"]));
    let may = ask("src/io/file.rs");
    assert_eq!(may["allow"], true);
    assert_eq!(may["reason"], "lease_active_for_resource");
    assert_eq!(may["taskId"], "1");
    assert_eq!(ask("src/other")["allow"], false);
    assert_eq!(ask("../x")["reason"], "path_traversal_denied");
    assert_eq!(ask(r"src\io\..\..\secret")["allow"], false);
    assert_eq!(ask("")["allow"], false);
    world.story(
        r#"
        GET /v1/can-write?path=x -> 400 invalid_input
        POST /v1/tasks {"title": "two", "resources": ["src"]} -> 201
        POST /v1/tasks/2/claim {"agentId": "bob"} -> 409 resource_conflict
        "#,
    );
}

/// Collects all texts in `value` that look like times.
fn moments(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) if text.starts_with("2026-11-21T") => found.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| moments(item, found)),
        Value::Object(fields) => fields.values().for_each(|field| moments(field, found)),
        _ => {}
    }
}

#[test]
fn moments_have_three_decimals_wherever_a_client_of_the_protocol_looks() {
    let world = World::new();
    world.later(123_456);
    let answers = [
        world.post("/v1/tasks", json!({"title": "one", "resources": ["src"]})),
        world.post("/v1/tasks/1/claim", json!({"agentId": "ada"})),
        world.get("/v1/tasks"),
        world.get("/v1/can-write?agentId=ada&path=src"),
        world.post("/v1/threads", json!({"participants": ["ada"]})),
        world.post(
            "/v1/threads/thread-0001/messages",
            json!({"message": "hello"}),
        ),
        world.get("/v1/threads/thread-0001/tail"),
        world.get("/v1/threads/thread-0001/messages"),
        world.get("/v1/threads/search"),
        world.post("/v1/threads/thread-0001/link", json!({"taskId": "1"})),
        world.get("/v1/inbox?agentId=ada"),
    ];
    for said in answers {
        let mut found = Vec::new();
        moments(&said.json, &mut found);
        assert!(!found.is_empty(), "{}", said.json);
        for moment in found {
            assert!(moment.ends_with(".123Z"), "{moment} in {}", said.json);
        }
    }
    // The log keeps microseconds.
    let events = world.get("/v1/events?limit=1000").done(200).to_string();
    assert!(events.contains("T12:00:00.123456Z"), "{events}");
}
