//! Receipts: evidence of what the log held, checkable without teamlog.

/// `head -c LENGTH SEGMENT | b3sum` gives `digest`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    /// The log's id, as hyphenated text.
    pub log: String,
    /// Seq of the last event covered.
    pub seq: u64,
    /// File name of its segment.
    pub segment: String,
    /// Bytes of that segment up to the end of that event's group.
    pub length: u64,
    /// BLAKE3 of those bytes, lower-case hex.
    pub digest: String,
}
