//! Tests of warnings in answers: dependencies and agents that are probably misspelled, and agents that stopped. All other
//! fields stay the same.

use crate::claims::new;
use crate::prelude::*;
use teamlog_team::worker::shutdown::WriteAck;

/// Returns an open team in which `dev` and `lead` acted, and `qa` accepted its shutdown.
fn world() -> World {
    let (world, mut team) = team_of(None, Format::Jsonl);
    team.send(message("dev", "lead")).unwrap();
    team.send(message("lead", "dev")).unwrap();
    let ack = given!(WriteAck, worker: "qa", status: "accept");
    team.write_shutdown_ack(ack).unwrap();
    world
}

#[track_caller]
fn call(world: &World, name: &str, mut input: Value) -> Value {
    input["team_name"] = json!("demo");
    let Value::Object(input) = input else {
        panic!("an input is an object")
    };
    let operation = api::find(name).unwrap();
    let answered = api::call(&world.root, operation, input, Control::default());
    let answered = answered.unwrap_or_else(|fault| panic!("{name}: {fault:?}"));
    serde_json::from_str(answered.data.get()).unwrap()
}

const FIELDS: [&str; 8] = [
    "recipient_unknown",
    "recipient_gone",
    "sender_resembles",
    "recipients_unknown",
    "recipients_gone",
    "unknown_deps",
    "owner_unknown",
    "owner_gone",
];

/// Returns the names of the warning fields in an answer.
#[track_caller]
fn doubts(answer: &Value) -> Vec<&'static str> {
    let has = |field: &&str| answer.get(*field).is_some();
    FIELDS.into_iter().filter(has).collect()
}

#[test]
fn every_operation_that_names_an_agent_or_a_dependency_doubts_it() {
    let world = world();
    let thread = call(
        &world,
        "thread-start",
        json!({"title": "t", "participants": ["dev"]}),
    );
    assert_eq!(doubts(&thread), [""; 0]);
    let thread = &thread["thread"]["id"];
    let task = json!({"subject": "s", "description": "d", "task_id": "T-1"});
    assert_eq!(doubts(&call(&world, "create-task", task)), [""; 0]);
    for (name, input, expected) in [
        (
            "send-message",
            json!({"from_worker": "lead", "to_worker": "dev", "body": "b"}),
            &[][..],
        ),
        (
            "send-message",
            json!({"from_worker": "lead", "to_worker": "dev-2", "body": "b"}),
            &["recipient_unknown"],
        ),
        (
            "send-message",
            json!({"from_worker": "lead", "to_worker": "qa", "body": "b"}),
            &["recipient_gone"],
        ),
        (
            "send-message",
            json!({"from_worker": "Lead", "to_worker": "dev", "body": "b"}),
            &["sender_resembles"],
        ),
        (
            "broadcast",
            json!({"from_worker": "lead", "body": "all"}),
            &["recipients_gone"],
        ),
        (
            "thread-post",
            json!({"thread_id": thread, "body": "b", "to": ["dev"]}),
            &[],
        ),
        (
            "thread-post",
            json!({"thread_id": thread, "body": "b", "to": ["qa", "de"]}),
            &["recipients_unknown", "recipients_gone"],
        ),
        (
            "thread-start",
            json!({"participants": ["de"]}),
            &["recipients_unknown"],
        ),
        (
            "create-task",
            json!({"subject": "s", "description": "d", "owner": "dev"}),
            &[],
        ),
        (
            "create-task",
            json!({"subject": "s", "description": "d", "owner": "deev", "blocked_by": ["T1", "T-1"]}),
            &["unknown_deps", "owner_unknown"],
        ),
        (
            "create-task",
            json!({"subject": "s", "description": "d", "owner": "qa"}),
            &["owner_gone"],
        ),
        (
            "update-task",
            json!({"task_id": "T-1", "blocked_by": ["T9"]}),
            &["unknown_deps"],
        ),
        (
            "update-task",
            json!({"task_id": "T-1", "subject": "other"}),
            &[],
        ),
        (
            "write-worker-inbox",
            json!({"worker": "dvv", "content": "c"}),
            &["recipient_unknown"],
        ),
        (
            "write-shutdown-request",
            json!({"worker": "dvvv", "requested_by": "lead"}),
            &["recipient_unknown"],
        ),
    ] {
        let answer = call(&world, name, input.clone());
        assert_eq!(doubts(&answer), expected, "{name} {input}: {answer}");
    }
    let answer = call(
        &world,
        "send-message",
        json!({"from_worker": "lead", "to_worker": "dvvvv", "body": "b"}),
    );
    let said = answer["recipient_unknown"].as_str().unwrap();
    assert!(
        said.starts_with("\"dvvvv\" has never acted in this team"),
        "{said}"
    );
    assert!(said.ends_with("known agents: Lead, dev, qa"), "{said}");
}

#[test]
fn a_task_shows_its_unknown_dependencies_wherever_it_is_shown() {
    let (world, mut team) = demo();
    let waits = given!(TaskCreate, blocked_by: ["9"], ..new("waits"));
    let created = team.task_create(waits).unwrap();
    assert_eq!(created.doubts.unknown_deps, ["9"]);
    let read = call(&world, "read-task", json!({"task_id": "1"}));
    assert_eq!(read["task"]["unknown_dependencies"], json!(["9"]));
    assert_eq!(doubts(&read), [""; 0], "nothing was done");
    let listed = call(&world, "list-tasks", json!({}));
    assert_eq!(listed["tasks"][0]["unknown_dependencies"], json!(["9"]));
    let show = given!(TaskShow, task_id: "1");
    assert_eq!(team.task_show(show).unwrap().unknown_dependencies, ["9"]);
    let refusal = refused(
        team.task_claim(crate::claims::claim("1", "dev")),
        Code::BlockedDependency,
    );
    assert_eq!(refusal.details["unknown_dependencies"], json!(["9"]));
    team.task_create(given!(TaskCreate, task_id: "9", ..new("nine")))
        .unwrap();
    let read = call(&world, "read-task", json!({"task_id": "1"}));
    assert_eq!(read["task"].get("unknown_dependencies"), None);
}

#[test]
fn a_duplicate_that_asks_for_an_ack_says_that_none_is_required_now() {
    let (_, mut team) = demo();
    let send = given!(Send, message_id: "m-1", ..message("lead", "dev"));
    team.send(send.clone()).unwrap();
    let again = team.send(send.clone()).unwrap();
    assert_eq!((again.status, again.reason), (SendStatus::Duplicate, None));
    let delivery = Require::default();
    let asks = team.send(given!(Send, delivery, ..send)).unwrap();
    assert_eq!(asks.status, SendStatus::Duplicate);
    assert_eq!(asks.reason.as_deref(), Some("delivery_unchanged"));
    assert!(asks.delivery.is_none());
}
