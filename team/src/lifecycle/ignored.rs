//! What git is told to leave alone where a data root lies in a repository: tokens, locks, what is derived from the log and
//! what is still being written. The log itself stays: who wants it in a repository can have it there.
//!
//! A team's file is made with the team; one that is older gets it from `init` or `setup`. A file that begins with other
//! words was written by somebody else and is left as it is.

use crate::handle::root::TEAMS_DIR;
use crate::prelude::*;
use teamlog_engine::storage::Storage;

/// The file's name.
pub const IGNORE_FILE: &str = ".gitignore";
/// How a file begins that may be replaced.
const OWN: &str = "# Written by teamlog, and replaced by it.";
/// More than such a file has.
const BYTES_MAX: u64 = 64 * 1024;

/// In a team's directory.
const TEAM: &[&str] = &[
    "*.tmp",
    "/backups/",
    "/bootstrap/",
    "/dead-letter/",
    "/derived.lock",
    "/derived/",
    "/digests",
    "/inboxes/",
    "/lock",
    "/modes/",
    "/runtime.json",
    "/salvage/",
    "/shortened",
    "/tasks.new/",
    "/tasks/",
    "/team.json",
    "/threads/",
    "/views",
    "/views.synced",
    "/workers/",
];
/// In the directory of all teams: teams that are being made or removed.
const TEAMS: &[&str] = &["/.new-*", "/.purged-*"];

/// In the data root: what a daemon writes there.
const ROOT: &[&str] = &["/runtime.json", "/.runtime.json.new"];

/// A file that git reads, and whether it is as it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IgnoreFile {
    /// Where it lies, relative to the data root.
    pub path: PathBuf,
    /// What it should hold.
    pub text: String,
    /// Whether it is there: as it should be, or written by somebody else.
    pub settled: bool,
}

fn text(lines: &[&str]) -> String {
    format!("{OWN}\n{}\n", lines.join("\n"))
}

/// What git is told in the data root, by the daemon, where nobody tells it anything there.
pub fn of_root() -> String {
    text(ROOT)
}

fn look(storage: &dyn Storage, dir: &Path, lines: &[&str]) -> Result<IgnoreFile> {
    let path = dir.join(IGNORE_FILE);
    let text = text(lines);
    let found = storage.stat(&path).map_err(Error::io("look at", &path))?;
    let settled = match found {
        None => false,
        // One that cannot be read, or is a link, is not ours either.
        Some(_) => storage.read(&path, BYTES_MAX).map_or(true, |bytes| {
            bytes == text.as_bytes() || !bytes.starts_with(OWN.as_bytes())
        }),
    };
    Ok(IgnoreFile {
        path,
        text,
        settled,
    })
}

fn settle(storage: &dyn Storage, file: &IgnoreFile) -> Result<()> {
    if file.settled {
        return Ok(());
    }
    let written = storage.replace(&file.path, file.text.as_bytes(), false);
    Ok(written.map_err(Error::io("write", &file.path))?)
}

/// Writes the file of a team that lies in that directory.
pub(crate) fn write_in(storage: &dyn Storage, dir: &Path) -> Result<()> {
    settle(storage, &look(storage, dir, TEAM)?)
}

/// Writes the file of the directory of all teams.
pub(crate) fn write_beside_teams(storage: &dyn Storage) -> Result<()> {
    settle(storage, &look(storage, Path::new(TEAMS_DIR), TEAMS)?)
}

impl Root {
    /// The files that git should find beside a team.
    pub fn ignore_files(&self, team: &str) -> Result<Vec<IgnoreFile>> {
        let storage = self.storage().as_ref();
        Ok(vec![
            look(storage, Path::new(TEAMS_DIR), TEAMS)?,
            look(storage, &team_dir(team), TEAM)?,
        ])
    }

    /// Writes those that are missing or of an older version.
    pub fn write_ignore_files(&self, team: &str) -> Result<()> {
        let files = self.ignore_files(team)?;
        files
            .iter()
            .try_for_each(|file| settle(self.storage().as_ref(), file))
    }
}
