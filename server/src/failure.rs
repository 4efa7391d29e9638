//! Errors that keep the daemon from starting.

use crate::running::Running;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use teamlog_team::failure::code_of_io;

/// Result of this crate.
pub type Result<T, E = StartError> = std::result::Result<T, E>;

/// Reason for which the daemon does not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// Another daemon serves this root.
    #[error("{}", already(.0.as_deref()))]
    AlreadyServed(Option<Box<Running>>),
    /// Other machines can reach the address.
    #[error(
        "listen must be an address of this machine's loopback where there is no TLS, but is {0}"
    )]
    NotLoopback(SocketAddr),
    /// The certificate or its key cannot be used.
    #[error("cannot use {field} {}: {why}", path.display())]
    Tls {
        /// Name of the option: certificate or key.
        field: &'static str,
        /// Path of the file.
        path: PathBuf,
        /// Description of the fault.
        why: String,
    },
    /// The path is too long for a Unix socket.
    #[error("socket must have a path of at most {max} bytes, but {path:?} has more")]
    SocketPathTooLong {
        /// The path.
        path: PathBuf,
        /// Longest possible path.
        max: usize,
    },
    /// Other users can enter the socket's directory.
    #[error(
        "socket must lie in a directory that only you may enter (mode 0700), but {0:?} is none"
    )]
    SocketDirectory(PathBuf),
    /// A file of another kind has the socket's path.
    #[error("socket must be a free path, but there is something at {0:?}")]
    SocketTaken(PathBuf),
    /// A system limit of the process or its user is too low.
    #[error("the daemon needs {needed} {what}, but can have {possible} ({limit})")]
    Limit {
        /// Required number.
        needed: u64,
        /// The limited resource.
        what: &'static str,
        /// Available number.
        possible: u64,
        /// The setting that limits the resource.
        limit: &'static str,
    },
    /// An error of a team or of the root.
    #[error(transparent)]
    Team(#[from] teamlog_team::Failure),
    /// An I/O error.
    #[error("cannot {doing}: {source}")]
    Io {
        /// The failed action.
        doing: String,
        /// The system's error.
        source: io::Error,
    },
}

impl StartError {
    /// Returns the stable code.
    pub fn code(&self) -> &'static str {
        match self {
            StartError::AlreadyServed(_) => "already_served",
            StartError::NotLoopback(_)
            | StartError::Tls { .. }
            | StartError::SocketPathTooLong { .. }
            | StartError::SocketDirectory(_)
            | StartError::SocketTaken(_) => "invalid_input",
            StartError::Team(_) => "team",
            StartError::Limit { .. } => "io",
            StartError::Io { source, .. } => code_of_io(source),
        }
    }

    /// Returns a suggestion.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            StartError::AlreadyServed(_) => None,
            StartError::NotLoopback(_) => Some(
                "give --listen 127.0.0.1:0; for other machines: --listen ADDRESS --tls-cert FILE --tls-key FILE",
            ),
            StartError::SocketPathTooLong { .. } | StartError::SocketDirectory(_) => {
                Some("give --socket PATH, in a directory that only you may enter")
            }
            StartError::SocketTaken(_) => Some("move it away, or name another path with --socket"),
            StartError::Limit { .. } => Some("raise that limit where the daemon is started"),
            StartError::Tls { .. } | StartError::Team(_) | StartError::Io { .. } => None,
        }
    }

    pub(crate) fn io(doing: impl Into<String>) -> impl FnOnce(io::Error) -> StartError {
        let doing = doing.into();
        move |source| StartError::Io { doing, source }
    }
}

fn already(running: Option<&Running>) -> String {
    match running {
        Some(Running {
            pid, url, socket, ..
        }) => format!(
            "this data root is served already, by process {pid} at {url} and {}",
            socket.display()
        ),
        None => "this data root is served already, by a daemon that is just starting".to_owned(),
    }
}
