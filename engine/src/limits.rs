//! Every limit of the log, each a named constant that the error of exceeding it repeats.

/// Most bytes of one event in canonical JSON (its `jsonl` line without framing).
pub const EVENT_BYTES_MAX: usize = 1 << 20;
/// Most bytes of one group in canonical JSON: the sum over its events.
pub const GROUP_BYTES_MAX: usize = 4 << 20;
/// Most events in one group.
pub const GROUP_EVENTS_MAX: usize = 65_536;
/// Most bytes of an identifier, an actor, a kind or a ref.
pub const IDENTIFIER_BYTES_MAX: usize = 128;
/// Deepest nesting of a payload.
pub const NESTING_MAX: usize = 64;
/// The clocks of hosts that share a log differ from that of its journal by at most so much; a host whose clock does not records
/// nothing. In microseconds.
pub const CLOCK_SKEW_MAX: i64 = 2_000_000;
/// So many bytes of a log that a journal orders are written at most without a sync; whoever opens it reads them.
pub const UNSYNCED_BYTES_MAX: u64 = 64 << 10;
/// A segment is rotated before a group would take it past this many bytes.
pub const SEGMENT_BYTES_MAX: u64 = 64 << 20;
/// Buffered events go out as a group once they have this many encoded bytes.
pub const BUFFER_BYTES: usize = 1 << 20;
/// Zeros that a writer keeps ahead of what it wrote, so that a sync has no length to write.
pub const AHEAD_BYTES: u64 = 512 << 10;
/// From this group of its on a writer does work ahead.
pub const AHEAD_FROM_GROUP: u64 = 16;
