//! Names of a log's files and directories, and kinds of the events that the log itself records.
//!
//! This module imports nothing, so that every module may import it.

/// File with the log's identity. The identity decides which log the directory holds.
pub const LOG_FILE: &str = "log.json";
/// File with the end of the durable log.
pub const HEAD_FILE: &str = "head";
/// File that a writer locks; never deleted.
pub const LOCK_FILE: &str = "lock";
/// Directory of the segments.
pub const EVENTS_DIR: &str = "events";
/// File with the digests of sealed segments that were hashed before.
pub const DIGESTS_FILE: &str = "digests";
/// File with the position up to which this host has read the log's journal, if there is a journal.
pub const JOURNAL_FILE: &str = "journal";
/// File with the ids of the events by which this host tried to take the log off its journal.
pub(crate) const LEAVING_FILE: &str = "leaving";
/// Directory of incomplete bytes that a crash left and recovery cut off.
pub const QUARANTINE_DIR: &str = "quarantine";
/// Directory of the original files from before a change of the whole log.
pub const ARCHIVE_DIR: &str = "archive";
/// Prefix of the directory in `archive/` in which a conversion builds the new log. The new log's id follows the prefix.
pub(crate) const CONVERSION_PREFIX: &str = ".new-";
/// Directory in which a salvage builds the new log.
pub(crate) const SALVAGE_DIR: &str = "salvage";
/// File with the part of a segment that remains after a cut, until this file replaces the segment.
pub(crate) const SHORTENED_FILE: &str = "shortened";

/// Directory of the rows of projections that programs register: one directory per set.
pub const PROJECTIONS_DIR: &str = "projections";

/// The actor of the events that the log itself records.
pub const ENGINE_ACTOR: &str = "teamlog";
/// The kind of the event that names a quarantine file.
pub const QUARANTINED: &str = "log_tail_quarantined";
/// The kind of the event that records a cut.
pub const CUT: &str = "log_cut";
/// The kind of the event that records a salvage.
pub const SALVAGED: &str = "log_salvaged";
/// The kind of the event that records that a rollback was accepted.
pub const ROLLED_BACK: &str = "log_rolled_back";
/// The kind of the first event after a conversion.
pub const CONVERTED: &str = "log_converted";
/// The kind of the first event after a restore.
pub const RESTORED: &str = "log_restored";
/// The kind of the event after which a journal orders the log.
pub const JOURNAL_ADOPTED: &str = "log_journal_adopted";
/// The kind of the event after which no journal orders the log.
pub const JOURNAL_LEFT: &str = "log_journal_left";
