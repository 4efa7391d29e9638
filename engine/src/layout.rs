//! The files and directories of a log, by name, and the events that the log itself records.
//!
//! It imports nothing, so that whatever looks at a log's files may import it.

/// The log's identity: it decides which log is in charge of the directory.
pub const LOG_FILE: &str = "log.json";
/// How far the log is known to be durable.
pub const HEAD_FILE: &str = "head";
/// What a writer locks; never deleted.
pub const LOCK_FILE: &str = "lock";
/// The directory of segments.
pub const EVENTS_DIR: &str = "events";
/// The digests of sealed segments that were hashed before.
pub const DIGESTS_FILE: &str = "digests";
/// How far the log has followed its journal, where it has one.
pub const JOURNAL_FILE: &str = "journal";
/// The id of the event by which this host takes the log off its journal.
pub(crate) const LEAVING_FILE: &str = "leaving";
/// The directory of what was cut off because a crash left it incomplete.
pub const QUARANTINE_DIR: &str = "quarantine";
/// The directory of originals: files as they were before the log was changed as a whole.
pub const ARCHIVE_DIR: &str = "archive";
/// What a conversion builds in `archive/` has a name that begins so; the new log's id follows.
pub(crate) const CONVERSION_PREFIX: &str = ".new-";
/// Where a salvage builds the new log.
pub(crate) const SALVAGE_DIR: &str = "salvage";
/// What a cut leaves of a segment, before it takes the segment's place.
pub(crate) const SHORTENED_FILE: &str = "shortened";

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
/// The kind of the event with which a converted log goes on.
pub const CONVERTED: &str = "log_converted";
/// The kind of the event with which a restored log goes on.
pub const RESTORED: &str = "log_restored";
/// The kind of the event from which on a journal orders the log.
pub const JOURNAL_ADOPTED: &str = "log_journal_adopted";
/// The kind of the event behind which it no longer does.
pub const JOURNAL_LEFT: &str = "log_journal_left";
