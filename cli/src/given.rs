//! Reads JSON from the command line: an object as text, in a file or on standard input, and single fields.

use crate::env::ProcessEnv;
use crate::exit::CommandError;
use crate::file::open;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::io::Read;
use std::path::Path;
use teamlog_team::engine::Json;

/// Maximum size of an input in bytes. This size is far above the limit of an event, so that a large input gets the
/// error of the event limit.
const BYTES_MAX: u64 = 8 << 20;

/// Byte order mark, which some programs write at the start of a text.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// Returns the object of an option. The value is JSON text, `@FILE`, or `-` for standard input.
pub fn object(
    env: &ProcessEnv,
    flag: &str,
    text: &str,
) -> Result<Map<String, Value>, CommandError> {
    let text = match text.strip_prefix('@') {
        Some(file) => all(flag, &mut open(env, flag, Path::new(file))?)?,
        None if text == "-" => all(flag, &mut env.stdin())?,
        None => text.to_owned(),
    };
    parsed(flag, &text)
}

/// Parses JSON text that must be an object.
pub fn parsed(flag: &str, text: &str) -> Result<Map<String, Value>, CommandError> {
    let invalid = |why: String| {
        CommandError::invalid(flag, format!("{flag} must be a JSON object, but {why}"))
    };
    // Check with this parser first, because it refuses duplicate keys, numbers out of range and unlimited nesting.
    let json = Json::parse(text).map_err(|error| invalid(error.to_string()))?;
    if let Some(number) = json.rounded_integer() {
        return Err(invalid(format!(
            "{number} is an integer of more than 64 bits; give it as text"
        )));
    }
    match serde_json::from_str(json.as_str()) {
        Ok(Value::Object(fields)) => Ok(fields),
        Ok(_) => Err(invalid("is none".to_owned())),
        Err(error) => Err(invalid(error.to_string())),
    }
}

/// Returns the object of an optional option, or an empty object if the option is absent.
pub fn maybe_object(
    env: &ProcessEnv,
    flag: &str,
    text: Option<&str>,
) -> Result<Map<String, Value>, CommandError> {
    text.map_or_else(|| Ok(Map::new()), |text| object(env, flag, text))
}

pub fn stdin(env: &ProcessEnv, what: &str) -> Result<String, CommandError> {
    all(what, &mut env.stdin())
}

/// Reads the text of a file. The path `-` means standard input.
pub fn text_of_file(env: &ProcessEnv, flag: &str, path: &Path) -> Result<String, CommandError> {
    match path == Path::new("-") {
        true => all(flag, &mut env.stdin()),
        false => all(flag, &mut open(env, flag, path)?),
    }
}

fn all(flag: &str, from: &mut dyn Read) -> Result<String, CommandError> {
    let mut text = String::new();
    Read::take(from, BYTES_MAX + 1)
        .read_to_string(&mut text)
        .map_err(|error| CommandError::io("read", flag, &error))?;
    if text.len() as u64 > BYTES_MAX {
        let message = format!("{flag} must have at most {BYTES_MAX} bytes, but has more");
        return Err(CommandError::invalid(flag, message));
    }
    if text.starts_with(BYTE_ORDER_MARK) {
        text.drain(..BYTE_ORDER_MARK.len_utf8());
    }
    Ok(text)
}

/// Parses `NAME=VALUE`. A value that is not valid JSON is taken as text.
pub fn field(text: &str) -> Result<(String, Value), String> {
    let (name, value) = text
        .split_once('=')
        .filter(|(name, _)| !name.is_empty())
        .ok_or("must be NAME=VALUE")?;
    let json = Json::parse(value).ok();
    // Keep an integer that JSON would round as text, so that its digits stay exact.
    let json = json.filter(|json| json.rounded_integer().is_none());
    let json = json.and_then(|json| serde_json::from_str(json.as_str()).ok());
    Ok((name.to_owned(), json.unwrap_or_else(|| value.into())))
}

/// Adds fields from the command line to the input. A field must not contradict the input.
pub fn named(
    input: &mut Map<String, Value>,
    field: &str,
    said: Option<String>,
) -> Result<(), CommandError> {
    let Some(said) = said else {
        return Ok(());
    };
    match input.insert(field.to_owned(), said.clone().into()) {
        Some(other) if other != said && !other.is_null() => {
            let message = format!("{field} is given twice, as {said:?} and as {other}");
            Err(CommandError::invalid(field, message))
        }
        _ => Ok(()),
    }
}

/// Converts an object into the input type of an operation.
pub fn typed<T: DeserializeOwned>(input: Map<String, Value>) -> Result<T, CommandError> {
    serde_json::from_value(Value::Object(input))
        .map_err(|error| CommandError::invalid("input", format!("input: {error}")))
}

/// Returns the text in a field of an object, or `None` if the field is missing.
pub fn text(fields: &Map<String, Value>, field: &str) -> Result<Option<String>, CommandError> {
    match fields.get(field) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(other) => {
            let message = format!("{field} must be a string, but is {other}");
            Err(CommandError::invalid(field, message))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_field_is_json_or_text() {
        for (text, value) in [
            ("a=1", json!(1)),
            ("a=true", json!(true)),
            ("a=x=y", json!("x=y")),
            ("a=", json!("")),
            (r#"a={"b":[1]}"#, json!({"b": [1]})),
            (r#"a="1""#, json!("1")),
            (r#"a={"b":1,"b":2}"#, json!(r#"{"b":1,"b":2}"#)),
        ] {
            assert_eq!(field(text), Ok(("a".to_owned(), value)), "{text}");
        }
        assert!(field("a").is_err());
        assert!(field("=1").is_err());
    }

    #[test]
    fn an_object_is_nothing_else() {
        let here = ProcessEnv::of_process();
        assert_eq!(object(&here, "input", r#"{"a":1}"#).unwrap().len(), 1);
        for bad in ["", "[1]", "1", r#"{"a":1,"a":2}"#, "@/nonexistent"] {
            let error = object(&here, "input", bad).unwrap_err();
            assert_eq!(error.code(), "invalid_input", "{bad}");
        }
    }
}
