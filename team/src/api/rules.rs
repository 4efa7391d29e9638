//! What goes for every input, and how some differ.

use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value};

pub(super) const TEAM: &str = "team_name";

/// How an operation's input differs from that of the others.
#[derive(Debug, Clone, Copy)]
pub struct Rules {
    /// Fields that other operations change, and only they.
    pub lifecycle: &'static [&'static str],
    /// Other names of fields.
    pub aliases: &'static [(&'static str, &'static str)],
    /// Fields whose faults are no `invalid_input` to the contract, but `operation_failed`.
    pub lookups: &'static [&'static str],
    /// Fields in which `null` is a value of the wrong type; elsewhere it is as good as nothing.
    pub never_null: &'static [&'static str],
    /// Fields that only words can fill that are called so.
    pub choices: Option<&'static str>,
    /// Whether fields that are nearly, but not quite, one of the known ones are kept too.
    pub keeps_lookalikes: bool,
}

impl Rules {
    /// Nothing special.
    pub const COMMON: Rules = Rules {
        lifecycle: &[],
        aliases: &[],
        lookups: &[],
        never_null: &[],
        choices: None,
        keeps_lookalikes: false,
    };
}

/// What every operation takes.
#[derive(JsonSchema)]
#[allow(dead_code, reason = "it is there to be described")]
struct Common {
    /// The team
    team_name: String,
    /// Taken and passed by, for callers that send it
    #[serde(rename = "workingDirectory")]
    working_directory: Option<String>,
}

/// What every operation takes that records something.
#[derive(JsonSchema)]
#[allow(dead_code, reason = "it is there to be described")]
struct Controls {
    /// Idempotency key: the same request under the same key is carried out once, and answered again
    key: Option<String>,
    /// The story that its events belong to; else that of the task or the message
    trace_id: Option<String>,
    /// Who does it; else the agent that the input names
    actor: Option<String>,
    /// The version that the task must have; where nothing has one, it is passed by
    #[schemars(range(min = 1))]
    expected_version: Option<u64>,
}

/// The schema of an operation's own fields, with those that every operation takes.
pub(super) fn complete(mut own: Schema, mutates: bool) -> Schema {
    let mut properties = properties_of(&own);
    let mut add = |more: Schema| {
        for (name, property) in properties_of(&more) {
            properties.entry(name).or_insert(property);
        }
    };
    add(schemars::schema_for!(Common));
    if mutates {
        add(schemars::schema_for!(Controls));
    }
    let mut required = vec![Value::from(TEAM)];
    if let Some(Value::Array(more)) = own.get("required") {
        required.extend(more.iter().cloned());
    }
    own.insert("type".to_owned(), "object".into());
    own.insert("properties".to_owned(), properties.into());
    own.insert("required".to_owned(), required.into());
    own
}

fn properties_of(schema: &Schema) -> Map<String, Value> {
    let properties = schema.get("properties").and_then(Value::as_object);
    properties.cloned().unwrap_or_default()
}
