//! The fields that every input has.

use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value};

pub(super) const TEAM: &str = "team_name";

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
