//! Rebuilding everything from the log.

use crate::error::Result;
use crate::live::{Counts, Live};
use crate::views::Mended;
use std::time::Duration;
use teamlog_engine::{Log, Reader};

/// How far a rebuild is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Events folded.
    pub events: u64,
    /// Events there are.
    pub total: u64,
}

/// What a rebuild found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rehydrated {
    /// How many of what.
    pub counts: Counts,
    /// The digest of the state, lower-case hex.
    pub digest: String,
    /// What became of the views.
    pub views: Mended,
    /// How long it took, measured by the clock of the process.
    pub elapsed: Duration,
}

impl Rehydrated {
    /// Events per second.
    pub fn rate(&self) -> f64 {
        self.counts.events as f64 / self.elapsed.as_secs_f64().max(1e-9)
    }
}

/// Folds the whole log into a new derived store with `workers` decoders, puts it in the place of the old one, and mends
/// all views. The caller holds the log's lock.
///
/// # Errors
/// `Corrupt`, I/O, `Undecodable`.
pub fn rehydrate(
    log: &Log,
    reader: &Reader,
    workers: usize,
    progress: &mut (dyn FnMut(Progress) + Send),
) -> Result<(Rehydrated, Live)> {
    let _ = (log, reader, workers, progress);
    todo!()
}
