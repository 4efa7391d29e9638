//! `log.json`: which log this is.

use crate::timestamp::Timestamp;

/// How events are laid out on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// One event a line, readable with `jq` and `grep`. The default.
    Jsonl,
    /// Length and CRC framed, little-endian.
    Binary,
}

/// The version of both formats that this code writes, and the newest that it reads.
pub const FORMAT_VERSION: u32 = 1;

/// What `log.json` says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// Random 128 bits that every segment, head and receipt of this log repeats.
    pub log: [u8; 16],
    /// The team's name.
    pub team: String,
    /// How events are stored.
    pub format: Format,
    /// Version of the format.
    pub version: u32,
    /// When the log was created.
    pub created_at: Timestamp,
    /// How it came to be: `init`, `import`, `convert`, `restore`.
    pub origin: String,
}
