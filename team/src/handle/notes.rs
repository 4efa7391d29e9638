//! Notes that a command shows beside its answer or refusal: the log was recovered, a part of it cannot be read, view
//! files are out of date.

use std::sync::{Arc, Mutex, PoisonError};

/// Collects notes. Cheap to clone; clones share one list.
#[derive(Debug, Clone, Default)]
pub struct Notes(Arc<Mutex<Vec<String>>>);

impl Notes {
    /// Adds a note unless it is there already.
    pub fn say(&self, text: impl Into<String>) {
        let text = text.into();
        let mut said = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !said.contains(&text) {
            said.push(text);
        }
    }

    /// Takes the notes since the last call, in order, each a line for people.
    pub fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
