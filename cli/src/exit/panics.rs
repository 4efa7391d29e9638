//! Converts panics into errors. Every panic is a bug.

use super::CommandError;
use crate::env::ProcessEnv;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind};

/// The error of this thread's last panic.
type Panicked = RefCell<Option<CommandError>>;

thread_local! {
    static PANICKED: Panicked = const { RefCell::new(None) };
}

/// Installs a panic hook that prints the panic as one line without a backtrace and exits with code 70.
pub fn install_panic_hook(json: bool) {
    std::panic::set_hook(Box::new(move |panic| {
        let exit = bug(panic).report(json, &ProcessEnv::of_process());
        std::process::exit(u8::from(exit).into());
    }));
}

/// Installs a panic hook for a process that continues after a panic. A panic then ends only the current call.
pub fn install_resident_panic_hook() {
    std::panic::set_hook(Box::new(|panic| {
        PANICKED.with_borrow_mut(|panicked| *panicked = Some(bug(panic)));
    }));
}

fn bug(panic: &PanicHookInfo<'_>) -> CommandError {
    let what = panic.payload_as_str().unwrap_or("no message");
    let place = panic
        .location()
        .map(ToString::to_string)
        .unwrap_or_default();
    let what = what.lines().next().unwrap_or_default();
    CommandError::bug(format!("teamlog has a bug: {what} ({place})"))
}

/// Runs `act` and converts its panic into an error.
pub fn caught<A>(act: impl FnOnce() -> A) -> Result<A, CommandError> {
    // State is safe after a panic: a poisoned lock or the writer's own mark shows an interrupted change.
    catch_unwind(AssertUnwindSafe(act)).map_err(|_| {
        let known = PANICKED.with_borrow_mut(Option::take);
        known.unwrap_or_else(|| CommandError::bug("teamlog has a bug"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exit::Exit;

    #[test]
    fn a_panic_that_is_caught_is_an_error_and_says_where() {
        let before = std::panic::take_hook();
        install_resident_panic_hook();
        let caught = caught(|| {
            if true {
                panic!("on purpose\nand more");
            }
        });
        std::panic::set_hook(before);
        let bug = caught.unwrap_err();
        assert_eq!((bug.exit(), bug.code()), (Exit::Bug, "bug"));
        let place = bug
            .message()
            .strip_prefix("teamlog has a bug: on purpose (");
        assert!(
            place.is_some_and(|place| place.contains("panics.rs:")),
            "{bug:?}"
        );
    }
}
