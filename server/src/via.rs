//! The transport of a connection, which determines how far its clients are trusted.

/// Transport of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Via {
    /// TCP on the loopback, open to all users of this machine.
    Tcp,
    /// TLS, open to all machines.
    Tls,
    /// Unix socket, open only to the daemon's own user.
    Socket,
}
