//! Tests for each kind of fault, in the order of the checks.

use super::super::operation::row;
use super::*;
use crate::operation::Op;
use crate::operation::record::operation;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

/// A mutation of a task, with the usual rules.
#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Turn {
    worker: String,
    task_id: String,
    to: Word,
    #[schemars(range(min = 1))]
    expected_version: Option<u64>,
    blocked_by: Option<Vec<String>>,
    result: Option<String>,
    silent: Option<bool>,
    confirm: Option<bool>,
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Word {
    Completed,
    #[serde(alias = "broken")]
    Failed,
}

operation! {
    /// Turn
    "turn": Records(Turn) -> Value = |_, _| Ok(Value::Null),
    rules = Rules {
        lifecycle: &["status"],
        aliases: &[("confirmIt", "confirm")],
        lookups: &["silent"],
        never_null: &["result"],
        choices: Some("ways to turn"),
        ..Rules::COMMON
    }
}

/// A mutation that keeps unknown fields.
#[derive(Deserialize, JsonSchema)]
#[allow(dead_code, reason = "what is read is enough")]
struct Keep {
    body: String,
    index: f64,
    alive: bool,
    snapshot: Value,
    #[serde(flatten)]
    extra: Map<String, Value>,
}

operation! {
    /// Keep
    "keep": Records(Keep) -> Value = |_, _| Ok(Value::Null),
    rules = Rules {
        lifecycle: &["status"],
        ..Rules::COMMON
    }
}

/// An operation that reads.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Look {}

operation! {
    /// Look
    "look": Reads(Look) -> Value = |_, _| Ok(Value::Null)
}

fn read<O: Op>(input: Value) -> Result<(Request, O), Fault> {
    let input = input.as_object().unwrap().clone();
    let request = Request::read(&row::<O>(), input, Control::default())?;
    let own = request.typed(serde_json::from_value)?;
    Ok((request, own))
}

/// Returns a valid input of `turn`, in which the fields of `over` replace the default fields.
fn turn(over: Value) -> Value {
    let mut input = json!({"team_name": "demo", "worker": "dev", "task_id": "1", "to": "failed"});
    let fields = input.as_object_mut().unwrap();
    for (name, value) in over.as_object().unwrap() {
        fields.insert(name.clone(), value.clone());
    }
    input
}

#[track_caller]
fn refused<O: Op>(input: Value) -> Fault {
    match read::<O>(input.clone()) {
        Ok(_) => panic!("{input} was taken"),
        Err(fault) => fault,
    }
}

#[track_caller]
fn said(code: &str, part: &str, input: Value) {
    let fault = refused::<Turn>(input.clone());
    assert_eq!(fault.code, code, "{input}: {fault:?}");
    assert!(fault.message.contains(part), "{input}: {fault:?}");
}

#[test]
fn what_every_operation_takes_is_taken_off() {
    let (request, own) = read::<Turn>(turn(json!({
        "key": "k", "trace_id": "tr", "actor": "boss", "workingDirectory": "/tmp",
        "expected_version": 3, "confirmIt": true,
    })))
    .unwrap();
    assert_eq!(request.team, "demo");
    let control = &request.control;
    assert_eq!(control.operation, "turn");
    assert_eq!(control.key.as_deref(), Some("k"));
    assert_eq!(control.trace_id.as_deref(), Some("tr"));
    assert_eq!(control.actor.as_deref(), Some("boss"));
    assert_eq!(own.expected_version, Some(3));
    assert_eq!(own.confirm, Some(true));
    // An operation on an object without a version ignores `expected_version`.
    let more = json!({"team_name": "demo", "body": "b", "index": 1, "alive": false,
        "snapshot": {}, "expected_version": 3, "more": [null], "lane": 7});
    let (_, own) = read::<Keep>(more).unwrap();
    let kept: Vec<&str> = own.extra.keys().map(String::as_str).collect();
    assert_eq!(kept, ["lane", "more"]);
    // An operation that only reads accepts neither a trace nor a key.
    let fault = refused::<Look>(json!({"team_name": "demo", "key": "k"}));
    assert!(fault.message.contains("\"key\""), "{fault:?}");
    read::<Look>(json!({"team_name": "demo", "workingDirectory": "/"})).unwrap();
}

#[test]
fn the_same_request_is_known_by_its_bytes_whatever_its_spelling() {
    let bytes = |mut input: Value| {
        input["key"] = json!("k");
        read::<Turn>(input).unwrap().0.control.request
    };
    let first = bytes(turn(json!({})));
    assert_eq!(bytes(turn(json!({"task_id": 1}))), first);
    assert_eq!(bytes(turn(json!({"worker": " dev "}))), first);
    assert_eq!(bytes(turn(json!({"workingDirectory": "/x"}))), first);
    assert_eq!(bytes(turn(json!({"silent": null}))), first);
    assert_ne!(bytes(turn(json!({"silent": true}))), first);
    assert_ne!(bytes(turn(json!({"team_name": "other"}))), first);
}

#[test]
fn faults_are_looked_for_in_their_order() {
    // The first input has all faults. Each further input has one fault less.
    said(
        "invalid_input",
        "lifecycle fields",
        turn(json!({"status": 1, "x": 1, "worker": "a/b", "to": null, "silent": 7})),
    );
    said(
        "invalid_input",
        "unsupported fields",
        turn(json!({"x": 1, "worker": "a/b", "to": null, "silent": 7})),
    );
    said(
        "operation_failed",
        "Invalid worker",
        turn(json!({"worker": "a/b", "task_id": "../x", "team_name": "", "to": null, "silent": 7})),
    );
    said(
        "operation_failed",
        "Invalid task_id",
        turn(json!({"task_id": "../x", "team_name": "..", "to": null, "silent": 7})),
    );
    said(
        "operation_failed",
        "Invalid team_name",
        turn(json!({"team_name": "..", "to": null, "silent": 7})),
    );
    said(
        "invalid_input",
        "to is required",
        turn(json!({"to": null, "silent": 7})),
    );
    said(
        "operation_failed",
        "silent must be a boolean when provided, but is 7",
        turn(json!({"silent": 7, "to": "sideways"})),
    );
    said(
        "invalid_input",
        "to must be one of the ways to turn: completed, failed",
        turn(json!({"to": "sideways"})),
    );
}

#[test]
fn a_fault_outside_the_common_codes_tells_the_precise_one() {
    let fault = refused::<Turn>(turn(json!({"worker": ".."})));
    assert_eq!(fault.details["code"], "invalid_input");
    assert_eq!(fault.details["field"], "worker");
    let fault = refused::<Turn>(turn(json!({"silent": 7})));
    assert_eq!(fault.details["code"], "invalid_input");
    let fault = refused::<Turn>(turn(json!({"result": 7})));
    assert!(!fault.details.contains_key("code"), "{fault:?}");
}

#[test]
fn unknown_fields_are_refused_with_the_nearest_known_one() {
    for (typed, meant) in [
        ("taskId", "task_id"),
        ("teamName", "team_name"),
        ("workr", "worker"),
        ("expectedVersion", "expected_version"),
        ("results", "result"),
    ] {
        let fault = refused::<Turn>(turn(json!({typed: 1})));
        let said = format!("{typed:?} (did you mean {meant}?)");
        assert!(fault.message.contains(&said), "{fault:?}");
        assert_eq!(fault.details["unsupported"], json!([typed]));
    }
    let fault = refused::<Turn>(turn(json!({"zzzzzz": 1})));
    assert!(!fault.message.contains("did you mean"), "{fault:?}");
    assert!(
        fault
            .message
            .contains("it takes team_name, worker, task_id, to,")
    );
    // The error message stays short even if the input has many names or long names.
    let many: Map<String, Value> = (0..5_000)
        .map(|n| (format!("{n}{}", "x".repeat(1_000)), Value::Null))
        .collect();
    let fault = refused::<Turn>(turn(many.into()));
    let text = serde_json::to_string(&fault).unwrap();
    assert!(text.len() < 6_000, "{}", text.len());
}

#[test]
fn what_is_kept_is_neither_a_slip_nor_what_others_change() {
    let keep = |field: &str| json!({"team_name": "demo", "body": "b", "index": 1, "alive": true, "snapshot": 1, field: 1});
    for (field, part) in [
        ("status", "lifecycle fields"),
        ("statuss", "did you mean"),
        ("boddy", "did you mean body?"),
        ("Body", "did you mean body?"),
        ("team-name", "did you mean team_name?"),
    ] {
        let fault = refused::<Keep>(keep(field));
        assert!(fault.message.contains(part), "{field}: {fault:?}");
    }
    for field in ["role", "lane", "filePaths", "domains", "delegation", "x"] {
        read::<Keep>(keep(field)).unwrap();
    }
}

#[test]
fn all_missing_fields_are_named_and_all_required_ones_listed() {
    let fault = refused::<Turn>(json!({"team_name": "demo"}));
    assert_eq!(
        fault.message,
        "worker is required, task_id is required, to is required; turn needs team_name, worker, task_id, to"
    );
    assert_eq!(fault.details["missing"], json!(["worker", "task_id", "to"]));
    for nothing in [json!(null), json!(""), json!("  "), json!(0), json!(false)] {
        said(
            "invalid_input",
            "task_id is required",
            turn(json!({"task_id": nothing})),
        );
    }
    let good = json!({"team_name": "demo", "body": "b", "index": 0, "alive": false, "snapshot": 1});
    read::<Keep>(good.clone()).unwrap();
    for (field, nothing) in [
        ("snapshot", json!(0)),
        ("snapshot", json!("")),
        ("body", json!(false)),
        ("alive", json!(null)),
        ("index", json!(null)),
    ] {
        let mut input = good.clone();
        input[field] = nothing;
        let fault = refused::<Keep>(input);
        assert!(
            fault.message.contains(&format!("{field} is required")),
            "{fault:?}"
        );
    }
}

#[test]
fn scalars_stand_for_required_text_and_are_trimmed() {
    let (_, own) = read::<Turn>(turn(
        json!({"task_id": 17, "worker": " dev\n", "to": " failed"}),
    ))
    .unwrap();
    assert_eq!(
        (&*own.task_id, &*own.worker, own.to),
        ("17", "dev", Word::Failed)
    );
    // The value of an optional text is not trimmed.
    let (_, own) = read::<Turn>(turn(json!({"result": " r "}))).unwrap();
    assert_eq!(own.result.as_deref(), Some(" r "));
    said(
        "invalid_input",
        "result must be a string when provided, but is 7",
        turn(json!({"result": 7})),
    );
    said(
        "invalid_input",
        "result must be a string when provided, but is null",
        turn(json!({"result": null})),
    );
    said(
        "operation_failed",
        "Invalid worker: worker must be a string, but is an array",
        turn(json!({"worker": ["dev"]})),
    );
}

#[test]
fn each_type_has_its_words() {
    for (over, part) in [
        (
            json!({"expected_version": 0}),
            "expected_version must be a positive integer when provided, but is 0",
        ),
        (
            json!({"expected_version": "1"}),
            "must be a positive integer",
        ),
        (
            json!({"expected_version": 1.5}),
            "must be a positive integer",
        ),
        (json!({"blocked_by": "1"}), "blocked_by must be an array"),
        (
            json!({"blocked_by": [1]}),
            "blocked_by entries must be strings",
        ),
        (json!({"blocked_by": ["1", "../x"]}), "invalid task ID"),
        (json!({"to": ["failed"]}), "to must be a string"),
    ] {
        said("invalid_input", part, turn(over));
    }
    // The check accepts a word that the schema does not list, because the input type may know more spellings.
    let (_, own) = read::<Turn>(turn(json!({"to": "broken"}))).unwrap();
    assert_eq!(own.to, Word::Failed);
}
