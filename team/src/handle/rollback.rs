//! Detects a rollback from the derived files if the log has no witness. Logs of older versions have no witness, and a lock
//! file can be lost.

use crate::handle::prelude::*;
use crate::projections::live::known_end::known_end;
use teamlog_engine::Rollback;

/// Returns the rollback of the log if derived files contain events after the reader's head. Returns `None` if the log has a
/// witness, because the witness is more exact.
pub(crate) fn shown_by_files(log: &Log, reader: &Reader) -> Result<Option<Rollback>> {
    if reader.is_end_known() {
        return Ok(None);
    }
    let last_seq = reader.head().last_seq;
    let known = known_end(log)?.filter(|known| known.seq > last_seq);
    Ok(known.map(|known| Rollback {
        known_seq: known.seq,
        known_id: known.id.map(|id| id.to_string()),
        last_seq,
        witness: known.file.to_owned(),
    }))
}

/// Returns the reader. Marks it as rolled back if derived files show a rollback.
pub(crate) fn checked(log: &Log, reader: Reader) -> Result<Reader> {
    let Some(rollback) = shown_by_files(log, &reader)? else {
        return Ok(reader);
    };
    // Reads the head again, because another process may have recorded events after the log was read
    // and before the derived files were read.
    let now = log.peek()?;
    match now.head().last_seq >= rollback.known_seq {
        true => Ok(now),
        false => Ok(now.with_rollback(log.rolled_back(rollback.clone()).to_string(), rollback)),
    }
}
