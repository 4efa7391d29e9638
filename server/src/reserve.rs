//! Checks at startup that the system allows the threads and open files that the daemon needs.

use crate::failure::{Result, StartError};
use std::sync::{Mutex, PoisonError};
use std::thread::Builder;

/// Number of threads needed soon after the start: main thread, I/O threads, maintenance, writers of a few teams, and some
/// threads that answer calls.
const THREADS: usize = 16;
/// Number of open files needed for one team, a few connections and their calls.
const FILES: u64 = 64;
/// Stack size in bytes of a thread that only waits.
const STACK_BYTES: usize = 64 * 1024;

/// Checks that the system can start the threads that the daemon needs.
pub(crate) fn check_threads() -> Result<()> {
    match startable(THREADS) {
        THREADS => Ok(()),
        possible => Err(StartError::Limit {
            needed: THREADS as u64,
            what: "threads",
            possible: possible as u64,
            limit: "ulimit -u, or TasksMax= of its unit; all processes of the user count",
        }),
    }
}

/// Checks that the process may open the number of files that the daemon needs.
pub(crate) fn check_files(possible: u64) -> Result<()> {
    match possible >= FILES {
        true => Ok(()),
        false => Err(StartError::Limit {
            needed: FILES,
            what: "open files",
            possible,
            limit: "ulimit -n, or LimitNOFILE= of its unit",
        }),
    }
}

/// Returns the number of threads that the system can start at one time, up to `most`.
fn startable(most: usize) -> usize {
    let hold = Mutex::new(());
    std::thread::scope(|scope| {
        // Each thread waits for this guard, so that all threads exist at one time.
        let _held = hold.lock().unwrap_or_else(PoisonError::into_inner);
        let start = || {
            let thread = Builder::new().stack_size(STACK_BYTES);
            let wait = || drop(hold.lock());
            thread.spawn_scoped(scope, wait).is_ok()
        };
        (0..most).take_while(|_| start()).count()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_few_files_are_refused_with_the_name_of_the_limit() {
        assert!(check_files(FILES).is_ok());
        let refused = check_files(16).unwrap_err().to_string();
        assert!(
            refused.contains("needs 64 open files, but the limit is 16 (ulimit -n"),
            "{refused}"
        );
    }

    #[test]
    fn threads_are_counted() {
        assert_eq!(startable(3), 3);
        assert_eq!(startable(0), 0);
    }
}
