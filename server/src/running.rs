//! Description of a running daemon, stored with its lock.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A daemon that serves a root.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Running {
    /// Process id.
    pub pid: u32,
    /// URL for HTTP.
    pub url: String,
    /// URL for agents on other machines, over TLS, if there is one.
    #[serde(rename = "remoteUrl", default, skip_serializing_if = "Option::is_none")]
    pub remote_url: Option<String>,
    /// Path of the Unix socket.
    pub socket: PathBuf,
    /// Version.
    pub version: String,
    /// Start time.
    #[serde(rename = "startedAt")]
    pub started_at: String,
}
