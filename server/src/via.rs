//! Transport of a connection, and its trust.

/// Transport of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Via {
    /// TCP, from any user of this machine.
    Tcp,
    /// TLS, from any machine.
    Tls,
    /// Unix socket, from the daemon's own user.
    Socket,
}
