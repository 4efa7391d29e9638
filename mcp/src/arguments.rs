//! Converts arguments that models write to the types in the tool's schema. Refuses an argument only if it cannot be
//! converted.
//!
//! `"5"` and `5.0` become integers, `"true"` becomes a boolean, and JSON text becomes the object or list that it contains. A
//! number becomes text if the schema has text. `null` and blank text count as absent. `team_name` means `team`. An unknown
//! argument is ignored, unless its name is similar to a known name.

use crate::query::{Query, ToolError};
use serde_json::{Map, Number, Value};
use teamlog_team::api::shape::{Field, Kind, Shape};
use teamlog_team::projections::spelling;

const TEAM: &str = "team";
const TEAM_NAME: &str = "team_name";
/// Argument for the session of a state tool. `null` means the root.
const SESSION: &str = "session_id";
/// Argument for the size of a page. A value that is too large is reduced to the maximum.
const LIMIT: &str = "limit";
/// Argument that some clients send. This argument is ignored.
const WORKING_DIRECTORY: &str = "workingDirectory";
/// The largest number up to which floats represent every integer exactly.
const EXACT_MAX: f64 = 9_007_199_254_740_992.0;

/// Arguments after conversion to the schema of a tool.
#[derive(Debug, PartialEq)]
pub struct Fitted {
    pub arguments: Map<String, Value>,
    /// Names of the ignored arguments.
    pub ignored: Vec<String>,
}

/// Converts arguments to the schema of a tool.
///
/// # Errors
/// An argument has the wrong type. The error names the argument and the expected type.
pub fn fit(query: &Query, mut arguments: Map<String, Value>) -> Result<Fitted, ToolError> {
    let shape = &query.shape;
    arguments.remove(WORKING_DIRECTORY);
    // In a tool that accepts arbitrary fields, `team_name` may be such a field.
    if !(shape.open && arguments.contains_key(TEAM)) {
        rename_team(&mut arguments)?;
    }
    let ignored = take_unknown(query.name, shape, &mut arguments)?;
    for field in &shape.fields {
        let Some(value) = arguments.get_mut(&field.name) else {
            continue;
        };
        let keeps_null = query.of_states && field.name == SESSION && value.is_null();
        if is_absent(value) && !field.required {
            if !keeps_null {
                arguments.remove(&field.name);
            }
            continue;
        }
        coerce(&field.kind, value);
        if !holds(field, value) {
            return Err(mistyped(field, value));
        }
    }
    let is_missing = |field: &&Field| field.required && !arguments.contains_key(&field.name);
    if let Some(field) = shape.fields.iter().find(is_missing) {
        let message = format!("{} is required: {}", field.name, field.kind.rule());
        return Err(ToolError::of_field(&field.name, &message));
    }
    Ok(Fitted { arguments, ignored })
}

/// Renames `team_name` to `team`.
fn rename_team(arguments: &mut Map<String, Value>) -> Result<(), ToolError> {
    let Some(named) = arguments
        .remove(TEAM_NAME)
        .filter(|value| !is_absent(value))
    else {
        return Ok(());
    };
    match arguments.get(TEAM).filter(|value| !is_absent(value)) {
        Some(team) if *team != named => {
            let message =
                format!("{TEAM} and {TEAM_NAME} must be equal, but are {team} and {named}");
            Err(ToolError::of_field(TEAM, &message))
        }
        _ => {
            arguments.insert(TEAM.to_owned(), named);
            Ok(())
        }
    }
}

/// Removes unknown arguments and returns their names. A tool that accepts arbitrary fields refuses only another
/// spelling of `session_id`. If the tool ignored this spelling, it would write the state of the root.
fn take_unknown(
    tool: &str,
    shape: &Shape,
    arguments: &mut Map<String, Value>,
) -> Result<Vec<String>, ToolError> {
    let unknown = arguments.keys().filter(|name| shape.field(name).is_none());
    let mut unknown: Vec<String> = unknown.cloned().collect();
    if shape.open {
        unknown.retain(|name| is_session(name));
    }
    for name in &unknown {
        if let Some(meant) = spelling::meant(name, shape.names()) {
            let message = format!("{tool} has no argument {name:?}: did you mean {meant}?");
            return Err(ToolError::of_field(name, &message));
        }
        arguments.remove(name);
    }
    Ok(unknown)
}

/// Returns true if a name is another spelling of `session_id`. `owner_codex_session_id` is no such spelling, but a field of mode states.
fn is_session(name: &str) -> bool {
    let letters = name.chars().filter(char::is_ascii_alphanumeric);
    let letters: String = letters.map(|letter| letter.to_ascii_lowercase()).collect();
    ["session", "sessionid"].contains(&&*letters)
}

fn is_absent(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        _ => false,
    }
}

/// Converts a value to a type if the value represents a value of this type.
fn coerce(kind: &Kind, value: &mut Value) {
    let coerced = match (kind, &*value) {
        (Kind::Integer { .. }, Value::String(text)) => {
            serde_json::from_str(text.trim().trim_start_matches('+'))
                .ok()
                .and_then(|number| integer(&number))
        }
        (Kind::Integer { .. }, Value::Number(number)) => integer(number),
        (Kind::Number, Value::String(text)) => serde_json::from_str::<Number>(text.trim())
            .ok()
            .map(Value::from),
        (Kind::Boolean, Value::String(text)) => match &*text.trim().to_lowercase() {
            "true" | "1" => Some(true.into()),
            "false" | "0" => Some(false.into()),
            _ => None,
        },
        (Kind::Boolean, Value::Number(number)) => match number.as_f64() {
            Some(1.0) => Some(true.into()),
            Some(0.0) => Some(false.into()),
            _ => None,
        },
        (Kind::Text | Kind::Choice(_), Value::Number(number)) if !number.is_f64() => {
            Some(number.to_string().into())
        }
        (Kind::Texts | Kind::List | Kind::Object, Value::String(text)) => {
            serde_json::from_str(text).ok()
        }
        _ => None,
    };
    if let Some(coerced) = coerced {
        *value = coerced;
    }
}

/// Converts a number to an integer. A float must be within the range in which floats represent every integer.
fn integer(number: &Number) -> Option<Value> {
    if !number.is_f64() {
        return Some(number.clone().into());
    }
    let float = number.as_f64()?;
    let exact = float.fract() == 0.0 && float.abs() <= EXACT_MAX;
    exact.then(|| Value::from(float as i64))
}

fn holds(field: &Field, value: &Value) -> bool {
    match field.kind {
        Kind::Integer { min, .. } if field.name == LIMIT => {
            Kind::Integer { min, max: None }.holds(value) || value.as_u64() == Some(0)
        }
        _ => field.kind.holds(value),
    }
}

fn mistyped(field: &Field, value: &Value) -> ToolError {
    let found = match value {
        Value::Array(_) => "an array".to_owned(),
        Value::Object(_) => "an object".to_owned(),
        other => other.to_string().chars().take(FOUND_MAX).collect(),
    };
    let message = format!(
        "{} must be {}, but is {found}",
        field.name,
        field.kind.rule()
    );
    ToolError::of_field(&field.name, &message)
}

/// Maximum number of characters of a value in a refusal.
const FOUND_MAX: usize = 80;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::STATES;
    use serde_json::json;

    fn fitted(tool: &str, arguments: Value) -> Result<Fitted, String> {
        let found = STATES.iter().find(|query| query.name == tool);
        let query = found.or_else(|| Query::find(tool)).unwrap();
        let Value::Object(arguments) = arguments else {
            unreachable!()
        };
        fit(query, arguments).map_err(|fault| fault.0)
    }

    #[test]
    fn values_are_read_by_the_schema() {
        for (tool, given, read) in [
            ("ready", json!({"limit": "5"}), json!({"limit": 5})),
            (
                "ready",
                json!({"limit": 5.0, "agent": ""}),
                json!({"limit": 5}),
            ),
            (
                "ready",
                json!({"limit": " 5.0 ", "cursor": null}),
                json!({"limit": 5}),
            ),
            ("ready", json!({"limit": 100000}), json!({"limit": 100000})),
            ("events", json!({"since": ""}), json!({})),
            (
                "inbox",
                json!({"agent": "dev", "unread": "True"}),
                json!({"agent": "dev", "unread": true}),
            ),
            ("task", json!({"task_id": 7}), json!({"task_id": "7"})),
            (
                "status",
                json!({"team_name": "demo", "team": ""}),
                json!({"team": "demo"}),
            ),
            (
                "state_write",
                json!({"mode": "forge", "state": "{\"a\": 1}", "b": null}),
                json!({"mode": "forge", "state": {"a": 1}, "b": null}),
            ),
            (
                "state_read",
                json!({"mode": "forge", "session_id": null, "workingDirectory": "/x"}),
                json!({"mode": "forge", "session_id": null}),
            ),
        ] {
            let fitted = fitted(tool, given.clone()).unwrap();
            assert_eq!(Value::Object(fitted.arguments), read, "{tool} {given}");
            assert!(fitted.ignored.is_empty(), "{tool} {given}");
        }
    }

    #[test]
    fn a_refusal_names_the_field_and_what_was_expected() {
        for (tool, given, said) in [
            (
                "ready",
                json!({"limit": "five"}),
                "limit must be an integer from 1 to 1000",
            ),
            ("ready", json!({"limit": 5.5}), "limit must be an integer"),
            ("ready", json!({"limit": -1}), "limit must be"),
            (
                "inbox",
                json!({"agent": "dev", "unread": "maybe"}),
                "unread must be a boolean",
            ),
            (
                "ready",
                json!({"team": ["demo"]}),
                "team must be a string, but is an array",
            ),
            ("prime", json!({}), "agent is required"),
            (
                "prime",
                json!({"agent": null}),
                "agent must be a string, but is null",
            ),
            ("ready", json!({"agnet": "dev"}), "did you mean agent?"),
            (
                "state_write",
                json!({"mode": "forge", "sessionId": "s-1"}),
                "did you mean session_id?",
            ),
            (
                "status",
                json!({"team": "a", "team_name": "b"}),
                "must be equal",
            ),
            (
                "state_write",
                json!({"mode": "forge", "state": "[1]"}),
                "state must be an object",
            ),
        ] {
            let fault = fitted(tool, given.clone()).unwrap_err();
            let fault: Value = serde_json::from_str(&fault).unwrap();
            assert_eq!(fault["code"], "invalid_input");
            assert!(fault["field"].is_string(), "{fault}");
            assert!(fault["error"].as_str().unwrap().contains(said), "{fault}");
        }
        let fitted = fitted("ready", json!({"verbosity_level": 3})).unwrap();
        assert_eq!(fitted.ignored, ["verbosity_level"]);
    }
}
