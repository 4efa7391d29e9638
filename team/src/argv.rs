//! Parsers of option values for inputs that derive `clap::Args` (feature `cli`).

use crate::projections::message::{MessageType, Priority};
use crate::projections::{Status, spelling};

/// Parses a whole number.
pub fn whole<N: TryFrom<u64>>(text: &str) -> Result<N, String> {
    let number = text.parse().ok();
    let number = number.and_then(|number| N::try_from(number).ok());
    number.ok_or_else(|| format!("must be a whole number from 0 to {}", u64::MAX))
}

/// Checks the name of a task status. The error suggests the nearest name.
pub fn status(text: &str) -> Result<String, String> {
    one_of(
        text,
        Status::from_name(text).is_some(),
        &Status::ALL.map(Status::name),
    )
}

/// Checks the name of a priority. The error suggests the nearest name.
pub fn priority(text: &str) -> Result<String, String> {
    let known = Priority::from_name(text).is_some();
    one_of(text, known, &Priority::ALL.map(Priority::name))
}

/// Checks the name of a message type. The error suggests the nearest name.
pub fn message_type(text: &str) -> Result<String, String> {
    let known = MessageType::from_name(text).is_some();
    one_of(text, known, &MessageType::ALL.map(MessageType::name))
}

/// Checks that a name is known. The error lists the names, and suggests the nearest name.
pub(crate) fn one_of(text: &str, known: bool, names: &[&'static str]) -> Result<String, String> {
    if known {
        return Ok(text.to_owned());
    }
    let meant = spelling::meant(text, names.iter().copied());
    let meant = meant.map(|meant| format!("; did you mean {meant}?"));
    Err(format!(
        "must be one of {}{}",
        names.join(", "),
        meant.unwrap_or_default()
    ))
}
