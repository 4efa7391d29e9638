//! The durable head: how far the log is known to be durable.

use crate::event_id::EventId;

/// A lower bound of what is durable, and the end of what readers see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// Counts head writes.
    pub generation: u64,
    /// Number of the active segment; 0 while the log is empty.
    pub segment: u32,
    /// Its file name; empty while the log is empty.
    pub name: String,
    /// Bytes of the active segment that are durable.
    pub end: u64,
    /// Seq of the last event; 0 while the log is empty.
    pub last_seq: u64,
    /// Id of the last event.
    pub last_id: Option<EventId>,
}
