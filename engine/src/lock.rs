//! The writer's lock of a log: two `flock`s, one on a file that is never deleted and one on the log's directory.
//!
//! Writers wait for the file's lock. If the file were removed, the next writer would create and lock a new file. The lock of the
//! directory excludes such a writer, because the directory cannot be removed without the log in it. Invariant: the file is locked
//! first and released last.

use crate::error::REPLACE;
use crate::layout::LOCK_FILE;
use crate::prelude::*;
use crate::storage::{HeldLock, LockError};
use crate::witness::{WITNESS_BYTES, Witness};
use std::time::Instant;

/// The lock of a log. Dropping the value releases the lock.
#[derive(Debug)]
pub struct LogLock {
    path: PathBuf,
    // Fields are dropped in this order, so that the next writer that locks the file finds the directory free.
    _dir: Box<dyn HeldLock>,
    file: Box<dyn HeldLock>,
}

/// Locks the log in `dir`, waiting at most `deadline` for both parts of the lock.
///
/// Then checks that the paths still lead to the locked file and directory, because the directory may have been replaced during
/// the wait.
///
/// # Errors
/// `Locked` with the holder, or I/O.
pub fn acquire(storage: &dyn Storage, dir: &Path, deadline: Duration) -> Result<LogLock> {
    let path = dir.join(LOCK_FILE);
    let started = Instant::now();
    let failed = |error| refused(&path, started.elapsed(), error);
    loop {
        let left = || deadline.saturating_sub(started.elapsed());
        let file = storage.lock(&path, left()).map_err(failed)?;
        let held = storage.lock_dir(dir, left()).map_err(failed)?;
        let in_place = is_at(storage, &path, &*file)? && is_at(storage, dir, &*held)?;
        if in_place {
            return Ok(LogLock {
                path,
                _dir: held,
                file,
            });
        }
        if left().is_zero() {
            let holder = "a process that keeps replacing it".to_owned();
            return Err(failed(LockError::Busy(holder)));
        }
    }
}

/// Converts a failure to lock into an error.
pub(crate) fn refused(path: &Path, waited: Duration, error: LockError) -> Error {
    match error {
        LockError::Busy(holder) => Error::Locked {
            path: path.to_owned(),
            holder,
            waited_ms: u64::try_from(waited.as_millis()).unwrap_or(u64::MAX),
        },
        LockError::Io(source) => Error::io("lock", path)(source),
    }
}

impl LogLock {
    /// Returns device and inode of the locked file.
    pub(crate) fn identity(&self) -> (u64, u64) {
        self.file.identity()
    }

    /// Reads the witness; `None` if the witness is unknown.
    pub(crate) fn witness(&self) -> Option<Witness> {
        let mut bytes = [0; WITNESS_BYTES];
        let len = self.file.read(&mut bytes).ok()?;
        Witness::decode(bytes.get(..len)?)
    }

    /// Updates the witness. A failure leaves an old or unknown witness, and does not affect durable events.
    pub(crate) fn advance_witness(&self, witness: &Witness) {
        let _ = self.file.write(&witness.encode(), false);
    }

    /// Replaces the witness by a witness that may be earlier. The write is durable, so that the later witness never reappears.
    ///
    /// # Errors
    /// I/O.
    pub(crate) fn replace_witness(&self, witness: &Witness) -> Result<()> {
        let written = self.file.write(&witness.encode(), true);
        written.map_err(Error::io(REPLACE, &self.path))
    }

    /// Fails if the path of the lock file no longer names the locked file: another process may have locked a new file. `written`
    /// says, for the error, if something was written since the last check.
    ///
    /// # Errors
    /// `LockLost`, I/O.
    pub fn check(&self, storage: &dyn Storage, written: bool) -> Result<()> {
        if is_at(storage, &self.path, &*self.file)? {
            return Ok(());
        }
        Err(Error::LockLost {
            path: self.path.clone(),
            holder: holder(storage, &self.path),
            written,
        })
    }
}

/// Returns true if `held` is a lock on the file that `path` names at present.
fn is_at(storage: &dyn Storage, path: &Path, held: &dyn HeldLock) -> Result<bool> {
    let there = storage.look(path).map_err(Error::io("stat", path))?;
    Ok(there.is_some_and(|stat| stat.identity == held.identity()))
}

/// Returns the process that has locked the file at `path`, if any. For messages only.
fn holder(storage: &dyn Storage, path: &Path) -> Option<String> {
    // The check is needed because locking a missing file would create the file.
    storage.stat(path).ok().flatten()?;
    match storage.lock(path, Duration::ZERO) {
        Err(LockError::Busy(holder)) => Some(holder),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};

    /// A lock that records its release.
    #[derive(Debug)]
    struct Noted(&'static str, Arc<Mutex<Vec<&'static str>>>);

    impl HeldLock for Noted {
        fn identity(&self) -> (u64, u64) {
            (0, 0)
        }
    }

    impl Drop for Noted {
        fn drop(&mut self) {
            self.1.lock().unwrap().push(self.0);
        }
    }

    #[test]
    fn the_directory_is_free_before_the_file_is() {
        let given_back = Arc::default();
        let held = |what| Box::new(Noted(what, Arc::clone(&given_back)));
        drop(LogLock {
            path: PathBuf::from(LOCK_FILE),
            _dir: held("directory"),
            file: held("file"),
        });
        assert_eq!(*given_back.lock().unwrap(), ["directory", "file"]);
    }
}
