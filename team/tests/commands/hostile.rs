//! Tests of every operation with wrong inputs: each field missing, of another type, unknown, or with a harmful value.

use crate::deliveries::with_dead_letter;
use crate::prelude::*;
use crate::scenario::{Given, NAMES, mistyped, scenario};
use teamlog_team::Code;
use teamlog_team::api::{self, Fault, OPERATIONS, Operation};

/// Kinds of events that a refused call may record.
const FACTS: [&str; 2] = ["task_lease_expired", "task_blocked"];

/// Maximum length of an error message. A message repeats the input in a shortened form.
const MESSAGE_MAX: usize = 4_000;

pub fn call(
    world: &World,
    operation: &Operation,
    input: Map<String, Value>,
) -> Result<Value, Fault> {
    let answered = api::call(&world.root, operation, input, Control::default())?;
    if let Some(mut team) = answered.team {
        team.finish().unwrap();
    }
    Ok(serde_json::from_str(answered.data.get()).unwrap())
}

/// Calls `check` for every operation with a copy of the world in which the operation can succeed. Returns the world after the
/// last operation.
pub fn each(mut check: impl FnMut(&'static Operation, &World, &Map<String, Value>)) -> World {
    let world = World::new();
    with_dead_letter(&world);
    let mut given = Given::default();
    for (name, input) in scenario() {
        let operation = api::find(name).unwrap();
        let input = given.fill(input);
        check(operation, &world.copy(), &input);
        let data = call(&world, operation, input);
        given.learn(&data.unwrap_or_else(|fault| panic!("{name}: {fault:?}")));
    }
    world
}

fn with(input: &Map<String, Value>, field: &str, value: Value) -> Map<String, Value> {
    let mut input = input.clone();
    input.insert(field.to_owned(), value);
    input
}

/// Returns the number of events.
fn recorded(world: &World) -> usize {
    let team = world.root.team("demo").unwrap();
    let last = team.log().reader().unwrap().head().last_seq;
    usize::try_from(last).unwrap()
}

/// Returns a complaint, unless the call is refused because of its input and records nothing.
fn refused(
    world: &World,
    operation: &Operation,
    input: Map<String, Value>,
    field: &str,
    said: &str,
) -> Option<String> {
    let shown = || {
        let input = Value::Object(input.clone()).to_string();
        format!("{} {input:.200}", operation.name)
    };
    let count = recorded(world);
    let fault = match call(world, operation, input.clone()) {
        Ok(data) => return Some(format!("{} was taken: {data}", shown())),
        Err(fault) => fault,
    };
    let codes = [
        "invalid_input",
        "operation_failed",
        "setting_unknown",
        "unsupported_mode",
    ];
    // A fault of a message names the place of the field in the message.
    let named = fault.details["field"].as_str().unwrap_or_default();
    let good = codes.contains(&&*fault.code)
        && fault.message.contains(said)
        && named.strip_prefix("message.").unwrap_or(named) == field
        && recorded(world) == count;
    (!good).then(|| format!("{}: {fault:?}", shown()))
}

#[test]
fn the_story_has_every_operation_and_each_can_be_carried_out() {
    let told: BTreeSet<&str> = scenario().iter().map(|(name, _)| *name).collect();
    let all: BTreeSet<&str> = OPERATIONS.iter().map(|operation| operation.name).collect();
    assert_eq!(told, all);
    let world = each(|_, _, _| {});
    settled_digest(&mut world.root.team("demo").unwrap());
}

/// Values that name no existing object, and the code of the refusal.
pub const ABSENT: [(&str, &str, Code); 16] = [
    ("task_id", "999", Code::TaskNotFound),
    ("parent", "998", Code::TaskNotFound),
    ("worker", "nobody", Code::WorkerNotFound),
    ("to_worker", "nobody", Code::WorkerNotFound),
    ("from_worker", "nobody", Code::WorkerNotFound),
    ("to", "nobody", Code::WorkerNotFound),
    ("actor", "nobody", Code::WorkerNotFound),
    ("owner", "nobody", Code::WorkerNotFound),
    ("agent", "nobody", Code::WorkerNotFound),
    ("thread_id", "thread-9999", Code::ThreadNotFound),
    ("token_id", "nothing", Code::TokenNotFound),
    ("run", "nothing", Code::RunNotFound),
    ("cursor", "nothing", Code::CursorUnknown),
    ("mode", "nothing", Code::UnsupportedMode),
    ("name", "nothing", Code::ArtifactNotFound),
    ("team_name", "nothing", Code::ManifestNotFound),
];

#[test]
fn what_is_not_there_is_refused_by_exactly_those_operations_that_declare_it() {
    let mut faults = Vec::new();
    each(|operation, world, input| {
        let shape = operation.shape();
        let given = ABSENT
            .iter()
            .filter(|(field, ..)| shape.field(field).is_some());
        let refused = given.filter(|(field, value, code)| {
            let answer = call(world, operation, with(input, field, json!(value)));
            answer.is_err_and(|fault| fault.code == code.as_str())
        });
        let refused: BTreeSet<&str> = refused.map(|(.., code)| code.as_str()).collect();
        let declared = operation.refusals.iter();
        let declared: BTreeSet<&str> = declared
            .filter(|code| ABSENT.iter().any(|(.., absent)| absent == *code))
            .map(|code| code.as_str())
            .collect();
        if refused != declared {
            faults.push((operation.name, refused, declared));
        }
    });
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn a_field_that_has_to_be_there_is_asked_for_by_name() {
    let mut faults = Vec::new();
    each(|operation, world, input| {
        for field in operation.shape().required() {
            let mut input = input.clone();
            input.remove(field);
            faults.extend(refused(
                world,
                operation,
                input.clone(),
                field,
                &format!("{field} is required"),
            ));
            input.insert(field.to_owned(), Value::Null);
            faults.extend(refused(
                world,
                operation,
                input,
                field,
                &format!("{field} is required"),
            ));
        }
    });
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn a_value_of_another_type_is_refused_by_the_name_of_its_field() {
    let mut faults = Vec::new();
    each(|operation, world, input| {
        for field in &operation.shape().fields {
            for value in mistyped(field) {
                let input = with(input, &field.name, value);
                faults.extend(refused(world, operation, input, &field.name, &field.name));
            }
        }
    });
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn a_field_that_nobody_knows_is_refused_by_name_or_kept() {
    let mut faults = Vec::new();
    each(|operation, world, input| {
        if operation.shape().open {
            return;
        }
        for field in ["qqqqqqqqqq", "team_nam", "__proto__", "\u{1b}[31m", ""] {
            faults.extend(refused(
                world,
                operation,
                with(input, field, json!(1)),
                field,
                "unsupported fields",
            ));
        }
    });
    assert!(faults.is_empty(), "{faults:#?}");
}

/// Returns harmful values for any field.
fn hostile() -> Vec<Value> {
    let mut deep = json!(1);
    for _ in 0..100 {
        deep = json!([deep]);
    }
    vec![
        json!("../../etc/passwd"),
        json!("/etc/passwd"),
        json!("a/b"),
        json!("a\\b"),
        json!(".."),
        json!(".hidden"),
        json!("a\u{0}b"),
        json!("\u{1b}[2Jgone"),
        json!("line\nline"),
        json!("\u{202e}evil"),
        json!("x".repeat(300_000)),
        json!(u64::MAX),
        json!(i64::MIN),
        json!(1e308),
        json!(true),
        json!(["../x", "1", "1"]),
        json!({"$ref": "#", "": null}),
        deep,
    ]
}

#[test]
fn a_name_that_leads_elsewhere_is_refused_before_anything_else() {
    let mut faults = Vec::new();
    each(|operation, world, input| {
        for name in operation
            .shape()
            .names()
            .filter(|name| NAMES.contains(name))
        {
            for value in hostile().into_iter().take(11) {
                faults.extend(refused(
                    world,
                    operation,
                    with(input, name, value),
                    name,
                    &format!("Invalid {name}"),
                ));
            }
        }
    });
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn whatever_a_field_holds_there_is_an_answer_and_the_log_stays_whole() {
    each(|operation, world, input| {
        let shape = operation.shape();
        // No other caller would end a wait.
        let fields = shape.names().filter(|name| *name != "timeout_ms");
        for field in fields {
            for value in hostile() {
                let what = || format!("{} {field}={:.80}", operation.name, value.to_string());
                let count = recorded(world);
                let input = with(input, field, value.clone());
                if let Err(fault) = call(world, operation, input) {
                    assert!(
                        fault.message.len() < MESSAGE_MAX,
                        "{}: {}",
                        what(),
                        fault.message.len()
                    );
                    let code = fault.code.chars();
                    assert!(code.clone().count() > 0, "{}", what());
                    for c in code {
                        assert!(c == '_' || c.is_ascii_lowercase(), "{}: {fault:?}", what());
                    }
                    if recorded(world) == count {
                        continue;
                    }
                    let mut team = world.root.team("demo").unwrap();
                    for event in events(&mut team).split_off(count) {
                        let kind = event["kind"].as_str().unwrap();
                        assert!(FACTS.contains(&kind), "{}: {fault:?} left {event}", what());
                    }
                } else if !operation.mutates() {
                    assert_eq!(recorded(world), count, "{}", what());
                }
            }
        }
        settled_digest(&mut world.root.team("demo").unwrap());
    });
}

#[test]
fn on_a_team_that_is_not_there_reads_are_empty_and_nothing_comes_into_being() {
    let world = World::new();
    world.demo();
    let known = world.root.teams().unwrap();
    for (name, input) in scenario() {
        let operation = api::find(name).unwrap();
        let outcome = call(
            &world,
            operation,
            with(&input, "team_name", json!("nowhere")),
        );
        if operation.mutates() {
            let refused = matches!(&outcome, Err(fault) if &*fault.code == "team_not_found");
            assert!(refused, "{name} records, and answered {outcome:?}");
        }
        let code = match &outcome {
            Ok(_) => "ok",
            Err(fault) => &*fault.code,
        };
        let expected = match name {
            "mailbox-list"
            | "list-tasks"
            | "read-events"
            | "read-worker-status"
            | "read-worker-heartbeat"
            | "read-shutdown-ack"
            | "read-monitor-snapshot"
            | "read-task-approval" => "ok",
            "read-manifest" => "manifest_not_found",
            "read-task" => "task_not_found",
            _ => "team_not_found",
        };
        assert_eq!(code, expected, "{name}: {outcome:?}");
        if let (Err(fault), "team_not_found") = (&outcome, code) {
            assert!(fault.message.starts_with("no team "), "{name}: {fault:?}");
            assert_eq!(fault.details["field"], "team_name", "{name}: {fault:?}");
        }
    }
    assert_eq!(world.root.teams().unwrap(), known);
}
