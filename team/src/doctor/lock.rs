//! The lock: can it be had now, and if not, who holds it?

use super::scene::Scene;
use super::{Check, Health};
use std::time::Duration;
use teamlog_engine::layout::LOCK_FILE;
use teamlog_engine::storage::LockError;

const NAME: &str = "lock";

pub(super) fn check(scene: &Scene<'_>) -> Check {
    let path = scene.dir.join(LOCK_FILE);
    let storage = scene.root.storage();
    // To lock a file that is missing would make it.
    match storage.stat(&path) {
        Ok(Some(stat)) if !stat.is_dir => {}
        Ok(_) => return Check::not_made(NAME, "there is no lock file"),
        Err(error) => return Check::not_made(NAME, &error.to_string()),
    }
    let free = storage
        .lock(&path, Duration::ZERO)
        .and_then(|_file| storage.lock_dir(&scene.dir, Duration::ZERO).map(drop));
    match free {
        Ok(()) => Check::healthy(NAME, "free: whoever writes next gets it at once"),
        Err(LockError::Busy(holder)) => {
            let summary = format!("held by {holder}; others wait for it");
            Check::new(NAME, Health::Warn, summary).detail("holder", holder)
        }
        Err(LockError::Io(error)) => Check::new(
            NAME,
            Health::Warn,
            format!("it cannot be taken from here: {error}"),
        ),
    }
}
