//! Notes about the age of an answer, for teams on several hosts.

use teamlog_team::engine::{Clock, SystemClock, Timestamp};
use teamlog_team::lifecycle::freshness::AsOf;

/// Age in microseconds from which people get a note.
const OLD: i64 = 5_000_000;

/// Returns a note if the answer may be old.
pub fn note(as_of: &AsOf) -> Option<String> {
    let read_at = as_of.checked_at.as_ref();
    let read_at = read_at.and_then(|at| Timestamp::parse(at).ok());
    let age = read_at.map(|at| SystemClock.now().micros() - at.micros());
    if age.is_some_and(|age| age < OLD) {
        return None;
    }
    let since = as_of.checked_at.as_deref().unwrap_or("it began");
    Some(format!(
        "events of other hosts since {since} may be missing; --fresh reads them"
    ))
}
