//! A data root: the teams that lie in it.

use crate::command::import_events::ImportEvents;
use crate::command::import_messages::{ImportAnswer, ImportMessages};
use crate::command::init::{Init, InitAnswer};
use crate::failure::Result;
use crate::team::Team;
use std::io::{BufRead, Seek};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use teamlog_engine::event_id::IdSource;
use teamlog_engine::limits::SEGMENT_BYTES_MAX;
use teamlog_engine::storage::Storage;
use teamlog_engine::{Clock, RandomIds, SystemClock};

/// What a root needs from outside.
#[derive(Debug, Clone)]
pub struct RootOptions {
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
    /// Random bits.
    pub ids: Arc<dyn IdSource>,
    /// How long to wait for a team's lock.
    pub lock_deadline: Duration,
    /// See [`teamlog_engine::LogOptions::segment_bytes_max`].
    pub segment_bytes_max: u64,
}

impl Default for RootOptions {
    /// The machine's clock and random bits, 10 s, 64 MiB.
    fn default() -> RootOptions {
        RootOptions {
            clock: Arc::new(SystemClock),
            ids: Arc::new(RandomIds),
            lock_deadline: Duration::from_secs(10),
            segment_bytes_max: SEGMENT_BYTES_MAX,
        }
    }
}

/// A data root. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Root {
    storage: Arc<dyn Storage>,
    options: RootOptions,
}

impl Root {
    /// Opens the data root at `path`. Nothing is created before the first `init` or import.
    ///
    /// # Errors
    /// I/O.
    pub fn open(path: &Path, options: RootOptions) -> Result<Root> {
        let _ = (path, options);
        todo!()
    }
    /// A root on any storage.
    pub fn on(storage: Arc<dyn Storage>, options: RootOptions) -> Root {
        Root { storage, options }
    }
    /// The storage.
    pub fn storage(&self) -> &Arc<dyn Storage> {
        &self.storage
    }
    /// What it was opened with.
    pub fn options(&self) -> &RootOptions {
        &self.options
    }
    /// The names of the teams, sorted. Skips what is no team.
    ///
    /// # Errors
    /// I/O.
    pub fn teams(&self) -> Result<Vec<String>> {
        todo!()
    }
    /// Opens a team.
    ///
    /// # Errors
    /// `invalid_input`, `team_not_found`; `UnsupportedFormat`, `Corrupt`, I/O.
    pub fn team(&self, name: &str) -> Result<Team> {
        let _ = name;
        todo!()
    }
    /// Creates a team, or adds members to one; repeating it is harmless.
    ///
    /// # Errors
    /// `invalid_input`, `format_mismatch`, `unsafe_file_system`; I/O.
    pub fn init(&self, init: Init) -> Result<InitAnswer> {
        let _ = init;
        todo!()
    }
    /// Imports envelopes.
    ///
    /// # Errors
    /// `invalid_input`, `not_newer`, `format_mismatch`, `unsafe_file_system`; I/O.
    pub fn import_messages<R: BufRead + Seek>(
        &self,
        import: ImportMessages,
        source: &mut R,
    ) -> Result<ImportAnswer> {
        let _ = (import, source);
        todo!()
    }
    /// Imports what [`Team::export`] wrote, seqs, ids and times kept.
    ///
    /// # Errors
    /// `invalid_input` (with the line), `team_exists`, `unsafe_file_system`; I/O.
    pub fn import_events<R: BufRead>(
        &self,
        import: ImportEvents,
        source: &mut R,
    ) -> Result<ImportAnswer> {
        let _ = (import, source);
        todo!()
    }
}
