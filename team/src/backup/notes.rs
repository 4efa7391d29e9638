//! Notes about backups. For each directory with a backup, a file in the team's directory names that directory, so that
//! `doctor` can find backups of a damaged log. A note is only a hint: the content of a backup is read from the backup itself.

use crate::operation::prelude::*;
use teamlog_engine::internals::receipt::hex_digest;
use teamlog_engine::storage::Storage;

/// Directory of the notes, inside a team's directory.
const NOTES_DIR: &str = "backups";
/// Maximum size of a note in bytes. A longer file is not read.
const NOTE_BYTES_MAX: u64 = 16 << 10;

#[derive(Debug, Serialize, Deserialize)]
struct Note {
    /// Backup directory as an absolute path.
    directory: PathBuf,
    /// Time of the last backup in that directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    made_at: Option<String>,
}

/// Writes a note about a backup in `directory`. Ignores write errors, because only `doctor` and the daemon's metrics use the
/// notes.
pub(crate) fn put(storage: &dyn Storage, dir: &Path, directory: &Path, now: Timestamp) {
    let mut note = Note {
        directory: directory.to_path_buf(),
        made_at: None,
    };
    let Ok(place) = serde_json::to_vec(&note) else {
        return;
    };
    // Each backup directory has its own file, so that two concurrent backups do not overwrite each other's note.
    let name = hex_digest(&place).split_off(48);
    note.made_at = Some(now.to_string());
    let Ok(json) = serde_json::to_vec(&note) else {
        return;
    };
    let notes = dir.join(NOTES_DIR);
    let path = notes.join(format!("{name}.json"));
    let _ = storage
        .create_dir(&notes)
        .and_then(|()| storage.replace(&path, &json, false));
}

/// Returns the backup directories in the notes, sorted.
pub(crate) fn directories(root: &Root, team: &str) -> Vec<PathBuf> {
    let found = all(root.storage().as_ref(), &team_dir(team));
    let mut found: Vec<PathBuf> = found.into_iter().map(|note| note.directory).collect();
    found.sort();
    found
}

/// Returns the time of the team's last backup to any directory.
pub(crate) fn last_made(storage: &dyn Storage, dir: &Path) -> Option<Timestamp> {
    let made = all(storage, dir).into_iter().filter_map(|note| {
        let made_at = note.made_at?;
        Timestamp::parse(&made_at).ok()
    });
    made.max()
}

fn all(storage: &dyn Storage, dir: &Path) -> Vec<Note> {
    let notes = dir.join(NOTES_DIR);
    let names = storage.list(&notes).unwrap_or_default();
    let read = |name: &String| {
        let bytes = storage.read(&notes.join(name), NOTE_BYTES_MAX).ok()?;
        serde_json::from_slice(&bytes).ok()
    };
    names.iter().filter_map(read).collect()
}
