//! Putting a log that was built within the directory in the place of the one that is there.
//!
//! `log.json` decides: once it names the new log, the old log's segments are left over, and its head file is that of another
//! log. Whoever opens the log in that state takes the lock and finishes; the head is moved last, so it marks completion.

use crate::codec::SegmentHeader;
use crate::error::{Error, REPLACE, Result};
use crate::identity::{Format, Identity};
use crate::layout::{EVENTS_DIR, HEAD_FILE, LOG_FILE, SALVAGE_DIR};
use crate::segment::SegmentName;
use crate::storage::Storage;
use std::io::ErrorKind;
use std::path::Path;

/// Puts the new log in charge; it is complete and durable. From then on [`finish`] has to be called.
pub(crate) fn decide(storage: &dyn Storage, dir: &Path, identity: &Identity) -> Result<()> {
    let path = dir.join(LOG_FILE);
    storage
        .replace(&path, &identity.encode(), true)
        .map_err(Error::io(REPLACE, path))
}

/// Finishes a switch to the log of `identity`, if one was decided; says whether there was one. It can be repeated.
/// The lock is held.
pub(crate) fn finish(storage: &dyn Storage, dir: &Path, identity: &Identity) -> Result<bool> {
    if !is_owed(storage, dir, identity)? {
        return Ok(false);
    }
    let new = dir.join(SALVAGE_DIR);
    let head = new.join(HEAD_FILE);
    let (from, to) = (new.join(EVENTS_DIR), dir.join(EVENTS_DIR));
    let built = storage.list(&from).map_err(Error::io("list", &from))?;
    for name in storage.list(&to).map_err(Error::io("list", &to))? {
        let path = to.join(&name);
        let segment = [Format::Jsonl, Format::Binary]
            .into_iter()
            .any(|format| SegmentName::parse(&name, format).is_some());
        if segment && !built.contains(&name) && !belongs(storage, &path, identity) {
            storage
                .remove_file(&path)
                .map_err(Error::io("remove", path))?;
        }
    }
    for name in &built {
        let path = from.join(name);
        storage
            .rename(&path, &to.join(name))
            .map_err(Error::io("rename", path))?;
    }
    let sync = |dir: &Path| storage.sync_dir(dir).map_err(Error::io("sync", dir));
    sync(&to)?;
    sync(&from)?;
    storage
        .rename(&head, &dir.join(HEAD_FILE))
        .map_err(Error::io("rename", &head))?;
    sync(dir)?;
    sync(&new)?;
    clear(storage, dir)?;
    Ok(true)
}

/// Whether a switch to the log of `identity` was decided and not finished.
pub(crate) fn is_owed(storage: &dyn Storage, dir: &Path, identity: &Identity) -> Result<bool> {
    let new = dir.join(SALVAGE_DIR);
    match Identity::load(storage, &new) {
        Ok(built) if built == *identity => {}
        // An unreadable file does not show that nothing is left to do.
        Err(error @ Error::Io { .. }) => return Err(error),
        _ => return Ok(false),
    }
    let head = new.join(HEAD_FILE);
    let there = storage.stat(&head).map_err(Error::io("stat", head))?;
    Ok(there.is_some())
}

/// Removes what is left of a new log, whether it was put in charge or not.
pub(crate) fn clear(storage: &dyn Storage, dir: &Path) -> Result<()> {
    let new = dir.join(SALVAGE_DIR);
    match storage.remove_dir_all(&new) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(Error::io("remove", new)(error)),
        _ => storage.sync_dir(dir).map_err(Error::io("sync", dir)),
    }
}

fn belongs(storage: &dyn Storage, path: &Path, identity: &Identity) -> bool {
    storage.sealed(path).is_ok_and(|bytes| {
        SegmentHeader::decode(identity.format, &bytes)
            .is_ok_and(|(header, _)| header.log == identity.log.0)
    })
}
