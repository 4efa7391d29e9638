//! What a command has to say beside its answer, also where it is refused: that it recovered the log, that it cannot see
//! all of it, that view files fell behind.

use std::sync::{Arc, Mutex, PoisonError};

/// Collects what is said. Cheap to clone; clones collect into one place.
#[derive(Debug, Clone, Default)]
pub struct Notes(Arc<Mutex<Vec<String>>>);

impl Notes {
    /// Says something, once.
    pub fn say(&self, text: impl Into<String>) {
        let text = text.into();
        let mut said = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !said.contains(&text) {
            said.push(text);
        }
    }

    /// What was said since the last time, in order, each a line for people.
    pub fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
