//! Results of the last checks of a whole team, and the start of such checks: `verify-last`, `verify-start`, `doctor-last`,
//! `doctor-start`.
//!
//! The last result of each check is in a small file next to the derived store. `teamlog verify`, `verify-start`, `doctor-start` and the
//! daemon write this file. `teamlog doctor check` does not write the file, because that command promises to write nothing. The file is not
//! essential: a check succeeds even if the file cannot be written, and deleting it only loses the last result. The file contains the id of
//! its log, so that a result of a replaced log does not count for the new log.

pub mod doctor;
pub mod verify;

pub use crate::handle::{Background, Check, CheckProgress, RunningCheck};
use crate::operation::prelude::*;
use crate::projections::live::DERIVED_DIR;
use serde::de::DeserializeOwned;

/// Maximum size of a result file in bytes. A longer file is not read.
const BYTES_MAX: u64 = 1 << 20;

/// State of a check.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CheckState {
    /// The check was never made, or its result is unknown
    #[default]
    Never,
    /// The check is running or waiting for its turn
    Running,
    /// The check has ended
    Done,
}

impl Team {
    /// Starts a check in the background. Returns false if this process cannot run background checks.
    fn begin_check(&self, check: Check) -> bool {
        let background = self.options.background.as_ref();
        let now = self.options.clock.now();
        background
            .map(|background| background.start(self.name(), check, now))
            .is_some()
    }

    fn running_check(&self, check: Check) -> Option<RunningCheck> {
        let background = self.options.background.as_ref()?;
        background.running(self.name(), check)
    }
}

/// Content of a result file.
#[derive(Serialize, Deserialize)]
struct StoredResult<T> {
    /// Id of the log.
    log: String,
    /// The result.
    result: T,
}

fn path(log: &Log, name: &str) -> PathBuf {
    log.dir().join(DERIVED_DIR).join(name)
}

/// Reads the last result; `None` if there is no result for this log.
fn read<T: DeserializeOwned>(log: &Log, name: &str) -> Option<T> {
    let bytes = log.storage().read(&path(log, name), BYTES_MAX).ok()?;
    let stored: StoredResult<T> = serde_json::from_slice(&bytes).ok()?;
    (stored.log == log.identity().log.to_string()).then_some(stored.result)
}

/// Replaces the last result; ignores write errors.
fn write<T: Serialize>(log: &Log, name: &str, result: &T) {
    let stored = StoredResult {
        log: log.identity().log.to_string(),
        result,
    };
    let Ok(json) = serde_json::to_vec(&stored) else {
        return;
    };
    let storage = log.storage();
    let _ = storage
        .create_dir(&log.dir().join(DERIVED_DIR))
        .and_then(|()| storage.replace(&path(log, name), &json, false));
}
