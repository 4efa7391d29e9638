//! The writer lock of a log: one file that is never deleted, locked with `flock`.

use crate::error::{Error, Result};
use crate::storage::{Held, LockError, Storage};
use std::path::Path;
use std::time::{Duration, Instant};

/// The file's name in the team's directory.
pub const LOCK_FILE: &str = "lock";

/// Takes the lock of the log in `dir`, waiting at most `deadline`.
///
/// The lock counts only if the locked file is still the one at its path: somebody may have replaced the directory
/// while we waited.
///
/// # Errors
/// `Locked` with the holder, or I/O.
pub fn acquire(storage: &dyn Storage, dir: &Path, deadline: Duration) -> Result<Box<dyn Held>> {
    let path = dir.join(LOCK_FILE);
    let started = Instant::now();
    loop {
        let left = deadline.saturating_sub(started.elapsed());
        let held = storage.lock(&path, left).map_err(|error| match error {
            LockError::Busy(holder) => {
                let waited_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
                Error::Locked {
                    path: path.clone(),
                    holder,
                    waited_ms,
                }
            }
            LockError::Io(source) => Error::io("lock", &path)(source),
        })?;
        let there = storage.stat(&path).map_err(Error::io("stat", &path))?;
        if there.is_some_and(|stat| stat.identity == held.identity()) {
            return Ok(held);
        }
    }
}
