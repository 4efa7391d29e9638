//! A report that is a message of a member: it has the name of its signal, and may hold more than the event has fields
//! for.
//! A field that the event does not have is refused in a report of the event. In a message it is kept, unless it looks
//! like a mistyped field.

use super::events::{Named, SIGNALS, named};
use super::*;

/// The field by which a message names its own signal.
pub const SIGNAL: &str = "signal";
/// The signal whose message may be wrapped in a field, and that field.
const REVIEW: (&str, &str) = ("OBSTRUCTION_FEEDBACK", "obstruction_review");

/// The name of an event or signal, and what is said with it.
type Opened<'a> = (&'a str, Map<String, Value>);

/// Takes the name of the signal out of the data. It has to agree with the name of the report.
pub fn opened<'a>(name: &'a str, data: &'a Map<String, Value>) -> Result<Opened<'a>, Refusal> {
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

/// The name under which it is read: that of the signal, if the report names the event of that signal.
fn agreed<'a>(name: &'a str, signal: &'a str) -> Result<&'a str, Refusal> {
    if name == signal {
        return Ok(name);
    }
    let of = |name: &str| match named(name) {
        Ok(Named::Event(event, _)) => Some(event),
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

/// Whether a name is that of a signal, whose report is a message.
pub fn is_signal(name: &str) -> bool {
    match named(name) {
        Ok(Named::Event(Event::Signal, _)) | Err(_) => false,
        Ok(Named::Event(..)) => SIGNALS.iter().any(|row| row.0 == name),
        Ok(Named::Signal(_)) => true,
    }
}
