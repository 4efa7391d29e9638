//! Parses the words after `api` on the command line.

use crate::link::Called;
use std::ffi::OsString;
use teamlog_team::api::{Fault, OPERATIONS, Operation, find, meant};

pub enum ApiRequest {
    /// Print the list of operations, or the fields of one operation.
    Help(Option<&'static Operation>),
    List,
    /// Print the schemas of an operation as JSON.
    Schema(&'static Operation),
    Call(&'static Operation, Source),
}

pub enum Source {
    /// Run the operation with the input from the command line.
    Given(String),
    File(String),
    Standard,
}

/// Parses the words after `api`.
pub fn read(words: &[OsString], called: Called, receipt: bool) -> Result<ApiRequest, Fault> {
    let words: Vec<String> = words
        .iter()
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    let fault = |message: String| Fault::new("invalid_input", message);
    if receipt {
        return Err(fault(unknown(called, "--receipt")));
    }
    let (name, rest) = match words.split_first() {
        None => return Err(fault(usage(called, "an operation is required"))),
        Some((word, rest)) => (word, rest),
    };
    if is_help(name) {
        return Ok(ApiRequest::Help(rest.first().and_then(|name| find(name))));
    }
    if name == "--list" {
        return match rest.first() {
            None => Ok(ApiRequest::List),
            Some(word) => Err(fault(unknown(called, word))),
        };
    }
    let Some(operation) = find(name) else {
        let meant = meant(name).map(|meant| format!("; did you mean {meant}?"));
        let what = format!(
            "there is no operation {:?}{}",
            short(name),
            meant.unwrap_or_default()
        );
        return Err(fault(usage(called, &what)));
    };
    of_operation(operation, rest, called).map_err(fault)
}

fn of_operation(
    operation: &'static Operation,
    words: &[String],
    called: Called,
) -> Result<ApiRequest, String> {
    let mut source = Source::Given("{}".to_owned());
    let mut schema = false;
    if words.iter().any(|word| is_help(word)) {
        return Ok(ApiRequest::Help(Some(operation)));
    }
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if word == "--schema" {
            schema = true;
        } else if word == "--input" {
            let value = words.next().filter(|value| !value.is_empty());
            let value = value.ok_or("Missing value after --input")?;
            source = Source::from_value(value);
        } else if let Some(value) = word.strip_prefix("--input=") {
            source = Source::from_value(value);
        } else {
            return Err(unknown(called, word));
        }
    }
    Ok(match schema {
        true => ApiRequest::Schema(operation),
        false => ApiRequest::Call(operation, source),
    })
}

impl Source {
    fn from_value(value: &str) -> Source {
        match value.strip_prefix('@') {
            Some(path) => Source::File(path.to_owned()),
            None if value == "-" => Source::Standard,
            None => Source::Given(value.to_owned()),
        }
    }
}

fn is_help(word: &str) -> bool {
    ["--help", "-h", "help"]
        .iter()
        .any(|help| word.eq_ignore_ascii_case(help))
}

/// Returns a usage error text that begins with the reason `what`.
pub fn usage(called: Called, what: &str) -> String {
    let names: Vec<&str> = OPERATIONS.iter().map(|operation| operation.name).collect();
    format!(
        "{what}\nUsage: {} <operation> [--input <json>] [--json]\nSupported operations: {}",
        called.words("api"),
        names.join(", ")
    )
}

fn unknown(called: Called, word: &str) -> String {
    format!(
        "Unknown argument for \"{}\": {}",
        called.words("api"),
        short(word)
    )
}

/// Shortens a word of the command line for an error message.
fn short(word: &str) -> String {
    word.chars().take(200).collect()
}
