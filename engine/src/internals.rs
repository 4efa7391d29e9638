//! Parts of the engine below its API: bytes, files and the derived store.
//!
//! These parts are for the crates that are released together with this crate, and for the tests, benchmarks and fuzz targets.
//! These parts may change in any release. A program that only keeps a log needs none of them.

/// Names of files in a backup.
pub mod backup {
    pub use crate::backup::manifest::{FILES_DIR, MANIFEST_FILE};
}

/// Encoding of events.
pub mod codec {
    pub use crate::codec::*;
}

/// The comparison of a log with its journal.
pub mod comparison {
    pub use crate::comparison::*;
}

/// Sorted runs beside a log: state and index.
pub mod derived {
    pub use crate::derived::*;
}

/// Kinds of I/O errors.
pub mod error {
    pub use crate::error::{is_no_space, is_not_permitted};
}

/// The file that holds the durable end of a log.
pub mod head {
    pub use crate::head::{Slots, read_slots};
}

/// A journal in memory, for tests, and a check that journals on servers share.
pub mod journal {
    pub use crate::journal::memory::{Compares, MemoryJournal};
    pub use crate::journal::server::check_enrolled;
}

/// Names of files, and kinds of the events that the log itself records.
pub mod layout {
    pub use crate::layout::*;
}

/// Reading a log by spans, for parallel workers.
pub mod reader {
    pub use crate::reader::{Chain, LocatedFrame, SPAN_BYTES, Span, Spans};
}

/// The bulk pipeline: folds a log into the derived store on several threads.
pub mod pipeline {
    pub use crate::pipeline::{
        Batch, Bulk, Folded, Progress, Step, Tail, fold_all, holds, write_run,
    };
}

/// Digests of files.
pub mod receipt {
    pub use crate::receipt::hex_digest;
}

/// The table of states after a crash, and recovery's action for each.
pub mod recovery {
    pub use crate::recovery::{Quarantined, table};
}

/// Names of segments.
pub mod segment {
    pub use crate::segment::*;
}

/// Storages that wrap another storage (they fail at a chosen call, or defer syncs), and the modes of shared files.
pub mod storage {
    pub use crate::storage::deferred::Deferred;
    pub use crate::storage::faulty::{Fault, Faulty};
    pub use crate::storage::files::{SHARED_DIR, SHARED_FILE};
}

/// UUIDs as text.
pub mod uuid {
    pub use crate::uuid::{from_text, text};
}

pub use crate::log::LOST_EVENTS_MAX;
pub use crate::witness::Witness;
pub use crate::writer::{JOBS_OF_GROUPS, UNSYNCED_BYTES_MAX};
