//! The writer's lock of a log: two `flock`s, one on a file that is never deleted and one on the log's directory.
//!
//! The file is what everybody sees and waits for. It is only a name, though, and a name can be taken away: then the next
//! one would make and lock another file. The directory cannot go without the log that lies in it, so it keeps them apart.
//! Invariant: first the file, then the directory, and the other way round when they are given back.

use crate::error::{Error, Result};
use crate::layout::LOCK_FILE;
use crate::storage::{Held, LockError, Storage};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The lock of a log, held. Dropping it gives it back.
#[derive(Debug)]
pub struct LogLock {
    path: PathBuf,
    // In this order, so that whoever gets the file finds the directory free.
    _dir: Box<dyn Held>,
    file: Box<dyn Held>,
}

/// Takes the lock of the log in `dir`, waiting at most `deadline` for both parts of it.
///
/// It counts only if both still stand where they were found: somebody may have replaced the directory while we waited.
///
/// # Errors
/// `Locked` with the holder, or I/O.
pub fn acquire(storage: &dyn Storage, dir: &Path, deadline: Duration) -> Result<LogLock> {
    let path = dir.join(LOCK_FILE);
    let started = Instant::now();
    let busy = |holder| Error::Locked {
        path: path.clone(),
        holder,
        waited_ms: u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
    };
    let failed = |error| match error {
        LockError::Busy(holder) => busy(holder),
        LockError::Io(source) => Error::io("lock", &path)(source),
    };
    loop {
        let left = || deadline.saturating_sub(started.elapsed());
        let file = storage.lock(&path, left()).map_err(failed)?;
        let held = storage.lock_dir(dir, left()).map_err(failed)?;
        let in_place = stands(storage, &path, &*file)? && stands(storage, dir, &*held)?;
        if in_place {
            return Ok(LogLock {
                path,
                _dir: held,
                file,
            });
        }
        if left().is_zero() {
            return Err(busy("somebody who keeps replacing it".to_owned()));
        }
    }
}

impl LogLock {
    /// Fails where the lock file is no longer the one that is held: whoever comes next may believe that nobody writes.
    /// `written` says whether something was written since the last look, for the error.
    ///
    /// # Errors
    /// `LockLost`, I/O.
    pub fn check(&self, storage: &dyn Storage, written: bool) -> Result<()> {
        if stands(storage, &self.path, &*self.file)? {
            return Ok(());
        }
        Err(Error::LockLost {
            path: self.path.clone(),
            holder: holder(storage, &self.path),
            written,
        })
    }
}

/// Whether what is held is what stands at `path`.
fn stands(storage: &dyn Storage, path: &Path, held: &dyn Held) -> Result<bool> {
    let there = storage.stat(path).map_err(Error::io("stat", path))?;
    Ok(there.is_some_and(|stat| stat.identity == held.identity()))
}

/// Who has locked the file that stands at `path` by now, if anybody has. For people; it decides nothing.
fn holder(storage: &dyn Storage, path: &Path) -> Option<String> {
    // To lock a file that is missing would make it.
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

    /// Notes when it is given back.
    #[derive(Debug)]
    struct Noted(&'static str, Arc<Mutex<Vec<&'static str>>>);

    impl Held for Noted {
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
