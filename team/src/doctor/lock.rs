//! The lock: can it be had now, and if not, who holds it?

use super::*;
use teamlog_engine::layout::LOCK_FILE;
use teamlog_engine::storage::LockError;

pub(super) fn check(seen: &Observed<'_>) -> Seen<Check> {
    let path = seen.dir.join(LOCK_FILE);
    let storage = seen.root.storage();
    // To lock a file that is missing would make it.
    let there = storage.stat(&path).map_err(said)?;
    if there.is_none_or(|stat| stat.is_dir) {
        return Err("there is no lock file".to_owned());
    }
    let free = storage
        .lock(&path, Duration::ZERO)
        .and_then(|_file| storage.lock_dir(&seen.dir, Duration::ZERO).map(drop));
    Ok(match free {
        Ok(()) => Check::healthy("free: whoever writes next gets it at once"),
        Err(LockError::Busy(holder)) => {
            let check = Check::warn(format!("held by {holder}; others wait for it"));
            check.details(json!({"holder": holder}))
        }
        Err(LockError::Io(error)) => Check::warn(format!("it cannot be taken from here: {error}")),
    })
}
