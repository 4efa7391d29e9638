//! Changes of view files that are collected under the lock of the state and written without the lock.

use crate::files::{Changes, Home, failed};
use crate::prelude::*;
use std::io;
use std::sync::{Condvar, Mutex, PoisonError};

/// State of the last batch.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum BatchState {
    /// The batch was written, or there was no batch.
    #[default]
    Written,
    /// The batch was collected and is not written yet.
    Pending,
    /// The batch was not written completely.
    Failed,
}

impl BatchState {
    /// Fails after an incomplete batch. The cursor must then stay, because the repair starts at the cursor.
    pub fn check(self, home: &Home) -> Result<()> {
        match self {
            BatchState::Failed => {
                let why = io::Error::other("earlier view files were not written");
                Err(failed("write", &home.dir)(why))
            }
            BatchState::Written | BatchState::Pending => Ok(()),
        }
    }
}

/// Makes writers of view files wait for the batch that was collected before, because its content is older.
#[derive(Default)]
pub(crate) struct BatchGate {
    state: Mutex<BatchState>,
    changed: Condvar,
}

impl BatchGate {
    /// Waits until no batch is pending, and returns the state of the last batch.
    pub fn wait(&self) -> BatchState {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let pending = |state: &mut BatchState| *state == BatchState::Pending;
        *self
            .changed
            .wait_while(state, pending)
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes the result of a batch, or the repair of a failed batch.
    pub fn set(&self, state: BatchState) {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = state;
        self.changed.notify_all();
    }
}

/// View files as of an event, which were collected from the state and are not written yet. A batch that is dropped without a
/// write counts as failed.
pub struct ViewBatch {
    home: Home,
    /// Device and inode of the team's directory.
    dir: Option<(u64, u64)>,
    changes: Changes,
    /// Last event that the files contain.
    seq: u64,
    gate: Arc<BatchGate>,
    end: BatchState,
}

impl ViewBatch {
    pub(super) fn new(
        (home, dir): (Home, Option<(u64, u64)>),
        changes: Changes,
        seq: u64,
        gate: Arc<BatchGate>,
    ) -> ViewBatch {
        gate.set(BatchState::Pending);
        ViewBatch {
            home,
            dir,
            changes,
            seq,
            gate,
            end: BatchState::Failed,
        }
    }

    /// Writes the files, and returns the last event that the files contain.
    ///
    /// # Errors
    /// If I/O fails, the team's directory was moved or removed, or an append-only file changed. All files must then be repaired
    /// from the log.
    pub fn write(mut self) -> Result<u64> {
        self.home.check_identity(self.dir)?;
        for (path, text) in &self.changes.replaced {
            self.home.replace(path, text)?;
        }
        for (path, (lines, whole)) in &self.changes.grown {
            if !self.home.grow(path, lines, *whole)? {
                let why = io::Error::other("its length differs from the one computed from the log");
                return Err(failed("append to", path)(why));
            }
        }
        self.end = BatchState::Written;
        Ok(self.seq)
    }
}

impl Drop for ViewBatch {
    fn drop(&mut self) {
        self.gate.set(self.end);
    }
}

impl std::fmt::Debug for ViewBatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ViewBatch").field("seq", &self.seq).finish()
    }
}
