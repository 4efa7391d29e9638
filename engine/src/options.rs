//! Options of a log: clock, random bits and settings.

use crate::clock::{Clock, SystemClock};
use crate::event_id::{IdSource, RandomIds};
use crate::journal::Journals;
use crate::prelude::*;
use crate::refs::RefNames;

/// Options of a log.
#[derive(Clone, Debug)]
pub struct LogOptions {
    /// Clock for `created_at`.
    pub clock: Arc<dyn Clock>,
    /// Source of random bits for ids.
    pub ids: Arc<dyn IdSource>,
    /// Names of the refs. A new log declares these names, and an opened log must have them. Default: the names of a log that
    /// declares no refs.
    pub refs: RefNames,
    /// Longest wait for the lock. Default 10 s.
    pub lock_deadline: Duration,
    /// Segment size above which a group starts a new segment; a journal's value takes precedence. Default
    /// [`crate::limits::SEGMENT_BYTES_MAX`].
    pub segment_bytes_max: u64,
    /// Number of zeros that a writer keeps after the written bytes, if the format allows zeros. Also the number of bytes by which
    /// a segment of any format may end early. Default 512 KiB; 0 for none.
    pub ahead_bytes: u64,
    /// Number of groups after which a writer prepares zeros and digests in advance. Default 16, so that a writer of a few groups prepares
    /// nothing.
    pub ahead_from_group: u64,
    /// Version of this host's folds. All hosts of a log must use the same version. Default 0: not checked.
    pub fold_version: u32,
    /// Id of this start of the machine: on Linux `/proc/sys/kernel/random/boot_id`. Unsynced writes from before the
    /// last start may be lost. Default none: not checked.
    pub boot: Option<[u8; 16]>,
    /// Opens journals. Default none: a log with a journal can then be read, but not written.
    pub journals: Option<Arc<dyn Journals>>,
}

impl LogOptions {
    /// Sets the names of the refs.
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
