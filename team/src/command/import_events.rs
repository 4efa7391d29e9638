//! `import --events`: an exported log, lossless, into a new team.

use teamlog_engine::Format;

/// How events are imported. The team must not exist.
#[derive(Debug, Clone, Default)]
pub struct ImportEvents {
    /// The new team.
    pub team: String,
    /// Its format; `None` is `jsonl`.
    pub format: Option<Format>,
    /// Accept a network or host-shared file system.
    pub allow_network_fs: bool,
}
