//! The derived store: state and index of a log as immutable sorted runs. Safe to delete; rebuilt from the log.
//!
//! A run covers a gapless range of seqs and holds what the events of that range changed (a key with its value, or
//! a tombstone), one posting for each ref of each event, and the place of each event. Newer runs
//! shadow older ones. `DESIGN` of the layout: `docs/format.md`, "Derived store".
//!
//! Keys are bytes; the first byte is the namespace. From 0x80 on a namespace is a *series*: its keys end in
//! eight bytes, a big-endian number (a seq), and the filter of a run holds the key without them, so that a
//! scan over one series asks the filter once.

pub mod key;
mod store;

pub use store::{Anchor, Delta, RunMeta, Scan, Store};
