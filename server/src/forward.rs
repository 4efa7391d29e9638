//! Connections that leave HTTP: on the Unix socket a client may ask for another protocol, which somebody else speaks.

use crate::served::Served;
use std::os::unix::net::UnixStream;
use std::sync::Arc;

/// The protocol's name, as `Upgrade` gives it.
pub const PROTOCOL: &str = "teamlog-forward";

/// Speaks the other protocol.
pub trait Forward: Send + Sync {
    /// Serves one client until it is done, on a thread of its own. The stream blocks; `early` is what the client said
    /// before it knew that it may.
    fn serve(&self, served: &Arc<Served>, stream: UnixStream, early: Vec<u8>);
}
