//! Runs every operation as a process. Valid input is carried out, and the answer matches the operation's schema. Invalid input
//! is refused both by the input schema and by the program.

use crate::harness::{Cli, parse};
use crate::scenario::{Given, mistyped, scenario};
use crate::schemas::closed;
use jsonschema::Validator;
use serde_json::{Map, Value, json};
use teamlog_team::api::{Operation, find};

fn validator(schema: Value) -> Validator {
    jsonschema::validator_for(&schema).unwrap()
}

/// Runs an operation. Checks that the output is one line, that the exit code matches, and that standard error is empty.
#[track_caller]
fn call(cli: &Cli, operation: &Operation, input: &Map<String, Value>) -> Value {
    let text = Value::Object(input.clone()).to_string();
    let line = format!("api {} --input - --json", operation.name);
    let ran = cli.run_with_input(&line, &text);
    assert_eq!(ran.stderr, "", "{line} {text}");
    let answer: Value = parse(&ran.stdout);
    let code = if answer["ok"] == true { 0 } else { 1 };
    assert_eq!(ran.code, Some(code), "{line} {text}: {answer}");
    has!(answer, {"operation": operation.name}, "{line} {text}: {answer}");
    answer
}

/// Returns invalid inputs, each with the name of its invalid field.
fn wrong(operation: &Operation, good: &Map<String, Value>) -> Vec<(String, Map<String, Value>)> {
    let shape = operation.shape();
    let mut wrong = Vec::new();
    let last = shape.required().last().unwrap();
    let mut missing = good.clone();
    missing.remove(last);
    wrong.push((last.to_owned(), missing));
    let typed = shape
        .fields
        .iter()
        .filter(|field| field.name != "team_name");
    let first = typed
        .map(|field| (field, mistyped(field)))
        .find(|(_, values)| !values.is_empty());
    let (field, values) = first.unwrap();
    let mut other = good.clone();
    other.insert(field.name.clone(), values[0].clone());
    wrong.push((field.name.clone(), other));
    wrong
}

#[test]
fn every_operation_is_what_its_schemas_say() {
    let cli = Cli::with_team();
    cli.ok(
        "send demo --from lead --to dev --type decision_required --message-id m-dead --require-ack \
        --ack-timeout-seconds 1 --max-retries 0",
    );
    cli.until_dead_letters(1);
    let mut given = Given::default();
    for (name, input) in scenario() {
        let operation = find(name).unwrap();
        let input = given.fill(input);
        let takes = validator(operation.input_schema().to_value());
        for (field, input) in wrong(operation, &input) {
            let answer = call(&cli, operation, &input);
            has!(answer, {"/error/details/field": field}, "{name}: {answer}");
            assert!(
                !takes.is_valid(&Value::Object(input.clone())),
                "{name}: {input:?}"
            );
        }
        let mut hostile = input.clone();
        hostile.insert("team_name".to_owned(), json!("../\u{1b}[2J"));
        let answer = call(&cli, operation, &hostile);
        has!(answer, {"/error/code": "operation_failed"}, "{name}: {answer}");
        assert!(
            takes.is_valid(&Value::Object(input.clone())),
            "{name}: {input:?}"
        );
        let answer = call(&cli, operation, &input);
        assert_eq!(answer["ok"], true, "{name}: {answer}");
        let gives = validator(closed(operation.data_schema().to_value()));
        let faults: Vec<String> = gives
            .iter_errors(&answer["data"])
            .map(|fault| format!("{} at {}", fault, fault.instance_path()))
            .collect();
        assert!(faults.is_empty(), "{name}: {faults:#?}\n{answer}");
        given.learn(&answer["data"]);
    }
    // The hostile team names created no directory beside the team.
    let mut beside: Vec<_> = std::fs::read_dir(cli.dir().join("teams"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .filter(|name| !name.to_string_lossy().starts_with('.'))
        .collect();
    beside.sort();
    assert_eq!(beside, ["demo"]);
    cli.ok("verify demo");
}
