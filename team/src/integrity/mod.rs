//! What the last checks of a whole team found, and having them made: `verify-last`, `verify-start`, `doctor-last`,
//! `doctor-start`.
//!
//! The last result of each check is kept in a small file beside the derived store, by whoever makes one: `teamlog verify`,
//! `verify-start`, `doctor-start`, the daemon; `teamlog doctor check` promises to write nothing. It is a convenience: a
//! check that cannot write it is none the worse, and whoever deletes it loses nothing but the memory. Which log it is about
//! stands in it, so that the result of a log that was replaced is no result of the one that is there now.

pub mod doctor;
pub mod verify;

pub use crate::handle::{Background, Check, CheckProgress, RunningCheck};
use crate::operation::prelude::*;
use crate::projections::live::DERIVED_DIR;
use serde::de::DeserializeOwned;

/// A longer file is no result.
const BYTES_MAX: u64 = 1 << 20;

/// How it is with a check.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CheckState {
    /// Nobody made it, as far as is known
    #[default]
    Never,
    /// It was begun, or waits for its turn
    Running,
    /// It ended
    Done,
}

impl Team {
    /// Has a check made in the background; whether there is one.
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

/// What a file holds.
#[derive(Serialize, Deserialize)]
struct Kept<T> {
    /// The log's id.
    log: String,
    /// What was found.
    result: T,
}

fn path(log: &Log, name: &str) -> PathBuf {
    log.dir().join(DERIVED_DIR).join(name)
}

/// The last result, if there is one of this log that can be read.
fn read<T: DeserializeOwned>(log: &Log, name: &str) -> Option<T> {
    let bytes = log.storage().read(&path(log, name), BYTES_MAX).ok()?;
    let kept: Kept<T> = serde_json::from_slice(&bytes).ok()?;
    (kept.log == log.identity().log.to_string()).then_some(kept.result)
}

/// Keeps a result in the place of the one before, where that can be written.
fn write<T: Serialize>(log: &Log, name: &str, result: &T) {
    let kept = Kept {
        log: log.identity().log.to_string(),
        result,
    };
    let Ok(json) = serde_json::to_vec(&kept) else {
        return;
    };
    let storage = log.storage();
    let _ = storage
        .create_dir(&log.dir().join(DERIVED_DIR))
        .and_then(|()| storage.replace(&path(log, name), &json, false));
}
