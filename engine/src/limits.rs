//! Limits of the log. An error for an exceeded limit names the limit.

/// Largest number of bytes of one event in canonical JSON (its `jsonl` line without framing).
pub const EVENT_BYTES_MAX: usize = 1 << 20;
/// Largest number of bytes of one group in canonical JSON: the sum over its events.
pub const GROUP_BYTES_MAX: usize = 4 << 20;
/// Largest number of events in one group.
pub const GROUP_EVENTS_MAX: usize = 65_536;
/// Largest number of bytes of an identifier: an actor, a kind or a ref.
pub const IDENTIFIER_BYTES_MAX: usize = 128;
/// Largest nesting depth of a payload.
pub const NESTING_MAX: usize = 64;
/// Largest difference between a host's clock and the journal's clock, in microseconds. A host with a larger difference records
/// nothing.
pub const CLOCK_SKEW_MAX: i64 = 2_000_000;
/// Largest number of projections in one set.
pub const PROJECTIONS_MAX: usize = 64;
/// Largest number of bytes of the key of a projection's row.
pub const PROJECTION_KEY_BYTES_MAX: usize = 1023;
/// Largest number of bytes of the value of a projection's row.
pub const PROJECTION_VALUE_BYTES_MAX: usize = 16 << 20;
/// Segment size above which a group starts a new segment.
pub const SEGMENT_BYTES_MAX: u64 = 64 << 20;
/// Number of encoded bytes at which buffered events are written as a group.
pub(crate) const BUFFER_BYTES: usize = 1 << 20;
/// Number of zeros that a writer keeps after the written bytes, so that a sync need not write the file's length.
pub(crate) const AHEAD_BYTES: u64 = 512 << 10;
/// Number of groups after which a writer prepares zeros and digests in advance.
pub(crate) const AHEAD_FROM_GROUP: u64 = 16;
