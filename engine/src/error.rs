//! Errors of the engine. A variant tells the caller how to react.

use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Result with the engine's error.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The action of a durable [`Storage::replace`](crate::storage::Storage::replace). An error with this action does not say if the write, the
/// rename or a sync failed.
pub(crate) const REPLACE: &str = "write and sync";

/// The engine's error.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file system failed. The outcome of an append is unknown: retry with the same id or key.
    #[error("cannot {doing} {}: {source}", path.display())]
    Io {
        /// The action: `read`, `write`, `sync` …
        doing: &'static str,
        /// The file, relative to the data root.
        path: PathBuf,
        /// The system's error.
        #[source]
        source: Arc<io::Error>,
    },
    /// Another process held the lock until the deadline.
    #[error("{} is locked by {holder}; waited {waited_ms} ms", path.display())]
    Locked {
        /// The lock file.
        path: PathBuf,
        /// The process that holds the lock, as text for people: `pid 4242 (teamlog serve)`.
        holder: String,
        /// Time waited, in ms.
        waited_ms: u64,
    },
    /// The lock file was removed or replaced while this process held the lock. Nothing was acknowledged.
    #[error("{}", lock_lost(path, holder.as_deref(), *written))]
    LockLost {
        /// The lock file.
        path: PathBuf,
        /// The process that locked the new file, for people.
        holder: Option<String>,
        /// True if a group was written, so that the outcome is unknown; if false, nothing was written.
        written: bool,
    },
    /// Damage that recovery must not change.
    #[error("{} is damaged at byte {offset}{}: {why}", path.display(), .seq.map(|seq| format!(" (event {seq})")).unwrap_or_default())]
    Corrupt {
        /// The file, relative to the data root.
        path: PathBuf,
        /// Offset of the first wrong byte.
        offset: u64,
        /// Seq of the expected event, if known.
        seq: Option<u64>,
        /// Description of the damage.
        why: String,
    },
    /// Acknowledged events are missing from the log: an older state of its files was restored.
    #[error("{} was rolled back: {rollback}", path.display())]
    RolledBack {
        /// The log's directory, relative to the data root.
        path: PathBuf,
        /// The last event that is known to be acknowledged, and the last event of the log.
        rollback: Rollback,
    },
    /// A file was written by a newer teamlog.
    #[error("{} has format version {found}; this teamlog reads up to {known}", path.display())]
    UnsupportedFormat {
        /// The file.
        path: PathBuf,
        /// Version of the file.
        found: u32,
        /// Newest version that this program reads.
        known: u32,
    },
    /// A newer teamlog wrote an event of the log. This program cannot interpret the event, and so cannot fold the log.
    #[error("event {seq} ({kind}) was written by a newer teamlog: {why}")]
    Newer {
        /// Seq of the event.
        seq: u64,
        /// Kind of the event.
        kind: String,
        /// Description of the unknown part.
        why: String,
    },
    /// A file belongs to another log.
    #[error("{} belongs to another log: {why}", path.display())]
    ForeignFile {
        /// The file.
        path: PathBuf,
        /// Description of the difference.
        why: String,
    },
    /// The log declares other refs than the program uses ([`LogOptions::refs`](crate::LogOptions::refs)).
    #[error("{} declares the refs [{declared}], but this program works with [{expected}]", path.display())]
    OtherRefs {
        /// The file that declares the refs.
        path: PathBuf,
        /// The names that the log declares, separated by commas.
        declared: String,
        /// The names that the program uses, separated by commas.
        expected: String,
    },
    /// The directory holds no log.
    #[error("no log in {}", path.display())]
    NoLog {
        /// The directory.
        path: PathBuf,
    },
    /// The directory already holds a log.
    #[error("{} already holds a log", path.display())]
    LogExists {
        /// The directory.
        path: PathBuf,
    },
    /// A field of an event breaks a rule.
    #[error("{field} {rule}, but is {value}")]
    Invalid {
        /// Name of the field.
        field: Cow<'static, str>,
        /// Value of the field, shortened.
        value: String,
        /// The rule, as `must be …`.
        rule: String,
    },
    /// A value is larger than its limit.
    #[error("{what} has {len} bytes; the limit is {max}")]
    TooLarge {
        /// Name of the value.
        what: &'static str,
        /// Size of the value in bytes.
        len: u64,
        /// The limit in bytes.
        max: u64,
    },
    /// The journal that orders the log's groups failed or refused.
    #[error("the journal of this log {}: {why}", fault.text())]
    Journal {
        /// The reason.
        fault: JournalFault,
        /// Details, for people.
        why: String,
    },
    /// The operating system returned no random bits, so no id was made, and nothing was recorded.
    #[error("cannot get random bits: {0}; nothing was recorded")]
    Random(String),
    /// An earlier write or sync of this handle failed. The handle does nothing more; open the log again.
    #[error("an earlier write to this log failed ({0}): open the log again")]
    Poisoned(String),
    /// A projection refused an event. The rows of its set stay as of the event before.
    #[error("the projection {projection} stopped at event {seq}: {why}")]
    Projection {
        /// Name of the projection.
        projection: String,
        /// Seq of the refused event.
        seq: u64,
        /// The projection's reason.
        why: String,
    },
    /// A derived file is missing or damaged. The file can be rebuilt from the log.
    #[error("derived file {} is unusable: {why}", path.display())]
    Derived {
        /// The file.
        path: PathBuf,
        /// Description of the damage.
        why: String,
    },
}

/// Proof that acknowledged events are missing from a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rollback {
    /// Seq of the last event that was acknowledged.
    pub known_seq: u64,
    /// Id of the last acknowledged event, if the witness has it.
    pub known_id: Option<String>,
    /// Seq of the last event that the log has.
    pub last_seq: u64,
    /// The file that proves the loss, relative to the log's directory.
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
                "the log ends with event {last_seq}, but the file {witness} shows that event {known_seq} was acknowledged"
            ),
            false => write!(
                f,
                "event {known_seq} differs from the one that was acknowledged (see the file {witness})"
            ),
        }
    }
}

/// Declares the reasons for a journal's failure. Each reason has a stable code, and a text that follows `the journal of this log` in the
/// error's message.
macro_rules! faults {
    ($($(#[doc = $doc:literal])+ $fault:ident = $code:literal, $text:literal;)*) => {
        /// Reason for which a journal did not append or return groups.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum JournalFault {
            $($(#[doc = $doc])+ $fault,)*
        }

        impl JournalFault {
            /// Returns the stable code of the reason.
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
    /// Another host appended first: decide again.
    Conflict = "journal_busy", "took a group of another host first";
    /// The journal does not answer. Nothing was written: retry.
    Unreachable = "journal_unreachable", "is not available, so nothing was written";
    /// The group was sent, and may be recorded or not: retry with the same id or key.
    Unknown = "journal_unknown", "did not confirm the write, which may be recorded or not";
    /// The journal lacks groups that this host has.
    Behind = "journal_behind", "lacks events that this host has";
    /// The journal and this host have different histories.
    Forked = "journal_forked", "has another history than this host";
    /// The journal has trimmed groups that this host lacks.
    Trimmed = "journal_trimmed", "no longer has events that this host lacks";
    /// The journal holds too few copies, so nothing was written.
    NotDurable = "journal_not_durable", "holds too few copies, so nothing was written";
    /// The journal accepts nothing for this log.
    Refused = "journal_refused", "refuses the request";
    /// The log is open in the journal already.
    Opened = "journal_refused", "refuses the request";
    /// The clock of this host differs too much from the journal's clock. Nothing was written.
    ClockSkew = "clock_skew", "has a clock that differs too much from this host's, so nothing was written";
    /// Other hosts fold the log's events by a newer version. Nothing was written.
    NewerHost = "newer_host", "requires a newer teamlog, so nothing was written";
    /// Copying the log to the journal has not finished.
    Loading = "adoption_unfinished", "does not have all groups yet";
    /// The log was taken off the journal, and continues on one host alone.
    Left = "journal_left", "no longer orders its events";
    /// The log names another journal.
    OtherJournal = "journal_of_another", "is not the expected one";
    /// The system of servers that answers is not the known system: the answering system may hold a copy of the journal.
    Moved = "journal_moved", "is on another system of servers than before";
    /// The servers refuse this host: wrong password, certificate or rights.
    Denied = "journal_denied", "refuses this host";
    /// This program has no address for the journal.
    Unconfigured = "journal_not_configured", "is not configured";
    /// This program does not support this kind of journal.
    UnknownKind = "journal_not_configured", "is of a kind that this teamlog does not support";
    /// The operation changes a whole log, which is not possible while several hosts share the log.
    Shared = "journal_team", "is shared by several hosts";
}

/// Returns true if there was no space: the disk is full, or a quota or file size limit is reached.
pub fn is_no_space(kind: io::ErrorKind) -> bool {
    [
        io::ErrorKind::StorageFull,
        io::ErrorKind::QuotaExceeded,
        io::ErrorKind::FileTooLarge,
    ]
    .contains(&kind)
}

/// Returns true if the system forbids the access: a read-only file system, or no permission.
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
        true => "the write may be recorded or not",
        false => "nothing was written",
    };
    let path = path.display();
    format!("{path} was removed or replaced while this process held it{holder}; {outcome}")
}

impl Error {
    /// Returns true if a write found no space: the disk is full, or a quota or file size limit is reached.
    pub fn is_no_space(&self) -> bool {
        match self {
            Error::Io { source, .. } => self.is_write_error() && is_no_space(source.kind()),
            _ => false,
        }
    }

    /// Returns true if the error came from writing, so that reading may still work.
    pub(crate) fn is_write_error(&self) -> bool {
        match self {
            Error::Io { doing, .. } => {
                let reads = ["read", "list", "stat"].contains(doing);
                !reads || self.is_read_only()
            }
            _ => false,
        }
    }

    /// Returns true if the system forbids writing: a read-only file system, or no permission.
    pub(crate) fn is_read_only(&self) -> bool {
        matches!(self, Error::Io { source, .. } if is_not_permitted(source.kind()))
    }

    /// Returns true for a failed sync, after which the content of the disk is unknown. A failed durable replacement counts as a failed
    /// sync, unless the disk is full or read-only.
    pub fn is_sync_error(&self) -> bool {
        match self {
            Error::Io { doing: "sync", .. } => true,
            Error::Io { doing: REPLACE, .. } => !self.is_no_space() && !self.is_read_only(),
            _ => false,
        }
    }

    /// Creates an error of the journal with details for people.
    pub fn journal(fault: JournalFault, why: impl Into<String>) -> Error {
        let why = why.into();
        Error::Journal { fault, why }
    }

    /// Returns the reason if the journal failed or refused; this host's log is then unchanged.
    pub fn journal_fault(&self) -> Option<JournalFault> {
        match self {
            Error::Journal { fault, .. } => Some(*fault),
            _ => None,
        }
    }

    /// Returns true if another host appended first, so that deciding again may succeed.
    pub fn is_conflict(&self) -> bool {
        self.journal_fault() == Some(JournalFault::Conflict)
    }

    /// Returns a copy of the error for another caller in the same group.
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
    /// Creates an error for a field that breaks a rule.
    pub(crate) fn invalid(
        field: impl Into<Cow<'static, str>>,
        value: impl Into<String>,
        rule: impl Into<String>,
    ) -> Error {
        let (field, value, rule) = (field.into(), value.into(), rule.into());
        Error::Invalid { field, value, rule }
    }
    /// Creates an error for a value above its limit.
    pub(crate) fn too_large(what: &'static str, len: u64, max: u64) -> Error {
        Error::TooLarge { what, len, max }
    }
    /// Creates an error for a file of a newer version.
    pub(crate) fn unsupported(path: impl Into<PathBuf>, found: u32, known: u32) -> Error {
        let path = path.into();
        Error::UnsupportedFormat { path, found, known }
    }
    /// Creates an error for a file of another log.
    pub(crate) fn foreign(path: impl Into<PathBuf>, why: impl Into<String>) -> Error {
        let (path, why) = (path.into(), why.into());
        Error::ForeignFile { path, why }
    }
    /// Creates an error for a directory without a log.
    pub(crate) fn no_log(path: impl Into<PathBuf>) -> Error {
        Error::NoLog { path: path.into() }
    }
    /// Creates an error for a damaged file.
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

    /// Wraps an I/O error with the action and the file.
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
