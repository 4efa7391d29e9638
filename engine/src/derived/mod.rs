//! The derived store: state and index of a log as immutable sorted runs. Safe to delete; rebuilt from the log.
//!
//! A run covers a gapless range of seqs. It holds the changes of these events (a key with its value, or a tombstone), one posting for each
//! ref of each event, and the place of each event. Newer runs shadow older ones. The layout in bytes: `docs/format.md`, "Derived store".
//!
//! Keys are bytes; the first byte is the namespace. From 0x80 on a namespace is a *series*: its keys continue with a name, a zero byte, and
//! eight bytes, a big-endian number (a seq). The filter of a run holds a series once, by the part of its keys up to the zero byte, so that
//! a scan within one series checks each run's filter once.
//!
//! Invariants: files are never evidence about the log and never synced. Lost or damaged bytes are detected (every byte is under a CRC-32
//! that is checked before use) and reported as `Error::Derived`; the owner of the store then folds the range again. A run's file never
//! changes once a manifest names it.
//!
//! Bounds and small filters of the runs are in the manifest, large filters are in the runs. A run's file is opened when one of its blocks
//! is needed.

mod block;
mod bounds;
mod build;
mod cursor;
mod filter;
pub mod key;
mod manifest;
mod merge;
mod overlay;
mod page;
mod places;
mod run;
mod scan;
mod scratch;
mod shape;
mod store;
mod table;
mod why_unused;

pub use build::KEY_BYTES_MAX;
pub use manifest::VERSION;
pub use overlay::{Overlay, OverlayScan, Value, View};
pub use scan::Scan;
pub use store::{Anchor, Change, Delta, RunMeta, Store};
pub use table::{Changes, Table};

#[cfg(test)]
mod tests;
