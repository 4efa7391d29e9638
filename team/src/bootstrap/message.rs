//! Reports in the form of a member's message. Such a message is named after a signal, and may have more fields than the
//! event.
//!
//! In other reports, an unknown field is refused. In a message, unknown fields are kept, unless a field looks like a mistyped
//! field of the event.

use super::events::{NameMeaning, SIGNALS, named};
use super::*;

/// Field of a message with the name of its signal.
pub const SIGNAL: &str = "signal";
/// A signal whose fields may be inside an object, and the name of that object.
const REVIEW: (&str, &str) = ("OBSTRUCTION_FEEDBACK", "obstruction_review");

/// A report: the name of its event or signal, and the fields of its data.
type ReportParts<'a> = (&'a str, Map<String, Value>);

/// Removes the signal's name from the data, and checks that this name agrees with the name of the report.
pub fn opened<'a>(name: &'a str, data: &'a Map<String, Value>) -> Result<ReportParts<'a>, Refusal> {
    let mut rest = data.clone();
    rest.remove(SIGNAL);
    let name = match data.get(SIGNAL) {
        None | Some(Value::Null) => name,
        Some(Value::String(signal)) => agreed(name, signal.trim())?,
        Some(other) => return Err(invalid(SIGNAL, other, "must be text")),
    };
    if name == REVIEW.0
        && let Some(Value::Object(inner)) = rest.get(REVIEW.1).cloned()
    {
        rest.remove(REVIEW.1);
        for (field, value) in inner {
            let told = rest.entry(field.as_str()).or_insert_with(|| value.clone());
            if *told != value {
                let rule = format!("must be {value}, as data.{} says", REVIEW.1);
                return Err(invalid(&field, told, &rule));
            }
        }
    }
    Ok((name, rest))
}

/// Returns the name that selects the parser of the report: the signal, if the report names the signal's event; else the common name of
/// both.
fn agreed<'a>(name: &'a str, signal: &'a str) -> Result<&'a str, Refusal> {
    if name == signal {
        return Ok(name);
    }
    let of = |name: &str| match named(name) {
        Ok(NameMeaning::Event(event, _)) => Some(event),
        _ => None,
    };
    if !is_signal(name) && is_signal(signal) && of(name) == of(signal) {
        return Ok(signal);
    }
    let message = format!(
        "data.signal must agree with the event, but the event is {} and data.signal is {}",
        shown(name),
        shown(signal)
    );
    Err(Refusal::new(Code::InvalidInput, message).field("data.signal"))
}

/// Returns true if a signal has this name, so that the report is a message.
pub fn is_signal(name: &str) -> bool {
    match named(name) {
        Ok(NameMeaning::Event(Event::Signal, _)) | Err(_) => false,
        Ok(NameMeaning::Event(..)) => SIGNALS.iter().any(|row| row.0 == name),
        Ok(NameMeaning::Signal(_)) => true,
    }
}
