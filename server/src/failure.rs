//! Why the daemon does not start.

use crate::running::Running;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use teamlog_team::failure::code_of_io;

/// This crate's result.
pub type Result<T, E = StartError> = std::result::Result<T, E>;

/// Why the daemon does not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// Another one serves this root.
    #[error("{}", already(.0.as_deref()))]
    AlreadyServed(Option<Box<Running>>),
    /// The address can be reached from elsewhere.
    #[error(
        "listen must be an address of this machine's loopback where there is no TLS, but is {0}"
    )]
    NotLoopback(SocketAddr),
    /// The certificate, or its key.
    #[error("cannot use {field} {}: {why}", path.display())]
    Tls {
        /// Which of the two.
        field: &'static str,
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// The socket's path is longer than the system's sockets can have.
    #[error("socket must have a path of at most {max} bytes, but {path:?} has more")]
    SocketPathTooLong {
        /// The path.
        path: PathBuf,
        /// What is possible.
        max: usize,
    },
    /// Others may reach the socket's directory.
    #[error(
        "socket must lie in a directory that only you may enter (mode 0700), but {0:?} is none"
    )]
    SocketDirectory(PathBuf),
    /// There is something else where the socket belongs.
    #[error("socket must be a free path, but there is something at {0:?}")]
    SocketTaken(PathBuf),
    /// A limit of the system for the process or its user.
    #[error("the daemon needs {needed} {what}, but can have {possible} ({limit})")]
    Limit {
        /// How many it needs.
        needed: u64,
        /// The limited resource.
        what: &'static str,
        /// How many it can have.
        possible: u64,
        /// The setting that limits the resource.
        limit: &'static str,
    },
    /// A team or the root.
    #[error(transparent)]
    Team(#[from] teamlog_team::Failure),
    /// The system.
    #[error("cannot {doing}: {source}")]
    Io {
        /// What was to be done.
        doing: String,
        /// Why it could not.
        source: io::Error,
    },
}

impl StartError {
    /// The stable word for it.
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

    /// What to type next.
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
