//! Arguments that accept one of a few words. Any other word is a usage error that names the nearest one.

use teamlog_team::projections::message::{MessageType, Priority};
use teamlog_team::projections::{Status, spelling};

pub fn status(text: &str) -> Result<String, String> {
    one_of(
        text,
        Status::from_name(text).is_some(),
        &Status::ALL.map(Status::name),
    )
}

pub fn priority(text: &str) -> Result<String, String> {
    let known = Priority::from_name(text).is_some();
    one_of(text, known, &Priority::ALL.map(Priority::name))
}

pub fn message_type(text: &str) -> Result<String, String> {
    let known = MessageType::from_name(text).is_some();
    one_of(text, known, &MessageType::ALL.map(MessageType::name))
}

fn one_of(text: &str, known: bool, names: &[&'static str]) -> Result<String, String> {
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
