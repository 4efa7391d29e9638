//! Description of a running daemon, which is stored in the lock file.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A running daemon.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Running {
    /// Process id.
    pub pid: u32,
    /// URL for HTTP.
    pub url: String,
    /// HTTPS URL for agents on other machines, if the daemon listens for them.
    #[serde(rename = "remoteUrl", default, skip_serializing_if = "Option::is_none")]
    pub remote_url: Option<String>,
    /// Path of the Unix socket.
    pub socket: PathBuf,
    /// Version of the daemon.
    pub version: String,
    /// Time at which the daemon started.
    #[serde(rename = "startedAt")]
    pub started_at: String,
}
