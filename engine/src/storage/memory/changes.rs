//! Waits for changes of a tree in memory.

use super::guard;
use crate::storage::Watcher;
use std::io;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Counts the changes of a tree.
#[derive(Debug, Default)]
pub(super) struct Changes {
    count: Mutex<u64>,
    told: Condvar,
}

impl Changes {
    pub(super) fn tell(&self) {
        *guard(&self.count) += 1;
        self.told.notify_all();
    }
}

/// Waits for the next change.
#[derive(Debug)]
pub(super) struct Waiting {
    changes: Arc<Changes>,
    seen: u64,
}

impl Waiting {
    pub(super) fn new(changes: Arc<Changes>) -> Waiting {
        let seen = *guard(&changes.count);
        Waiting { changes, seen }
    }
}

impl Watcher for Waiting {
    fn wait(&mut self, timeout: Duration) -> io::Result<()> {
        let seen = self.seen;
        let count = guard(&self.changes.count);
        let waited = self
            .changes
            .told
            .wait_timeout_while(count, timeout, |count| *count == seen);
        self.seen = *waited.unwrap_or_else(PoisonError::into_inner).0;
        Ok(())
    }
}
