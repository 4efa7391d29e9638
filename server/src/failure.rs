//! Errors that keep the daemon from starting.

use crate::running::Running;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use teamlog_team::failure::code_of_io;

/// Result of this crate.
pub type Result<T, E = StartError> = std::result::Result<T, E>;

/// Reason why the daemon does not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// Another daemon serves this data root. `None` if that daemon is still starting.
    #[error("{}", already(.0.as_deref()))]
    AlreadyServed(Option<Box<Running>>),
    /// Other machines could reach the address.
    #[error("without TLS, listen must be a loopback address, but is {0}")]
    NotLoopback(SocketAddr),
    /// The certificate or its key is unusable.
    #[error("cannot use {field} {}: {why}", path.display())]
    Tls {
        /// Name of the option with the unusable file.
        field: &'static str,
        /// Path of the file.
        path: PathBuf,
        /// Description of the problem.
        why: String,
    },
    /// The path is too long for a Unix socket.
    #[error("the path of the socket has more than {max} bytes: {path:?}")]
    SocketPathTooLong {
        /// The path.
        path: PathBuf,
        /// Maximum length of a socket path.
        max: usize,
    },
    /// Other users can enter the socket's directory.
    #[error("other users can enter the directory of the socket, {0:?}; it must have mode 0700")]
    SocketDirectory(PathBuf),
    /// The socket's path belongs to a file that is not a socket.
    #[error("cannot create the socket {0:?}: another file has this path")]
    SocketTaken(PathBuf),
    /// A system limit of the process or its user is too low.
    #[error("the daemon needs {needed} {what}, but the limit is {possible} ({limit})")]
    Limit {
        /// Required amount of the resource.
        needed: u64,
        /// The limited resource.
        what: &'static str,
        /// Available amount of the resource.
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

    /// Returns a hint, if there is one.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            StartError::AlreadyServed(_) => None,
            StartError::NotLoopback(_) => Some(
                "give --listen 127.0.0.1:0; for other machines: --listen ADDRESS --tls-cert FILE --tls-key FILE",
            ),
            StartError::SocketPathTooLong { .. } | StartError::SocketDirectory(_) => {
                Some("give --socket PATH in a directory that only you can enter")
            }
            StartError::SocketTaken(_) => {
                Some("remove the file, or give another path with --socket")
            }
            StartError::Limit { .. } => {
                Some("raise the limit in the shell or unit that starts the daemon")
            }
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
            "this data root is already served by process {pid} at {url} and {}",
            socket.display()
        ),
        None => "this data root is already served by a daemon that is starting".to_owned(),
    }
}
