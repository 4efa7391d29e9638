//! Waits for conditions, never for a guessed time.

use std::time::{Duration, Instant};

/// Longer than anything takes that does not hang.
pub const LONGEST_WAIT: Duration = Duration::from_secs(60);
/// The time between two looks.
const LOOK: Duration = Duration::from_millis(5);

/// Looks until the condition holds; `what` names it if it never does.
#[track_caller]
pub fn until(what: &str, mut holds: impl FnMut() -> bool) {
    until_some(what, || match holds() {
        true => Ok(()),
        false => Err(""),
    });
}

/// Looks until there is a value, and returns it; the last reason why there is none is told with `what`.
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
