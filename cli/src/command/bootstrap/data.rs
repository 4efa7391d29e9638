//! `--data`: what is said with an event, as JSON, in a file or on standard input.

use crate::command::append::open;
use crate::exit::CommandError;
use serde_json::{Map, Value};
use std::io::{self, Read};
use std::path::Path;
use teamlog_team::engine::Json;

/// Many times what can be said with an event.
const DATA_BYTES_MAX: u64 = 4 << 20;

/// The fields of what was typed: `{…}`, `@FILE` or `-`.
///
/// # Errors
/// It cannot be read, or is no JSON object.
pub fn read(typed: Option<&str>) -> Result<Map<String, Value>, CommandError> {
    let text = match typed {
        None => return Ok(Map::new()),
        Some("-") => text_of("standard input", io::stdin().lock())?,
        Some(typed) => match typed.strip_prefix('@') {
            Some(file) => text_of(file, open("data", Path::new(file))?)?,
            None => typed.to_owned(),
        },
    };
    let invalid = |why: String| {
        CommandError::invalid("data", format!("data must be a JSON object, but {why}"))
    };
    // Stricter than the parser below: no key twice, no number out of bounds, nothing nested without end.
    let json = Json::parse(text.trim()).map_err(|error| invalid(error.to_string()))?;
    match serde_json::from_str(json.as_str()) {
        Ok(Value::Object(fields)) => Ok(fields),
        Ok(_) => Err(invalid("is none".to_owned())),
        Err(error) => Err(invalid(error.to_string())),
    }
}

fn text_of(name: &str, source: impl Read) -> Result<String, CommandError> {
    let mut text = String::new();
    let failed = |error: io::Error| match error.kind() {
        io::ErrorKind::InvalidData => {
            CommandError::invalid("data", format!("data must be UTF-8, but {name} is not"))
        }
        _ => CommandError::io("read", name, &error),
    };
    let mut source = source.take(DATA_BYTES_MAX + 1);
    source.read_to_string(&mut text).map_err(failed)?;
    match text.len() as u64 > DATA_BYTES_MAX {
        true => Err(CommandError::invalid(
            "data",
            format!("data must be at most {DATA_BYTES_MAX} bytes, but {name} holds more"),
        )),
        false => Ok(text),
    }
}
