//! The files in which the last results are kept.

use crate::prelude::*;
use crate::projections::live::DERIVED_DIR;
use serde::de::DeserializeOwned;

/// A longer file is no result.
const BYTES_MAX: u64 = 1 << 20;

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
pub(super) fn read<T: DeserializeOwned>(log: &Log, name: &str) -> Option<T> {
    let bytes = log.storage().read(&path(log, name), BYTES_MAX).ok()?;
    let kept: Kept<T> = serde_json::from_slice(&bytes).ok()?;
    (kept.log == log.identity().log.to_string()).then_some(kept.result)
}

/// Keeps a result in the place of the one before, where that can be written.
pub(super) fn write<T: Serialize>(log: &Log, name: &str, result: &T) {
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
