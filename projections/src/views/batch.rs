//! Changes of view files that were decided under the lock of the state, and are written without it.

use crate::files::{Changes, Home, failed};
use crate::prelude::*;
use std::io;
use std::sync::{Condvar, Mutex, PoisonError};

/// What became of the last batch.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum BatchState {
    /// It is written, or there was none.
    #[default]
    Written,
    /// Somebody has it.
    Pending,
    /// Not all of it could be written.
    Failed,
}

impl BatchState {
    /// Fails after a batch that was not written whole: the cursor must stay, so that all is mended from it.
    pub fn check(self, home: &Home) -> Result<()> {
        match self {
            BatchState::Failed => {
                let why = io::Error::other("view files before were not written");
                Err(failed("write", &home.dir)(why))
            }
            BatchState::Written | BatchState::Pending => Ok(()),
        }
    }
}

/// Makes writers of view files wait for the batch that was collected before, whose content is older.
#[derive(Default)]
pub(crate) struct BatchGate {
    state: Mutex<BatchState>,
    changed: Condvar,
}

impl BatchGate {
    /// Waits until no batch is pending, and says what became of the last one.
    pub fn wait(&self) -> BatchState {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let pending = |state: &mut BatchState| *state == BatchState::Pending;
        *self
            .changed
            .wait_while(state, pending)
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes the result of a batch, or that a failed one was mended.
    pub fn set(&self, state: BatchState) {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = state;
        self.changed.notify_all();
    }
}

/// View files as they are at an event, collected from the state and not yet written. One that is dropped counts as failed.
pub struct ViewBatch {
    home: Home,
    /// Device and inode of the team's directory.
    dir: Option<(u64, u64)>,
    changes: Changes,
    /// The last event that they contain.
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

    /// Writes the files, and gives the last event that they contain.
    ///
    /// # Errors
    /// I/O, the team's directory was moved or removed, or a file that only grows is not what it was: all of it is to be mended from the log then.
    pub fn write(mut self) -> Result<u64> {
        self.home.check_identity(self.dir)?;
        for (path, text) in &self.changes.replaced {
            self.home.replace(path, text)?;
        }
        for (path, (lines, whole)) in &self.changes.grown {
            if !self.home.grow(path, lines, *whole)? {
                let why = io::Error::other("it is not as long as the log says");
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
