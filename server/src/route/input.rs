//! Reading an input: every fault names the field, the value and the rule.
//!
//! A field that is `null`, or blank where a text may be left out, is not given. Numbers in a query are read as what the
//! field is to hold. Which team is meant may be said, and must be that of the token.

use super::problem::Problem;
use super::table::Compiled;
use crate::call::{Call, Method};
use serde_json::{Map, Value};
use teamlog_team::api::shape::{Field, Kind};
use teamlog_team::engine::Json;

/// The field that says which team is meant, in every input.
pub const TEAM: &str = "teamId";

/// Most characters of a value that a message repeats.
const SHOWN_MAX: usize = 80;

/// An input that was checked.
pub struct Read {
    /// Its fields.
    pub fields: Map<String, Value>,
    /// The body in its one form: keys sorted, no white space.
    pub canonical: String,
}

/// Reads what the path, the query and the body say.
pub fn read(
    compiled: &Compiled,
    call: &Call,
    parameters: Vec<(&'static str, String)>,
) -> Result<Read, Problem> {
    let (mut fields, canonical) = match call.method {
        Method::Get => (query(compiled, call)?, String::new()),
        Method::Post => {
            if let Some((name, _)) = call.query.first() {
                let message = format!(
                    "{} must stand in the body, but is in the query",
                    shown(name)
                );
                return Err(Problem::invalid(name, message));
            }
            let body = body(&call.body)?;
            let canonical = sorted(&body);
            (body, canonical)
        }
    };
    check_team(&mut fields, call)?;
    refuse_unknown(compiled, &fields)?;
    drop_absent(compiled, &mut fields);
    for (name, value) in parameters {
        fields.insert(name.to_owned(), Value::String(value));
    }
    check_missing(compiled, &fields)?;
    check_kinds(compiled, &fields)?;
    Ok(Read { fields, canonical })
}

/// The fields of a query. What is empty there is not given.
fn query(compiled: &Compiled, call: &Call) -> Result<Map<String, Value>, Problem> {
    let mut fields = Map::new();
    for (name, text) in &call.query {
        if fields.contains_key(name) {
            let message = format!("{} must be given once", shown(name));
            return Err(Problem::invalid(name, message));
        }
        let value = match compiled.shape.field(name) {
            Some(field) => of_text(field, text),
            None => Value::String(text.clone()),
        };
        fields.insert(name.clone(), value);
    }
    Ok(fields)
}

/// A text of a query as the kind of value that the field holds, where it is one.
fn of_text(field: &Field, text: &str) -> Value {
    let plain = || Value::String(text.to_owned());
    match field.kind {
        _ if text.is_empty() => Value::Null,
        Kind::Integer { .. } => text.parse::<u64>().map_or_else(|_| plain(), Value::from),
        Kind::Boolean => text.parse::<bool>().map_or_else(|_| plain(), Value::from),
        _ => plain(),
    }
}

/// The body: an object; nothing is as good as an empty one.
pub fn body(bytes: &[u8]) -> Result<Map<String, Value>, Problem> {
    let malformed = |message: String| Problem::new("invalid_json", message);
    let text = std::str::from_utf8(bytes)
        .map_err(|error| malformed(format!("the body must be UTF-8, but {error}")))?;
    if text.trim_ascii().is_empty() {
        return Ok(Map::new());
    }
    let json = Json::parse(text)
        .map_err(|error| malformed(format!("the body must be JSON, but {error}")))?;
    match serde_json::from_str(json.as_str()) {
        Ok(Value::Object(fields)) => Ok(fields),
        Ok(_) => Err(malformed("the body must be a JSON object".to_owned())),
        Err(error) => Err(malformed(format!("the body must be JSON, but {error}"))),
    }
}

/// The one form of a body. Objects of this type are sorted by key.
fn sorted(body: &Map<String, Value>) -> String {
    serde_json::to_string(body).unwrap_or_default()
}

fn check_team(fields: &mut Map<String, Value>, call: &Call) -> Result<(), Problem> {
    match fields.remove(TEAM) {
        None | Some(Value::Null) => Ok(()),
        Some(Value::String(team)) if team.trim().is_empty() || team == call.team => Ok(()),
        Some(Value::String(team)) => Err(another_team(&team, call)),
        Some(other) => {
            let message = format!("{TEAM} must be a string, but is {}", brief(&other));
            Err(Problem::invalid(TEAM, message))
        }
    }
}

/// The token is that of one team, and opens no other.
pub fn another_team(team: &str, call: &Call) -> Problem {
    let message = format!(
        "{TEAM} must be that of the token, {}, but is {}",
        call.team,
        shown(team)
    );
    Problem::new("team_not_found", message)
        .detail("field", TEAM)
        .detail("team", call.team.as_str())
}

fn refuse_unknown(compiled: &Compiled, fields: &Map<String, Value>) -> Result<(), Problem> {
    if compiled.shape.open {
        return Ok(());
    }
    let known = || {
        let names = compiled.shape.names();
        names.filter(|name| !compiled.is_parameter(name))
    };
    let Some(unknown) = fields
        .keys()
        .find(|name| known().all(|known| known != *name))
    else {
        return Ok(());
    };
    let known: Vec<&str> = [TEAM].into_iter().chain(known()).collect();
    let message = format!(
        "{} must be a field of {}, which takes {}",
        shown(unknown),
        compiled.route.facts.id,
        known.join(", ")
    );
    Err(Problem::invalid(&cut(unknown), message).detail("known", known))
}

/// Fields that count as not given go.
fn drop_absent(compiled: &Compiled, fields: &mut Map<String, Value>) {
    for field in &compiled.shape.fields {
        let absent = match fields.get(&field.name) {
            Some(Value::Null) => true,
            Some(Value::String(text)) => {
                matches!(field.kind, Kind::Text | Kind::Choice(_)) && text.trim().is_empty()
            }
            _ => false,
        };
        if absent {
            fields.remove(&field.name);
        }
    }
}

fn check_missing(compiled: &Compiled, fields: &Map<String, Value>) -> Result<(), Problem> {
    let mut required = compiled.shape.required();
    match required.find(|name| !fields.contains_key(*name)) {
        None => Ok(()),
        Some(name) => Err(Problem::invalid(name, format!("{name} is required"))),
    }
}

fn check_kinds(compiled: &Compiled, fields: &Map<String, Value>) -> Result<(), Problem> {
    for field in &compiled.shape.fields {
        let Some(value) = fields.get(&field.name) else {
            continue;
        };
        if !field.kind.holds(value) {
            let message = format!(
                "{} must be {}, but is {}",
                field.name,
                field.kind.rule(),
                brief(value)
            );
            return Err(Problem::invalid(&field.name, message));
        }
    }
    Ok(())
}

/// A value as messages repeat it.
fn brief(value: &Value) -> String {
    match value {
        Value::String(text) => shown(text),
        Value::Array(_) => "an array".to_owned(),
        Value::Object(_) => "an object".to_owned(),
        other => other.to_string(),
    }
}

fn shown(text: &str) -> String {
    format!("{:?}", cut(text))
}

fn cut(text: &str) -> String {
    text.chars().take(SHOWN_MAX).collect()
}
