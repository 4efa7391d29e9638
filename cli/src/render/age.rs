//! How new an answer is, where other hosts record in the team too.

use serde::Serialize;
use serde_json::value::RawValue;
use teamlog_team::engine::{Clock, SystemClock, Timestamp};
use teamlog_team::lifecycle::freshness::AsOf;

/// An answer that may be older than this says so to people, in microseconds.
const OLD: i64 = 5_000_000;

/// An answer that is an object, with how new it is; any other as it is.
pub fn with_age<A: Serialize>(answer: &A, as_of: &AsOf) -> Option<Box<RawValue>> {
    let text = serde_json::to_string(answer).ok()?;
    let text = match text.strip_suffix('}').filter(|fields| fields.len() > 1) {
        Some(fields) => format!(
            "{fields},\"as_of\":{}}}",
            serde_json::to_string(as_of).ok()?
        ),
        None => text,
    };
    RawValue::from_string(text).ok()
}

/// What people are told of an answer that may be old.
pub fn note(as_of: &AsOf) -> Option<String> {
    let read_at = as_of.checked_at.as_ref();
    let read_at = read_at.and_then(|at| Timestamp::parse(at).ok());
    let age = read_at.map(|at| SystemClock.now().micros() - at.micros());
    if age.is_some_and(|age| age < OLD) {
        return None;
    }
    let since = as_of.checked_at.as_deref().unwrap_or("it began");
    Some(format!(
        "what other hosts recorded since {since} is not in this answer; --fresh takes it in"
    ))
}
