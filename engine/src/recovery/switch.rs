//! Replaces a log by another log, which was built within its directory.
//!
//! `log.json` decides. After `log.json` names the new log, the segments of the old log are leftovers, and the head file still
//! belongs to the old log. The next process that opens the log takes the lock and finishes the switch. The head is moved last,
//! so a head of the new log shows that the switch is finished.

use crate::layout::SALVAGE_DIR;
use crate::prelude::*;

/// Makes the new log, which is complete and durable, the log of the directory. The caller must then call [`finish`].
pub(crate) fn decide(storage: &dyn Storage, dir: &Path, identity: &Identity) -> Result<()> {
    let path = dir.join(LOG_FILE);
    storage.named().replace(&path, &identity.encode())
}

/// Finishes a switch to the log of `identity`. Returns false if no switch was decided. The call can be repeated. The caller holds
/// the lock.
pub(crate) fn finish(storage: &dyn Storage, dir: &Path, identity: &Identity) -> Result<bool> {
    if !is_owed(storage, dir, identity)? {
        return Ok(false);
    }
    let new = dir.join(SALVAGE_DIR);
    let head = new.join(HEAD_FILE);
    let (from, to) = (new.join(EVENTS_DIR), dir.join(EVENTS_DIR));
    let built = storage.named().list(&from)?;
    for name in storage.named().list(&to)? {
        let path = to.join(&name);
        let segment = Format::ALL
            .into_iter()
            .any(|format| SegmentName::parse(&name, format).is_some());
        if segment && !built.contains(&name) && !belongs(storage, &path, identity) {
            storage.named().remove_file(&path)?;
        }
    }
    for name in &built {
        let path = from.join(name);
        storage.named().rename(&path, &to.join(name))?;
    }
    let sync = |dir: &Path| storage.named().sync_dir(dir);
    sync(&to)?;
    sync(&from)?;
    storage.named().rename(&head, &dir.join(HEAD_FILE))?;
    sync(dir)?;
    sync(&new)?;
    clear(storage, dir)?;
    Ok(true)
}

/// Returns true if a switch to the log of `identity` was decided and not finished.
pub(crate) fn is_owed(storage: &dyn Storage, dir: &Path, identity: &Identity) -> Result<bool> {
    let new = dir.join(SALVAGE_DIR);
    match Identity::load(storage, &new) {
        Ok(built) if built == *identity => {}
        // An unreadable file does not prove that the switch is finished.
        Err(error @ Error::Io { .. }) => return Err(error),
        _ => return Ok(false),
    }
    let head = new.join(HEAD_FILE);
    Ok(storage.named().stat(&head)?.is_some())
}

/// Removes the remaining parts of the directory in which the new log was built.
pub(crate) fn clear(storage: &dyn Storage, dir: &Path) -> Result<()> {
    storage.named().remove_dir_all(&dir.join(SALVAGE_DIR))?;
    storage.named().sync_dir(dir)
}

fn belongs(storage: &dyn Storage, path: &Path, identity: &Identity) -> bool {
    storage.sealed(path).is_ok_and(|bytes| {
        SegmentHeader::decode(identity.format, &bytes)
            .is_ok_and(|(header, _)| header.log == identity.log.0)
    })
}
