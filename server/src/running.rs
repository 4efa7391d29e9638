//! What is known of a daemon that runs, as it notes it beside its lock.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A daemon that serves a root.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Running {
    /// Its process.
    pub pid: u32,
    /// Where it listens for HTTP.
    pub url: String,
    /// Where it listens for agents on other machines, over TLS, if it does.
    #[serde(rename = "remoteUrl", default, skip_serializing_if = "Option::is_none")]
    pub remote_url: Option<String>,
    /// Its Unix socket.
    pub socket: PathBuf,
    /// Its version.
    pub version: String,
    /// Since when.
    #[serde(rename = "startedAt")]
    pub started_at: String,
}
