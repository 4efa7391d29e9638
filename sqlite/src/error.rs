//! The reasons why an export ends without an answer.

use rusqlite::ErrorCode;
use teamlog_team::{Failure, engine, projections};

/// Result type of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The reason why an export stored nothing. Each variant leaves the database as it was.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The team or its log failed.
    #[error(transparent)]
    Team(#[from] Failure),
    /// SQLite failed.
    #[error("the database cannot be written: {0}")]
    Database(#[from] rusqlite::Error),
    /// The file cannot be created or read.
    #[error("cannot {doing} {path}: {source}")]
    File {
        /// The action that failed.
        doing: &'static str,
        /// Path of the file.
        path: String,
        /// The error of the system.
        source: std::io::Error,
    },
    /// The file does not belong to an export.
    #[error("{path} {why}")]
    Foreign {
        /// Path of the file.
        path: String,
        /// The content of the file instead of an export.
        why: String,
    },
    /// The database has another version of the tables.
    #[error("{path} has tables of version {found}, but this program writes version {own}")]
    Version {
        /// Path of the file.
        path: String,
        /// Version of the tables in the file.
        found: i64,
        /// Version of the tables that this program writes.
        own: i64,
    },
    /// The log does not continue the events in the database.
    #[error("{path} does not fit the log of team {team}: {why}; nothing was changed")]
    Replaced {
        /// Path of the file.
        path: String,
        /// Name of the team.
        team: String,
        /// The difference.
        why: String,
    },
    /// The caller stopped the export before its end.
    #[error("the export was stopped before its end; nothing of this run was stored")]
    Stopped,
}

impl Error {
    /// Returns a stable code word.
    pub fn code(&self) -> &'static str {
        match self {
            Error::Team(failure) => failure.code(),
            Error::Database(_) if self.is_busy() => "locked",
            Error::Database(rusqlite::Error::SqliteFailure(error, _)) => match error.code {
                ErrorCode::DiskFull => "no_space",
                ErrorCode::PermissionDenied | ErrorCode::ReadOnly => "not_permitted",
                _ => "io",
            },
            Error::Database(_) => "io",
            Error::File { source, .. } => teamlog_team::failure::code_of_io(source),
            Error::Foreign { .. } => "foreign_file",
            Error::Version { .. } => "unsupported_format",
            Error::Replaced { .. } => "log_replaced",
            Error::Stopped => "stopped",
        }
    }

    /// Returns true if another program writes to the database.
    pub fn is_busy(&self) -> bool {
        let Error::Database(rusqlite::Error::SqliteFailure(error, _)) = self else {
            return false;
        };
        matches!(
            error.code,
            ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked
        )
    }

    /// Returns the next step for the user, if there is one.
    pub fn hint(&self) -> Option<String> {
        match self {
            Error::Team(failure) => failure.refusal()?.hint.clone(),
            Error::Database(_) if self.is_busy() => {
                Some("another program writes to the database; end it, or wait".to_owned())
            }
            Error::Foreign { .. } => {
                Some("name a file that does not exist, or the file of an earlier export".to_owned())
            }
            Error::Version { .. } | Error::Replaced { .. } => Some(
                "add --replace to fill the file anew from the log, or name another file".to_owned(),
            ),
            _ => None,
        }
    }
}

impl From<engine::Error> for Error {
    fn from(error: engine::Error) -> Error {
        Error::Team(error.into())
    }
}

impl From<projections::Error> for Error {
    fn from(error: projections::Error) -> Error {
        Error::Team(error.into())
    }
}
