//! The team itself: members, settings, counters of events.

use teamlog_engine::Timestamp;

/// The team and its settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TeamInfo {
    /// When it was created.
    pub created_at: Timestamp,
    /// Whether agents join by acting.
    pub open: bool,
    /// Whether view files are kept.
    pub views: bool,
    /// Members.
    pub members: u64,
    /// Seq of the last event that changed it or its members.
    pub seq: u64,
}
