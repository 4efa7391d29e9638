//! Where measurements put their files: in the target directory, so that both sides write to one file system.

use std::path::Path;
use std::sync::Arc;
use teamlog_engine::storage::{Files, Storage};
use teamlog_engine::{Format, Log, LogOptions, NewLog};
use tempfile::TempDir;

/// Both formats, in the table's order.
pub const FORMATS: [Format; 2] = [Format::Jsonl, Format::Binary];

/// A fresh directory, removed when dropped.
pub fn directory() -> TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

/// A new log in `root`.
pub fn log(root: &Path, format: Format) -> Log {
    let storage: Arc<dyn Storage> = Arc::new(Files::create(root).unwrap());
    let new = NewLog {
        team: "bench".into(),
        format,
        origin: "bench".into(),
    };
    let dir = Path::new("teams/bench");
    Log::create(storage, dir, new, LogOptions::default()).unwrap()
}
