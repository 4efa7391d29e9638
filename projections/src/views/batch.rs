//! Changes of view files that were decided under the lock of the state, and are written without it.

use super::Home;
use crate::error::Result;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use teamlog_engine::Error;

/// What is to become of files.
#[derive(Default)]
pub(crate) struct Changes {
    replaced: BTreeMap<PathBuf, Vec<u8>>,
    /// Lines for the end of a file, and how long it is with them.
    grown: BTreeMap<PathBuf, (Vec<u8>, u64)>,
}

impl Changes {
    pub fn replace(&mut self, path: &Path, text: &[u8]) {
        self.replaced.insert(path.to_owned(), text.to_vec());
    }

    pub fn grow(&mut self, path: &Path, lines: &[u8], whole: u64) {
        let (known, bytes) = self.grown.entry(path.to_owned()).or_default();
        known.extend_from_slice(lines);
        *bytes = whole;
    }
}

/// View files as they are at an event, collected from the state and not yet written.
pub struct ViewBatch {
    home: Home,
    changes: Changes,
    /// The last event that they contain.
    seq: u64,
    writing: Arc<Mutex<()>>,
}

impl ViewBatch {
    pub(super) fn new(
        home: Home,
        changes: Changes,
        seq: u64,
        writing: Arc<Mutex<()>>,
    ) -> ViewBatch {
        ViewBatch {
            home,
            changes,
            seq,
            writing,
        }
    }

    /// The last event that the files contain.
    pub(crate) fn seq(&self) -> u64 {
        self.seq
    }

    /// Writes the files.
    ///
    /// # Errors
    /// I/O, or a file that only grows is not what it was: all of it is to be mended from the log then.
    pub fn write(&self) -> Result<()> {
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        for (path, text) in &self.changes.replaced {
            self.home.replace(path, text)?;
        }
        for (path, (lines, whole)) in &self.changes.grown {
            if !self.home.grow(path, lines, *whole)? {
                let why = std::io::Error::other("it is not as long as the log says");
                return Err(Error::io("append to", path)(why).into());
            }
        }
        Ok(())
    }
}

impl std::fmt::Debug for ViewBatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ViewBatch").field("seq", &self.seq).finish()
    }
}
