//! Fresh directories, all beneath one that is removed at the very end: whoever removes a large directory makes the next
//! files dearer for half a minute, for ext4 steps over inodes that were freed a moment ago.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use tempfile::TempDir;

/// Where all of them lie; removed when dropped.
#[derive(Debug)]
pub struct Directories {
    above: TempDir,
    made: AtomicUsize,
}

impl Directories {
    /// Fresh ones somewhere within `place`, which is made if need be.
    pub fn within(place: &Path) -> Directories {
        std::fs::create_dir_all(place).unwrap();
        Directories {
            above: tempfile::tempdir_in(place).unwrap(),
            made: AtomicUsize::new(0),
        }
    }

    /// One more.
    pub fn fresh(&self) -> PathBuf {
        let number = self.made.fetch_add(1, Ordering::Relaxed);
        let path = self.above.path().join(number.to_string());
        std::fs::create_dir(&path).unwrap();
        path
    }
}
