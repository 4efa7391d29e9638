//! Notes that a command shows in addition to its answer or refusal. Examples: the log was recovered, a part of the log cannot be read, view
//! files are out of date.

use std::sync::{Arc, Mutex, PoisonError};

/// A list of notes. Cheap to clone; clones share the list.
#[derive(Debug, Clone, Default)]
pub struct Notes(Arc<Mutex<Vec<String>>>);

impl Notes {
    /// Adds a note, unless the list already contains an equal note.
    pub fn say(&self, text: impl Into<String>) {
        let text = text.into();
        let mut said = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !said.contains(&text) {
            said.push(text);
        }
    }

    /// Removes all notes from the list, and returns the notes in order. Each note is a line for people.
    pub fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
