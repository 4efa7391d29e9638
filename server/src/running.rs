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
    /// Its Unix socket.
    pub socket: PathBuf,
    /// Its version.
    pub version: String,
    /// Since when.
    #[serde(rename = "startedAt")]
    pub started_at: String,
}
