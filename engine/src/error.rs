//! What can go wrong in the engine, by who has to act.

use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The engine's result.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What is done by a durable [`Storage::replace`](crate::storage::Storage::replace): its error does not say whether the
/// write, the rename or a sync failed.
pub(crate) const REPLACE: &str = "write and sync";

/// The engine's error.
#[derive(Debug, Clone, thiserror::Error)]
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
        source: Arc<io::Error>,
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
    /// The lock file was removed or replaced while this process held it. Nothing was acknowledged.
    #[error("{}", lock_lost(path, holder.as_deref(), *written))]
    LockLost {
        /// The lock file.
        path: PathBuf,
        /// Who has locked the file in its place, for people.
        holder: Option<String>,
        /// Whether a group was written, so that the outcome is unknown; else nothing was.
        written: bool,
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
    /// Events that were acknowledged are gone from the log: an older state of its files was put back.
    #[error("{} was rolled back: {rollback}", path.display())]
    RolledBack {
        /// The log's directory, relative to the data root.
        path: PathBuf,
        /// Which event is known, and where the log ends.
        rollback: Rollback,
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
    /// An event was written by a newer teamlog: what it says is not known here, so nothing that follows from it is.
    #[error("event {seq} ({kind}) was written by a newer teamlog: {why}")]
    Newer {
        /// The event.
        seq: u64,
        /// Its kind.
        kind: String,
        /// What is not known.
        why: String,
    },
    /// A file belongs to another log.
    #[error("{} belongs to another log: {why}", path.display())]
    ForeignFile {
        /// The file.
        path: PathBuf,
        /// What differs.
        why: String,
    },
    /// A log declares other refs than the program works with ([`LogOptions::refs`](crate::LogOptions::refs)).
    #[error("{} declares the refs [{declared}], but this program works with [{expected}]", path.display())]
    OtherRefs {
        /// The file that declares them.
        path: PathBuf,
        /// The names that the log declares, separated by commas.
        declared: String,
        /// The names that the program works with.
        expected: String,
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
        field: Cow<'static, str>,
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
    /// The journal that orders the log's groups did not take part.
    #[error("the journal of this log {}: {why}", fault.text())]
    Journal {
        /// What kept it.
        fault: JournalFault,
        /// What it said.
        why: String,
    },
    /// The operating system has no random bits, so no id was made, and nothing was recorded.
    #[error("cannot get random bits: {0}; nothing was recorded")]
    Random(String),
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

/// A log that lacks events which were acknowledged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rollback {
    /// The last event that is known to have been acknowledged.
    pub known_seq: u64,
    /// Its id, where the witness has it.
    pub known_id: Option<String>,
    /// The last event of the log as it is now.
    pub last_seq: u64,
    /// The file that knows it, relative to the log's directory.
    pub witness: String,
}

impl std::fmt::Display for Rollback {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Rollback {
            known_seq,
            last_seq,
            witness,
            ..
        } = self;
        match last_seq < known_seq {
            true => write!(
                f,
                "it ends with event {last_seq}, but event {known_seq} was acknowledged (the file {witness} says so)"
            ),
            false => write!(
                f,
                "its event {known_seq} is not the one that was acknowledged (the file {witness} says so)"
            ),
        }
    }
}

/// Declares what can keep a journal: its stable word, and what the error says that the journal does.
macro_rules! faults {
    ($($(#[doc = $doc:literal])+ $fault:ident = $code:literal, $text:literal;)*) => {
        /// What kept a journal from taking a group, or from telling of those that it has.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum JournalFault {
            $($(#[doc = $doc])+ $fault,)*
        }

        impl JournalFault {
            /// The stable word for it.
            pub fn code(self) -> &'static str {
                match self {
                    $(JournalFault::$fault => $code,)*
                }
            }
            fn text(self) -> &'static str {
                match self {
                    $(JournalFault::$fault => $text,)*
                }
            }
        }
    };
}

faults! {
    /// Another host's group came first: decide again.
    Conflict = "journal_busy", "took another group first";
    /// Nothing was written: ask again.
    Unreachable = "journal_unreachable", "does not answer, so nothing was written";
    /// It was sent and may be recorded or not: ask again with the same id or key.
    Unknown = "journal_unknown", "did not say whether it took what was written";
    /// The journal lacks groups that this host has.
    Behind = "journal_behind", "lacks what this host has";
    /// The journal and this host have another history.
    Forked = "journal_forked", "has another history";
    /// The journal no longer has what this host lacks.
    Trimmed = "journal_trimmed", "no longer has what is lacking here";
    /// The journal holds too few copies, so nothing was written.
    NotDurable = "journal_not_durable", "holds too few copies, so nothing was written";
    /// The journal takes nothing for this log.
    Refused = "journal_refused", "takes nothing";
    /// The log is open in the journal already.
    Opened = "journal_refused", "takes nothing";
    /// The clock of this host is too far from the journal's: nothing was written.
    ClockSkew = "clock_skew", "tells another time, so nothing was written";
    /// Newer hosts fold the log's events otherwise: nothing was written.
    NewerHost = "newer_host", "is written by newer hosts, so nothing was written";
    /// The log is being handed over to the journal, which is not finished.
    Loading = "adoption_unfinished", "does not have all of it yet";
    /// The log was taken off the journal: it goes on at one host alone.
    Left = "journal_left", "was left";
    /// It is another journal than the log's.
    OtherJournal = "journal_of_another", "is another one";
    /// Another system of servers answers than before: a copy of the journal may have been put in its place.
    Moved = "journal_moved", "is on another system of servers than before";
    /// The servers refuse this host: a password, a certificate or a right.
    Denied = "journal_denied", "does not let this host in";
    /// Nothing here knows how to reach it.
    Unconfigured = "journal_not_configured", "is not configured";
    /// This program has no implementation for journals of that kind.
    UnknownKind = "journal_not_configured", "is of a kind that this teamlog does not support";
    /// What was asked for changes a log as a whole, which several hosts have.
    Shared = "journal_team", "orders the groups of several hosts";
}

/// Whether what was to be written found no room: the disk is full, or a quota or the limit for the size of a file is
/// reached.
pub fn is_no_space(kind: io::ErrorKind) -> bool {
    [
        io::ErrorKind::StorageFull,
        io::ErrorKind::QuotaExceeded,
        io::ErrorKind::FileTooLarge,
    ]
    .contains(&kind)
}

/// Whether the system lets this process do nothing there: a read-only file system, or no permission.
pub fn is_not_permitted(kind: io::ErrorKind) -> bool {
    [
        io::ErrorKind::ReadOnlyFilesystem,
        io::ErrorKind::PermissionDenied,
    ]
    .contains(&kind)
}

fn lock_lost(path: &Path, holder: Option<&str>, written: bool) -> String {
    let holder = holder.map_or_else(String::new, |holder| {
        format!(" and is now locked by {holder}")
    });
    let outcome = match written {
        true => "what was being written may be recorded or not",
        false => "nothing was written",
    };
    let path = path.display();
    format!("{path} was removed or replaced while this process held it{holder}; {outcome}")
}

impl Error {
    /// Whether there was no room for what was to be written: the disk is full, or a quota or the limit for the size of a
    /// file is reached.
    pub fn is_no_space(&self) -> bool {
        match self {
            Error::Io { source, .. } => self.is_write_error() && is_no_space(source.kind()),
            _ => false,
        }
    }

    /// Whether the error came from writing, so that reading may still work.
    pub fn is_write_error(&self) -> bool {
        match self {
            Error::Io { doing, .. } => {
                let reads = ["read", "list", "stat"].contains(doing);
                !reads || self.is_read_only()
            }
            _ => false,
        }
    }

    /// Whether the system lets this process write nothing there: a read-only file system, or no permission.
    pub(crate) fn is_read_only(&self) -> bool {
        matches!(self, Error::Io { source, .. } if is_not_permitted(source.kind()))
    }

    /// Whether it is a failed sync, after which nobody knows what the disk holds. A durable replacement may have failed in
    /// its sync, unless the system says that nothing could be written.
    pub fn is_sync_error(&self) -> bool {
        match self {
            Error::Io { doing: "sync", .. } => true,
            Error::Io { doing: REPLACE, .. } => !self.is_no_space() && !self.is_read_only(),
            _ => false,
        }
    }

    /// What kept a journal from taking part, in these words.
    pub fn journal(fault: JournalFault, why: impl Into<String>) -> Error {
        let why = why.into();
        Error::Journal { fault, why }
    }

    /// What kept the journal from taking part, if it is the journal's error: then this host's log is as it was.
    pub fn journal_fault(&self) -> Option<JournalFault> {
        match self {
            Error::Journal { fault, .. } => Some(*fault),
            _ => None,
        }
    }

    /// Whether another host's group came first, so that deciding again may help.
    pub fn is_conflict(&self) -> bool {
        self.journal_fault() == Some(JournalFault::Conflict)
    }

    /// A copy, for the others that the same failure concerns.
    #[must_use]
    pub fn again(&self) -> Error {
        match self {
            Error::Io { .. }
            | Error::LockLost { .. }
            | Error::Corrupt { .. }
            | Error::RolledBack { .. }
            | Error::Journal { .. }
            | Error::Random(_)
            | Error::Poisoned(_) => self.clone(),
            other => Error::Poisoned(other.to_string()),
        }
    }
    /// A field of an event that breaks a rule.
    pub(crate) fn invalid(
        field: impl Into<Cow<'static, str>>,
        value: impl Into<String>,
        rule: impl Into<String>,
    ) -> Error {
        let (field, value, rule) = (field.into(), value.into(), rule.into());
        Error::Invalid { field, value, rule }
    }
    /// Something that is larger than its limit.
    pub(crate) fn too_large(what: &'static str, len: u64, max: u64) -> Error {
        Error::TooLarge { what, len, max }
    }
    /// A file of a newer version.
    pub(crate) fn unsupported(path: impl Into<PathBuf>, found: u32, known: u32) -> Error {
        let path = path.into();
        Error::UnsupportedFormat { path, found, known }
    }
    /// A file of another log.
    pub(crate) fn foreign(path: impl Into<PathBuf>, why: impl Into<String>) -> Error {
        let (path, why) = (path.into(), why.into());
        Error::ForeignFile { path, why }
    }
    /// A directory without a log.
    pub(crate) fn no_log(path: impl Into<PathBuf>) -> Error {
        Error::NoLog { path: path.into() }
    }
    /// Damage in a file.
    pub fn corrupt(
        path: impl Into<PathBuf>,
        offset: u64,
        seq: impl Into<Option<u64>>,
        why: impl Into<String>,
    ) -> Error {
        Error::Corrupt {
            path: path.into(),
            offset,
            seq: seq.into(),
            why: why.into(),
        }
    }

    /// Wraps an I/O error with what was being done to which file.
    pub fn io(doing: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Error {
        let path = path.into();
        move |source| Error::Io {
            doing,
            path,
            source: Arc::new(source),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damage_is_damage_for_everybody_in_the_group() {
        let corrupt = Error::Corrupt {
            path: "teams/demo/events/2026-11-21.jsonl".into(),
            offset: 7,
            seq: Some(3),
            why: "it is not what was written".into(),
        };
        let again = corrupt.again();
        assert!(matches!(again, Error::Corrupt { .. }), "{again:?}");
        assert_eq!(again.to_string(), corrupt.to_string());
    }
}
