//! Where backups of a team were made: a note in the team's directory for each place, so that whoever finds the log damaged
//! knows where to look. A hint and no evidence: what is there says the backup itself.

use crate::operation::prelude::*;
use teamlog_engine::internals::receipt::hex_digest;
use teamlog_engine::storage::Storage;

/// The directory of the notes, within a team's.
const NOTES_DIR: &str = "backups";
/// A longer file is no note.
const NOTE_BYTES_MAX: u64 = 16 << 10;

#[derive(Debug, Serialize, Deserialize)]
struct Note {
    /// The directory that was given to `backup`, absolute.
    directory: PathBuf,
    /// When a backup was last made there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    made_at: Option<String>,
}

/// Notes that a backup of the team was made in that directory. Where nothing can be written, nobody misses it but the
/// doctor and who watches the daemon's numbers.
pub(crate) fn put(storage: &dyn Storage, dir: &Path, directory: &Path, now: Timestamp) {
    let mut note = Note {
        directory: directory.to_path_buf(),
        made_at: None,
    };
    let Ok(place) = serde_json::to_vec(&note) else {
        return;
    };
    // One file for each place, so that two backups at once do not lose each other's.
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

/// The directories that notes name, sorted.
pub(crate) fn directories(root: &Root, team: &str) -> Vec<PathBuf> {
    let found = all(root.storage().as_ref(), &team_dir(team));
    let mut found: Vec<PathBuf> = found.into_iter().map(|note| note.directory).collect();
    found.sort();
    found
}

/// When a backup of the team in that directory was last made, wherever that was.
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
