//! Tests of operations on mail and events in the form in which surfaces call them.

use crate::prelude::*;

/// Returns the outer code and the message of a failed call.
fn fault(world: &World, operation: &str, input: Value) -> (String, String) {
    let Value::Object(input) = input else {
        panic!("{input}");
    };
    let operation = api::find(operation).unwrap();
    let fault = api::call(&world.root, operation, input, Control::default()).unwrap_err();
    (fault.code, fault.message)
}

#[test]
fn wrong_inputs_have_the_codes_of_the_contract() {
    let world = World::new();
    world.demo();
    for (operation, mut input, code, said) in cases![
        ("append-event", {"type": "nonsense", "worker": "dev"}, "invalid_input",
            "type must be one of"),
        ("append-event", {"worker": "dev"}, "invalid_input", "type is required"),
        ("append-event", {"type": "worker_idle", "worker": "dev", "metadata": []},
            "operation_failed", "metadata must be an object when provided"),
        ("append-event", {"type": "worker_idle", "worker": "dev", "metadata": null},
            "operation_failed", "metadata must be an object when provided"),
        ("append-event", {"type": "worker_idle", "worker": "a/b"}, "operation_failed",
            "Invalid worker"),
        ("read-events", {"wakeable_only": "yes"}, "operation_failed",
            "wakeable_only must be a boolean when provided"),
        ("read-events", {"type": 7}, "operation_failed", "type must be a string when provided"),
        ("read-events", {"type": ""}, "operation_failed", "type cannot be empty"),
        ("read-events", {"type": "worker_auto_commit"}, "operation_failed", "type must be one of"),
        ("read-events", {"task_id": "a/b"}, "operation_failed", "Invalid task_id"),
        ("await-event", {"timeout_ms": -1}, "operation_failed",
            "timeout_ms must be a non-negative integer when provided"),
        ("await-event", {"poll_ms": 0.5}, "operation_failed",
            "poll_ms must be a non-negative integer when provided"),
        ("send-message", {"to_worker": "dev", "body": "a"}, "invalid_input",
            "from_worker is required"),
        ("send-message", {"from_worker": "lead", "to_worker": "dev", "body": " "}, "invalid_input",
            "body is required"),
        ("send-message", {"from_worker": "lead", "to_worker": "x", "body": "a"}, "worker_not_found",
            "to_worker"),
        ("mailbox-mark-notified", {"worker": "dev"}, "invalid_input", "message_id is required"),
    ] {
        input["team_name"] = "demo".into();
        let (found, message) = fault(&world, operation, input.clone());
        assert_eq!(found, code, "{operation} {input}: {message}");
        assert!(message.contains(said), "{operation} {input}: {message}");
    }
}

#[test]
fn without_a_team_reads_are_empty_and_what_would_record_is_refused() {
    let world = World::new();
    let ask = |operation: &str, mut input: Value| {
        input["team_name"] = "nobody".into();
        let Value::Object(input) = input else {
            panic!("{input}");
        };
        let operation = api::find(operation).unwrap();
        api::call(&world.root, operation, input, Control::default())
            .map(|answered| serde_json::from_str::<Value>(answered.data.get()).unwrap())
            .map_err(|fault| fault.code)
    };
    for (operation, input, data) in cases![
        ("mailbox-list", {"worker": "dev"}, {"worker": "dev", "count": 0, "messages": []}),
        ("read-events", {"after_event_id": "x"}, {"count": 0, "cursor": "x", "events": []}),
    ] {
        let mut data = data;
        data["warning"] = "there is no team \"nobody\"".into();
        assert_eq!(ask(operation, input), Ok(data), "{operation}");
    }
    for (operation, input) in cases![
        ("send-message", {"from_worker": "lead", "to_worker": "dev", "body": "a"}),
        ("broadcast", {"from_worker": "lead", "body": "a"}),
        ("mailbox-mark-notified", {"worker": "dev", "message_id": "m"}),
        ("team_mailbox_mark_delivered", {"worker": "dev", "message_id": "m"}),
        ("append-event", {"type": "worker_idle", "worker": "dev"}),
        ("await-event", {"timeout_ms": 0}),
    ] {
        assert_eq!(
            ask(operation, input),
            Err("team_not_found".into()),
            "{operation}"
        );
    }
}

#[test]
fn lookalikes_of_fields_are_recorded_as_they_are() {
    let (world, mut team) = demo();
    let input = json!({
        "team_name": "demo", "type": "worker_idle", "worker": "dev", "worker_counts": 3, "reasons": ["a"],
        "workingDirectory": "/elsewhere",
    });
    let Value::Object(input) = input else {
        panic!("{input}");
    };
    let operation = api::find("append_event").unwrap();
    api::call(&world.root, operation, input, Control::default()).unwrap();
    let recorded = events(&mut team).pop().unwrap();
    assert_eq!(
        recorded["payload"],
        json!({"type": "worker_idle", "worker": "dev", "worker_counts": 3, "reasons": ["a"]})
    );
}

fn call(world: &World, operation: &str, mut input: Value) -> Value {
    input["team_name"] = "demo".into();
    let Value::Object(input) = input else {
        panic!("{input}");
    };
    let operation = api::find(operation).unwrap();
    let answered = api::call(&world.root, operation, input, Control::default()).unwrap();
    serde_json::from_str(answered.data.get()).unwrap()
}

#[test]
fn what_commands_do_reads_as_brokers_know_it() {
    let world = World::new();
    world.demo();
    for (to, more) in [("completed", "result"), ("failed", "error")] {
        let created = call(
            &world,
            "create-task",
            json!({"subject": to, "description": "it"}),
        );
        let id = &created["task"]["id"];
        let claimed = call(
            &world,
            "claim-task",
            json!({"task_id": id, "worker": "dev"}),
        );
        let input = json!({
            "task_id": id, "from": "in_progress", "to": to, "claim_token": claimed["claimToken"], more: "because",
        });
        call(&world, "transition-task-status", input);
    }
    for (operation, input) in cases![
        ("write-worker-status", {"worker": "dev", "state": "working"}),
        ("write-worker-status", {"worker": "dev", "state": "idle"}),
        ("append-event", {"type": "worker_idle", "worker": "dev", "prev_state": "working"}),
        ("write-task-approval", {"task_id": "1", "status": "approved", "reviewer": "qa",
            "decision_reason": "good"}),
        ("send-message", {"from_worker": "qa", "to_worker": "lead", "body": "done"}),
        ("write-shutdown-request", {"worker": "dev", "requested_by": "lead"}),
        ("write-shutdown-ack", {"worker": "dev", "status": "accept"}),
        ("cleanup", {"confirm_issues": true}),
    ] {
        call(&world, operation, input);
    }
    let read = call(&world, "read-events", json!({}));
    let shown: Vec<String> = read["events"]
        .as_array()
        .unwrap()
        .iter()
        .map(|event| {
            let field = |name: &str| event[name].as_str().unwrap_or("-").to_owned();
            ["type", "worker", "task_id", "state", "prev_state", "reason"]
                .map(field)
                .join(" ")
        })
        .collect();
    assert_eq!(
        shown,
        [
            "task_completed dev 1 - - -",
            "task_failed dev 2 - - because",
            "worker_state_changed dev - working - -",
            // This line comes from the worker's report. The reported state equals the recorded state.
            "worker_state_changed dev - idle working -",
            "approval_decision qa 1 - - approved:good",
            "message_received lead - - - -",
            "shutdown_ack dev - - - accept",
            "shutdown_gate leader-fixed - - - -",
        ]
    );
    // In a closed team mail can be read, but not sent.
    assert_eq!(
        call(&world, "mailbox-list", json!({"worker": "lead"}))["count"],
        1
    );
    for (operation, input) in cases![
        ("send-message", {"from_worker": "lead", "to_worker": "dev", "body": "a"}),
        ("broadcast", {"from_worker": "lead", "body": "a"}),
        ("mailbox-mark-delivered", {"worker": "lead", "message_id": "m"}),
        ("append-event", {"type": "worker_idle", "worker": "dev"}),
    ] {
        let mut input = input;
        input["team_name"] = "demo".into();
        assert_eq!(
            fault(&world, operation, input).0,
            "team_closed",
            "{operation}"
        );
    }
}
