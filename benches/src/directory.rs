//! Fresh directories, all below one directory that is removed at the very end. Removing a large directory earlier would slow down
//! file creation for half a minute, because ext4 skips recently freed inodes.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use tempfile::TempDir;

/// Parent of the directories; removed when dropped.
#[derive(Debug)]
pub struct Directories {
    above: TempDir,
    made: AtomicUsize,
}

impl Directories {
    /// Creates a directory in `place`, as the parent of the fresh directories. Creates `place` if it is missing.
    pub fn within(place: &Path) -> Directories {
        std::fs::create_dir_all(place).unwrap();
        Directories {
            above: tempfile::tempdir_in(place).unwrap(),
            made: AtomicUsize::new(0),
        }
    }

    /// Creates another fresh directory.
    pub fn fresh(&self) -> PathBuf {
        let number = self.made.fetch_add(1, Ordering::Relaxed);
        let path = self.above.path().join(number.to_string());
        std::fs::create_dir(&path).unwrap();
        path
    }
}
