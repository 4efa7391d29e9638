//! Waits for conditions, and never for a guessed time.

use std::time::{Duration, Instant};

/// A timeout that is longer than any operation that does not hang.
pub const LONGEST_WAIT: Duration = Duration::from_secs(60);
/// Time between two checks of a condition.
const LOOK: Duration = Duration::from_millis(5);

/// Checks `holds` until it returns true. `what` names the condition in the panic after the timeout.
#[track_caller]
pub fn until(what: &str, mut holds: impl FnMut() -> bool) {
    until_some(what, || match holds() {
        true => Ok(()),
        false => Err(""),
    });
}

/// Calls a function until it returns a value, and returns the value. After the timeout, panics with `what` and the last error.
#[track_caller]
pub fn until_some<T, E: std::fmt::Display>(
    what: &str,
    mut look: impl FnMut() -> Result<T, E>,
) -> T {
    let begun = Instant::now();
    loop {
        match look() {
            Ok(found) => return found,
            Err(why) => assert!(begun.elapsed() < LONGEST_WAIT, "never: {what} {why}"),
        }
        std::thread::sleep(LOOK);
    }
}
