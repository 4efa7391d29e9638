//! Locks of files in memory: a table within the process.

use super::guard;
use crate::storage::{HeldLock, LockError};
use std::collections::HashSet;
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
            }),
            false => Err(LockError::Busy(format!(
                "pid {} (this process)",
                std::process::id()
            ))),
        }
    }
}

/// A held lock.
#[derive(Debug)]
pub(super) struct MemoryLock {
    locks: Arc<Locks>,
    inode: u64,
}

impl HeldLock for MemoryLock {
    fn identity(&self) -> (u64, u64) {
        (0, self.inode)
    }
}

impl Drop for MemoryLock {
    fn drop(&mut self) {
        guard(&self.locks.held).remove(&self.inode);
        self.locks.freed.notify_all();
    }
}
