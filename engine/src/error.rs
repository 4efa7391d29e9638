//! What can go wrong in the engine, by who has to act.

use std::io;
use std::path::PathBuf;

/// The engine's result.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The engine's error.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file system failed. The outcome of an append is unknown: retry with the same id or key.
    #[error("cannot {doing} {}: {source}", path.display())]
    Io {
        /// What was being done: `read`, `write`, `sync` …
        doing: &'static str,
        /// The file, relative to the data root.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// Another process held the lock until the deadline.
    #[error("{} is locked by {holder}; waited {waited_ms} ms", path.display())]
    Locked {
        /// The lock file.
        path: PathBuf,
        /// Who holds it, for people: `pid 4242 (teamlog serve)`.
        holder: String,
        /// How long was waited.
        waited_ms: u64,
    },
    /// Damage that recovery must not touch.
    #[error("{} is damaged at byte {offset}{}: {why}", path.display(), .seq.map(|seq| format!(" (event {seq})")).unwrap_or_default())]
    Corrupt {
        /// The file, relative to the data root.
        path: PathBuf,
        /// The first byte that is not what it should be.
        offset: u64,
        /// The event that should stand there, where that is known.
        seq: Option<u64>,
        /// What is wrong.
        why: String,
    },
    /// A file was written by a newer teamlog.
    #[error("{} has format version {found}; this teamlog reads up to {known}", path.display())]
    UnsupportedFormat {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
        /// The newest that is known here.
        known: u32,
    },
    /// A file belongs to another log.
    #[error("{} belongs to another log: {why}", path.display())]
    ForeignFile {
        /// The file.
        path: PathBuf,
        /// What differs.
        why: String,
    },
    /// There is no log here.
    #[error("there is no log in {}", path.display())]
    NoLog {
        /// The directory.
        path: PathBuf,
    },
    /// There is a log here already.
    #[error("there is a log in {} already", path.display())]
    LogExists {
        /// The directory.
        path: PathBuf,
    },
    /// A field of an event breaks a rule.
    #[error("{field} {rule}, but is {value}")]
    Invalid {
        /// The field.
        field: &'static str,
        /// Its value, shortened.
        value: String,
        /// The rule.
        rule: String,
    },
    /// Something is larger than its limit.
    #[error("{what} has {len} bytes; the limit is {max}")]
    TooLarge {
        /// What.
        what: &'static str,
        /// Its size.
        len: u64,
        /// The limit.
        max: u64,
    },
    /// This handle saw a write or a sync fail and does nothing more; open the log again.
    #[error("an earlier write to this log failed ({0}); open it again")]
    Poisoned(String),
    /// A derived file is missing or damaged; it can be rebuilt from the log.
    #[error("derived file {} is unusable: {why}", path.display())]
    Derived {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
}

impl Error {
    /// Wraps an I/O error with what was being done to which file.
    pub fn io(doing: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Error {
        let path = path.into();
        move |source| Error::Io {
            doing,
            path,
            source,
        }
    }
}
