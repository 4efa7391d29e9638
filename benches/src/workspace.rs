//! Logs for measurements.

use std::path::Path;
use std::sync::Arc;
use teamlog_engine::storage::{Files, Storage};
use teamlog_engine::{Format, Log, LogOptions, NewLog};

/// Both formats, in the table's order.
pub const FORMATS: [Format; 2] = [Format::Jsonl, Format::Binary];

/// Creates a log in `root`.
pub fn log(root: &Path, format: Format) -> Log {
    let storage: Arc<dyn Storage> = Arc::new(Files::create(root).unwrap());
    let new = NewLog {
        name: "bench".into(),
        format,
        origin: "bench".into(),
    };
    let dir = Path::new("teams/bench");
    Log::create(storage, dir, new, LogOptions::default()).unwrap()
}
