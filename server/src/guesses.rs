//! Counter of recent wrong tokens.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

#[derive(Debug)]
pub(crate) struct Guesses(Mutex<(Instant, u32)>);

impl Guesses {
    pub fn new() -> Guesses {
        Guesses(Mutex::new((Instant::now(), 0)))
    }
    /// Counts a wrong token. Returns true if there were more than `free` wrong tokens within one second.
    pub fn one_more(&self, free: u32) -> bool {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (since, count) = &mut *state;
        if since.elapsed() >= Duration::from_secs(1) {
            *since = Instant::now();
            *count = 0;
        }
        *count = count.saturating_add(1);
        *count > free
    }
}
