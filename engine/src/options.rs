//! What a log needs from outside, and what its owner may set.

use crate::clock::{Clock, SystemClock};
use crate::event_id::{IdSource, RandomIds};
use crate::journal::Journals;
use crate::prelude::*;
use crate::refs::RefNames;

/// What the log needs from outside.
#[derive(Clone, Debug)]
pub struct LogOptions {
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
    /// Random bits.
    pub ids: Arc<dyn IdSource>,
    /// The names of the refs: declared by a new log, and expected of one that is opened. Default: those of a log that declares
    /// none.
    pub refs: RefNames,
    /// How long to wait for the lock. Default 10 s.
    pub lock_deadline: Duration,
    /// Rotate before a segment would grow past this; where a journal orders the log, its value counts. Default [`crate::limits::SEGMENT_BYTES_MAX`]; tests make it small.
    pub segment_bytes_max: u64,
    /// How many zeros a writer keeps ahead of what it wrote, where the format allows it; and how early, in any format, it may
    /// end a segment. Default [`crate::limits::AHEAD_BYTES`]; 0 for none.
    pub ahead_bytes: u64,
    /// A writer does work ahead (zeros, the digest) from this group of its on. Default
    /// [`crate::limits::AHEAD_FROM_GROUP`]: one that writes once and ends does none.
    pub ahead_from_group: u64,
    /// The version by which this host folds events, which the hosts of a log have to agree on. Default 0: nobody asks.
    pub fold_version: u32,
    /// Tells one start of the machine from the next: on Linux `/proc/sys/kernel/random/boot_id`. What was written before the
    /// last start without a sync may not be on the disk. Default none: then that is not checked.
    pub boot: Option<[u8; 16]>,
    /// Opens the journal of a log that has one. Default none: such a log can be read then, and not written.
    pub journals: Option<Arc<dyn Journals>>,
}

impl LogOptions {
    /// The same options for logs that declare these refs.
    #[must_use]
    pub fn with_refs(self, refs: RefNames) -> LogOptions {
        LogOptions { refs, ..self }
    }
}

impl Default for LogOptions {
    fn default() -> Self {
        LogOptions {
            clock: Arc::new(SystemClock),
            ids: Arc::new(RandomIds),
            refs: RefNames::default(),
            lock_deadline: Duration::from_secs(10),
            segment_bytes_max: crate::limits::SEGMENT_BYTES_MAX,
            ahead_bytes: crate::limits::AHEAD_BYTES,
            ahead_from_group: crate::limits::AHEAD_FROM_GROUP,
            fold_version: 0,
            boot: None,
            journals: None,
        }
    }
}
