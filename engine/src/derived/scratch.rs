//! Directories of runs for one private fold: `past-N` beside the store. The process that holds `past-N/lock` owns the
//! directory; the next process that takes the same number removes the leftovers of a killed process.

use crate::prelude::*;
use crate::storage::HeldLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// Largest number of folds that have a directory at the same time, in all processes. Further folds stay in memory.
const SCRATCH_MAX: u32 = 64;
const LOCK_FILE: &str = "lock";

/// A directory of this process. Dropping the value removes the directory.
pub(super) struct Scratch {
    storage: Arc<dyn Storage>,
    dir: PathBuf,
    removed: AtomicBool,
}

impl Scratch {
    /// Takes the first free number in `above`; `None` if a directory cannot be created there, or all numbers are taken.
    pub fn claim(storage: &Arc<dyn Storage>, above: &Path) -> Option<(Scratch, Box<dyn HeldLock>)> {
        (0..SCRATCH_MAX).find_map(|number| {
            let dir = above.join(format!("past-{number}"));
            storage.create_dir(&dir).ok()?;
            let path = dir.join(LOCK_FILE);
            let held = storage.lock(&path, Duration::ZERO).ok()?;
            // The previous owner may remove the lock file between the opening and the locking of the file by this process.
            let there = storage.look(&path).ok()??;
            if there.identity != held.identity() {
                return None;
            }
            for name in storage.list(&dir).ok()? {
                if name != LOCK_FILE {
                    storage.remove_file(&dir.join(name)).ok()?;
                }
            }
            let scratch = Scratch {
                storage: Arc::clone(storage),
                dir,
                removed: AtomicBool::new(false),
            };
            Some((scratch, held))
        })
    }

    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Removes the directory, once.
    pub fn remove(&self) {
        if !self.removed.swap(true, Ordering::Relaxed) {
            // If the removal fails, the next owner of the number removes the directory.
            let _ = self.storage.remove_dir_all(&self.dir);
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        self.remove();
    }
}
