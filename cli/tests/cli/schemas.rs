//! Checks the output of commands against the schemas that teamlog prints. This check is stricter than the schemas: it refuses
//! fields without a description, which readers must accept.

use crate::prelude::*;
use jsonschema::Validator;
use serde::Deserialize;
use std::collections::HashMap;
use std::sync::{Mutex, OnceLock, PoisonError};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Listing {
    schemas: Vec<Listed>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Listed {
    name: String,
    prints: String,
    records: bool,
}

/// Returns the name of each schema, and the form of output that the schema describes.
pub fn listed() -> Vec<(String, String)> {
    let listed = table().iter();
    listed
        .map(|one| (one.name.clone(), one.prints.clone()))
        .collect()
}

/// Returns true if a command records events.
pub fn records(name: &str) -> bool {
    let row = table().iter().find(|one| one.name == name);
    row.unwrap_or_else(|| panic!("{name} is not listed"))
        .records
}

fn table() -> &'static [Listed] {
    static LISTED: OnceLock<Vec<Listed>> = OnceLock::new();
    LISTED.get_or_init(|| {
        let listing: Listing = parse(&Cli::new().ok_of_any_shape("schema --json"));
        listing.schemas
    })
}

/// Checks the output of a command under `--json` against its schema. Returns the name of the command, or `None` if there is no
/// schema or no output.
#[track_caller]
pub fn check(argv: &[String], out: &str) -> Option<String> {
    let (name, prints) = listed()
        .into_iter()
        .filter(|(name, prints)| prints != "error" && is_of(argv, name))
        .max_by_key(|(name, _)| name.len())?;
    if prints == "text" || out.is_empty() || is_text(&name, argv) {
        return None;
    }
    for line in out.lines() {
        keeps(&name, line);
    }
    Some(name)
}

/// Checks each line on standard error against its schema.
#[track_caller]
pub fn check_stderr(err: &str) {
    for line in err.lines() {
        let name = match line.starts_with("{\"note\"") {
            true => "note",
            false => "error",
        };
        keeps(name, line);
    }
}

/// Returns true if the arguments contain the words of the name, with only options before them.
fn is_of(argv: &[String], name: &str) -> bool {
    let words: Vec<&str> = name.split(' ').collect();
    let at = argv.windows(words.len()).position(|window| window == words);
    at.is_some_and(|at| {
        let before = argv.iter().take(at);
        // A word before the name can be the value of an option.
        before
            .clone()
            .next()
            .is_none_or(|first| first.starts_with('-'))
    })
}

/// Returns true if a command with a schema prints something else in this call.
fn is_text(name: &str, argv: &[String]) -> bool {
    let has = |word: &str| argv.iter().any(|one| one == word);
    match name {
        "man" => !has("--out"),
        "api" => has("--help"),
        // The lines of `export` in the format `audit` have another schema.
        "export" => has("audit"),
        "trace" => has("chrome") || has("otlp-json"),
        _ => false,
    }
}

#[track_caller]
fn keeps(name: &str, line: &str) {
    static SCHEMAS: Mutex<Option<HashMap<String, &'static Validator>>> = Mutex::new(None);
    let validator = {
        let mut schemas = SCHEMAS.lock().unwrap_or_else(PoisonError::into_inner);
        let schemas = schemas.get_or_insert_default();
        *schemas
            .entry(name.to_owned())
            .or_insert_with(|| Box::leak(Box::new(strict(name))))
    };
    let value: Value = serde_json::from_str(line).unwrap_or_else(|e| panic!("{name}: {e}: {line}"));
    let faults: Vec<String> = validator
        .iter_errors(&value)
        .map(|fault| format!("{} at {}", fault, fault.instance_path()))
        .collect();
    assert!(
        faults.is_empty(),
        "`{name}` breaks its schema: {faults:#?}\n{line}"
    );
}

fn strict(name: &str) -> Validator {
    let text = Cli::new().ok_of_any_shape(&format!("schema {name} --json"));
    let schema = closed(serde_json::from_str(&text).unwrap());
    jsonschema::validator_for(&schema).unwrap_or_else(|e| panic!("{name}: {e}: {text}"))
}

/// Returns a copy of the schema that forbids every property that the schema does not name.
pub fn closed(mut schema: Value) -> Value {
    close(&mut schema);
    schema
}

/// Forbids unnamed properties in every object of the schema that names properties.
fn close(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            fields.values_mut().for_each(close);
            if fields.get("properties").is_some_and(Value::is_object) {
                fields.entry("additionalProperties").or_insert(json!(false));
            }
        }
        Value::Array(items) => items.iter_mut().for_each(close),
        _ => {}
    }
}

#[test]
fn an_answer_that_breaks_its_schema_is_found() {
    let breaks = |name: &'static str, line: &'static str| {
        std::panic::catch_unwind(move || keeps(name, line)).is_err()
    };
    let good = r#"{"status":"acked","message_id":"m","agent":"dev"}"#;
    assert!(!breaks("ack", good));
    for bad in [
        r#"{"status":"acked","message_id":"m"}"#,
        r#"{"status":"lost","message_id":"m","agent":"dev"}"#,
        r#"{"status":"acked","message_id":7,"agent":"dev"}"#,
        r#"{"status":"acked","message_id":"m","agent":"dev","more":1}"#,
    ] {
        assert!(breaks("ack", bad), "{bad}");
    }
}
