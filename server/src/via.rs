//! Which way a connection came, and what that says of its other end.

/// Which way a connection came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Via {
    /// Over TCP, from any user of this machine.
    Tcp,
    /// Over TLS, from any machine.
    Tls,
    /// Over the Unix socket, from the user whom the daemon runs as.
    Socket,
}
