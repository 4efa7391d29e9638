//! A log: create it, open it, read it, or take its lock and write.

use crate::clock::Clock;
use crate::error::Result;
use crate::event_id::IdSource;
use crate::head::Head;
use crate::identity::{Format, Identity};
use crate::reader::Reader;
use crate::storage::Storage;
use crate::writer::{State, Writer};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// What the log needs from outside.
#[derive(Clone, Debug)]
pub struct LogOptions {
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
    /// Random bits.
    pub ids: Arc<dyn IdSource>,
    /// How long to wait for the lock. Default 10 s.
    pub lock_deadline: Duration,
    /// Rotate before a segment would grow past this. Default [`crate::limits::SEGMENT_BYTES_MAX`]; tests make it small.
    pub segment_bytes_max: u64,
}

/// A log that is to be created.
#[derive(Clone, Debug)]
pub struct NewLog {
    /// The team's name.
    pub team: String,
    /// How events are stored.
    pub format: Format,
    /// How it came to be, for `log.json`.
    pub origin: String,
}

/// A log, not locked.
#[derive(Clone, Debug)]
pub struct Log {}

impl Log {
    /// Creates an empty log in `dir` (which may exist, without `log.json`), durably.
    ///
    /// # Errors
    /// `LogExists`, I/O.
    pub fn create(
        storage: Arc<dyn Storage>,
        dir: &Path,
        new: NewLog,
        options: LogOptions,
    ) -> Result<Log> {
        let _ = (storage, dir, new, options);
        todo!()
    }
    /// Opens the log in `dir`.
    ///
    /// # Errors
    /// `NoLog`, `UnsupportedFormat`, `Corrupt`, I/O.
    pub fn open(storage: Arc<dyn Storage>, dir: &Path, options: LogOptions) -> Result<Log> {
        let _ = (storage, dir, options);
        todo!()
    }
    /// What `log.json` says.
    pub fn identity(&self) -> &Identity {
        todo!()
    }
    /// The log's directory, relative to the storage's root.
    pub fn dir(&self) -> &PathBuf {
        todo!()
    }
    /// The storage it lies on.
    pub fn storage(&self) -> &Arc<dyn Storage> {
        todo!()
    }
    /// The clock and ids it was opened with.
    pub fn options(&self) -> &LogOptions {
        todo!()
    }
    /// A reader up to the durable head of this moment. Waits for nobody; where bytes lie past the head and nobody
    /// writes, it first does what a writer would do on opening.
    ///
    /// # Errors
    /// `Corrupt`, I/O.
    pub fn reader(&self) -> Result<Reader> {
        todo!()
    }
    /// Takes the lock, recovers what a crash left, and is ready to write.
    ///
    /// # Errors
    /// `Locked` at the deadline, `Corrupt`, I/O.
    pub fn lock(&self) -> Result<Exclusive> {
        todo!()
    }
}

/// A log under the exclusive lock, recovered. Load state from its [`Exclusive::reader`], then make it a [`Writer`].
pub struct Exclusive {}

impl Exclusive {
    /// The head, past recovery.
    pub fn head(&self) -> &Head {
        todo!()
    }
    /// What recovery did, for people; empty in the clean case.
    pub fn recovered(&self) -> &[String] {
        todo!()
    }
    /// Reads up to the head.
    pub fn reader(&self) -> Result<Reader> {
        todo!()
    }
    /// The lock goes on to a writer that folds what it appends into `state`.
    pub fn into_writer<S: State>(self, state: S) -> Writer<S> {
        let _ = state;
        todo!()
    }
}
