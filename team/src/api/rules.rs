//! The common fields of all inputs.

use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value};

pub(super) const TEAM: &str = "team_name";

/// Fields that every operation takes.
#[derive(JsonSchema)]
#[allow(dead_code, reason = "only its schema is used")]
struct Common {
    /// The team
    team_name: String,
    /// Accepted and ignored
    #[serde(rename = "workingDirectory")]
    working_directory: Option<String>,
}

/// Common fields of all operations that record events.
#[derive(JsonSchema)]
#[allow(dead_code, reason = "only its schema is used")]
struct Controls {
    /// Idempotency key: a request with the same key is carried out once; later requests get the first answer
    key: Option<String>,
    /// Trace that the events belong to. Default: the trace of the task or the message
    trace_id: Option<String>,
    /// Actor of the events. Default: the agent that the input names
    actor: Option<String>,
    /// Version that the task must have; operations on other objects ignore it
    #[schemars(range(min = 1))]
    expected_version: Option<u64>,
}

/// Adds the common fields to the schema of an operation.
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
