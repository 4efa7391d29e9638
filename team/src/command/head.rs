//! `head`: a receipt for everything up to now.

use serde::Serialize;

/// `{team, log, seq, segment, length, digest}`: `head -c LENGTH SEGMENT | b3sum` gives `digest`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HeadAnswer {
    /// The team.
    pub team: String,
    /// The log's id.
    pub log: String,
    /// Seq of the last event.
    pub seq: u64,
    /// File name of its segment.
    pub segment: String,
    /// Bytes of that segment that are covered.
    pub length: u64,
    /// BLAKE3 of those bytes, lower-case hex.
    pub digest: String,
}
