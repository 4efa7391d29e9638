//! Locks of files in memory: a table within the process.

use super::file::MemoryFile;
use super::guard;
use crate::storage::{File, HeldLock, LockError, overwrite};
use std::collections::HashSet;
use std::io;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

#[derive(Debug, Default)]
pub(super) struct Locks {
    held: Mutex<HashSet<u64>>,
    freed: Condvar,
}

impl Locks {
    pub(super) fn lock(
        self: &Arc<Locks>,
        inode: u64,
        file: Option<MemoryFile>,
        deadline: Duration,
    ) -> Result<MemoryLock, LockError> {
        let held = guard(&self.held);
        let waited = self
            .freed
            .wait_timeout_while(held, deadline, |held| held.contains(&inode));
        let (mut held, _) = waited.unwrap_or_else(PoisonError::into_inner);
        match held.insert(inode) {
            true => Ok(MemoryLock {
                locks: self.clone(),
                inode,
                file,
            }),
            false => Err(LockError::Busy(format!(
                "pid {} (this process)",
                std::process::id()
            ))),
        }
    }
}

/// A held lock.
pub(super) struct MemoryLock {
    locks: Arc<Locks>,
    inode: u64,
    /// The locked file; `None` if a directory is locked.
    file: Option<MemoryFile>,
}

impl MemoryLock {
    fn file(&self) -> io::Result<&MemoryFile> {
        let file = self.file.as_ref();
        file.ok_or_else(|| io::ErrorKind::Unsupported.into())
    }
}

impl std::fmt::Debug for MemoryLock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MemoryLock")
            .field("inode", &self.inode)
            .finish()
    }
}

impl HeldLock for MemoryLock {
    fn identity(&self) -> (u64, u64) {
        (0, self.inode)
    }
    fn read(&self, buf: &mut [u8]) -> io::Result<usize> {
        self.file()?.read_at(buf, 0)
    }
    fn write(&self, bytes: &[u8], durable: bool) -> io::Result<()> {
        overwrite(self.file()?, bytes, durable)
    }
}

impl Drop for MemoryLock {
    fn drop(&mut self) {
        guard(&self.locks.held).remove(&self.inode);
        self.locks.freed.notify_all();
    }
}
