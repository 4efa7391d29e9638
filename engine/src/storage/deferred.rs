//! A storage that delays every sync, for files that are built apart from the live data and shown only when complete.
//!
//! An imported team has a segment for each day of its history. Syncing each segment, as a live log does, would cost more than the
//! import. No reader sees the segments before the final rename, so one sync per file right before the rename is enough.

use super::{Bytes, File, HeldLock, LockError, OpenMode, Stat, Storage, Watcher};
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Wraps another storage. Clones share the pending syncs.
#[derive(Debug, Clone)]
pub struct Deferred {
    inner: Arc<dyn Storage>,
    pending: Arc<Mutex<PendingSyncs>>,
}

#[derive(Debug, Default)]
struct PendingSyncs {
    files: BTreeSet<PathBuf>,
    dirs: BTreeSet<PathBuf>,
}

impl Deferred {
    /// Wraps `inner`.
    pub fn new(inner: Arc<dyn Storage>) -> Deferred {
        Deferred {
            inner,
            pending: Arc::default(),
        }
    }

    /// Runs all delayed syncs: first of the files, then of the directories that name the files.
    ///
    /// # Errors
    /// Errors of the system. Then no write through this storage may be relied on.
    pub fn sync_pending(&self) -> io::Result<()> {
        let PendingSyncs { files, dirs } = std::mem::take(&mut *self.pending());
        for file in files {
            self.inner.open(&file, OpenMode::Write)?.sync_all()?;
        }
        for dir in dirs.iter().rev() {
            self.inner.sync_dir(dir)?;
        }
        Ok(())
    }

    fn pending(&self) -> MutexGuard<'_, PendingSyncs> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns `path` after `from` was renamed to `to`.
fn renamed(path: &Path, from: &Path, to: &Path) -> PathBuf {
    match path.strip_prefix(from) {
        Ok(below) if below.as_os_str().is_empty() => to.to_path_buf(),
        Ok(below) => to.join(below),
        Err(_) => path.to_path_buf(),
    }
}

impl PendingSyncs {
    fn rename(&mut self, from: &Path, to: &Path) {
        // A replaced file needs no sync any more, but the file that replaces it may need one.
        self.files.remove(to);
        for paths in [&mut self.files, &mut self.dirs] {
            *paths = paths.iter().map(|path| renamed(path, from, to)).collect();
        }
    }

    fn remove(&mut self, gone: &Path) {
        for paths in [&mut self.files, &mut self.dirs] {
            paths.retain(|path| !path.starts_with(gone));
        }
    }
}

/// Implements the methods that only call the wrapped storage.
macro_rules! pass_on {
    ($($name:ident($($argument:ident: $type:ty),*) -> $answer:ty;)*) => {
        $(fn $name(&self, $($argument: $type),*) -> $answer {
            self.inner.$name($($argument),*)
        })*
    };
}

impl Storage for Deferred {
    pass_on! {
        stat(path: &Path) -> io::Result<Option<Stat>>;
        list(dir: &Path) -> io::Result<Vec<String>>;
        create_dir(path: &Path) -> io::Result<()>;
        lock(path: &Path, deadline: Duration) -> Result<Box<dyn HeldLock>, LockError>;
        lock_dir(dir: &Path, deadline: Duration) -> Result<Box<dyn HeldLock>, LockError>;
        sealed(path: &Path) -> io::Result<Bytes>;
        watch(paths: &[&Path]) -> io::Result<Box<dyn Watcher>>;
    }
    fn open(&self, path: &Path, how: OpenMode) -> io::Result<Box<dyn File>> {
        let inner = self.inner.open(path, how)?;
        Ok(Box::new(DeferredFile {
            inner,
            path: path.to_path_buf(),
            pending: self.pending.clone(),
        }))
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.inner.rename(from, to)?;
        self.pending().rename(from, to);
        Ok(())
    }
    fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.inner.remove_file(path)?;
        self.pending().remove(path);
        Ok(())
    }
    fn remove_dir_all(&self, path: &Path) -> io::Result<()> {
        self.inner.remove_dir_all(path)?;
        self.pending().remove(path);
        Ok(())
    }
    /// Makes all writes so far durable. The delayed syncs stay pending.
    fn sync_file_system(&self) -> io::Result<()> {
        self.inner.sync_file_system()
    }
    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        self.pending().dirs.insert(dir.to_path_buf());
        Ok(())
    }
}

struct DeferredFile {
    inner: Box<dyn File>,
    path: PathBuf,
    pending: Arc<Mutex<PendingSyncs>>,
}

impl DeferredFile {
    fn note(&self) -> io::Result<()> {
        let mut pending = self.pending.lock().unwrap_or_else(PoisonError::into_inner);
        pending.files.insert(self.path.clone());
        Ok(())
    }
}

impl File for DeferredFile {
    pass_on! {
        read_at(buf: &mut [u8], offset: u64) -> io::Result<usize>;
        write_at(buf: &[u8], offset: u64) -> io::Result<usize>;
        set_len(len: u64) -> io::Result<()>;
        stat() -> io::Result<Stat>;
    }
    fn sync_data(&self) -> io::Result<()> {
        self.note()
    }
    fn sync_all(&self) -> io::Result<()> {
        self.note()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::Memory;

    #[test]
    fn nothing_is_synced_before_it_is_settled_and_all_of_it_then() {
        let memory = Memory::new();
        let deferred = Deferred::new(Arc::new(memory.clone()));
        deferred.create_dir_all(Path::new("new/events")).unwrap();
        for (name, text) in [
            ("new/events/a", "first"),
            ("new/log.json", "old"),
            ("new/log.json", "identity"),
        ] {
            deferred
                .replace(Path::new(name), text.as_bytes(), true)
                .unwrap();
        }
        deferred
            .replace(Path::new("new/view"), b"view", false)
            .unwrap();
        for dir in ["new/events", "new", ""] {
            deferred.sync_dir(Path::new(dir)).unwrap();
        }
        assert!(
            memory
                .lose_unsynced()
                .stat(Path::new("new"))
                .unwrap()
                .is_none()
        );
        deferred.sync_pending().unwrap();
        let after = memory.lose_unsynced();
        assert_eq!(
            after.read(Path::new("new/events/a"), 100).unwrap(),
            b"first"
        );
        assert_eq!(
            after.read(Path::new("new/log.json"), 100).unwrap(),
            b"identity"
        );
        assert_ne!(
            after.read(Path::new("new/view"), 100).unwrap_or_default(),
            b"view"
        );
        assert_eq!(
            memory.calls().get("sync_all"),
            Some(&2),
            "one sync for each file that asked for one"
        );
    }
}
