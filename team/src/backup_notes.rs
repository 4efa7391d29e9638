//! Where backups of a team were made: a note in the team's directory for each place, so that whoever finds the log damaged
//! knows where to look. A hint and no evidence: what is there says the backup itself.

use crate::root::{Root, team_dir};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use teamlog_engine::receipt::digest_of;
use teamlog_engine::storage::Storage;

/// The directory of the notes, within a team's.
const NOTES_DIR: &str = "backups";
/// A longer file is no note.
const NOTE_BYTES_MAX: u64 = 16 << 10;

#[derive(Debug, Serialize, Deserialize)]
struct Note {
    /// The directory that was given to `backup`, absolute.
    directory: PathBuf,
}

/// Notes that a backup of the team lies in that directory. Where nothing can be written, nobody misses it but the doctor.
pub(crate) fn put(storage: &dyn Storage, dir: &Path, directory: &Path) {
    let note = Note {
        directory: directory.to_path_buf(),
    };
    let Ok(json) = serde_json::to_vec(&note) else {
        return;
    };
    // One file for each place, so that two backups at once do not lose each other's.
    let name = digest_of(&json).split_off(48);
    let notes = dir.join(NOTES_DIR);
    let path = notes.join(format!("{name}.json"));
    if !matches!(storage.read(&path, NOTE_BYTES_MAX), Ok(there) if there == json) {
        let _ = storage
            .create_dir(&notes)
            .and_then(|()| storage.replace(&path, &json, false));
    }
}

/// The directories that notes name, sorted.
pub(crate) fn directories(root: &Root, team: &str) -> Vec<PathBuf> {
    let (storage, notes) = (root.storage(), team_dir(team).join(NOTES_DIR));
    let names = storage.list(&notes).unwrap_or_default();
    let read = |name: &String| {
        let bytes = storage.read(&notes.join(name), NOTE_BYTES_MAX).ok()?;
        let note: Note = serde_json::from_slice(&bytes).ok()?;
        Some(note.directory)
    };
    let mut found: Vec<PathBuf> = names.iter().filter_map(read).collect();
    found.sort();
    found
}
