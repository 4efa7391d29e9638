//! What a log needs from outside, and what its owner may set.

use crate::clock::{Clock, SystemClock};
use crate::event_id::{IdSource, RandomIds};
use std::sync::Arc;
use std::time::Duration;

/// What the log needs from outside.
#[derive(Clone, Debug)]
pub struct LogOptions {
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
    /// Random bits.
    pub ids: Arc<dyn IdSource>,
    /// How long to wait for the lock. Default 10 s.
    pub lock_deadline: Duration,
    /// Rotate before a segment would grow past this. Default [`crate::limits::SEGMENT_BYTES_MAX`]; tests make it small.
    pub segment_bytes_max: u64,
}

impl Default for LogOptions {
    fn default() -> Self {
        LogOptions {
            clock: Arc::new(SystemClock),
            ids: Arc::new(RandomIds),
            lock_deadline: Duration::from_secs(10),
            segment_bytes_max: crate::limits::SEGMENT_BYTES_MAX,
        }
    }
}
