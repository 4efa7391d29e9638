//! `.gitignore` files that keep git away from logs. An older copy of a log, put back by git, would undo acknowledged events.
//!
//! Each team's directory is ignored as a whole. The directory of all teams is also ignored as a whole if it contains only teams.
//! Otherwise, only the staging directories in that directory are ignored. To keep history in a repository, use `export` and
//! `backup`. An ignore file without teamlog's first line was written by the user and is left alone.
//!
//! The file in the directory of all teams also marks that directory as teamlog's own ([`is_own`]).

use crate::handle::prelude::*;
use crate::handle::root::{ACCEPTED_TOKENS_FILE, HOST_ID_FILE, TEAMS_DIR};
use crate::handle::staging;
use teamlog_engine::internals::layout::{EVENTS_DIR, LOG_FILE};
use teamlog_engine::storage::Storage;

/// Name of an ignore file.
pub const IGNORE_FILE: &str = ".gitignore";
/// First line of every file that teamlog writes and may replace.
const OWN: &str = "# Written by teamlog, and replaced by it.";
/// Maximum size of an ignore file that is read, in bytes.
const BYTES_MAX: u64 = 64 * 1024;

/// Patterns for a directory that is ignored as a whole.
const ALL: &[&str] = &["*"];
/// Patterns for a `teams/` directory that also contains other files. The patterns name `.gitignore` itself, the accepted
/// tokens, and teams that are being created or purged.
const STAGING: &[&str] = &["/.accepted-tokens*", "/.gitignore", "/.new-*", "/.purged-*"];

/// Patterns for the data root. The patterns name the files that a daemon writes into the root.
const ROOT: &[&str] = &["/runtime.json", "/.runtime.json.new"];

/// A `.gitignore` file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IgnoreFile {
    /// Path, relative to the data root.
    pub path: PathBuf,
    /// Required content.
    pub text: String,
    /// True if nothing has to be written: the content is right, or the user wrote the file.
    pub settled: bool,
}

fn text(lines: &[&str]) -> String {
    format!("{OWN}\n{}\n", lines.join("\n"))
}

/// Returns the content of the data root's ignore file. The daemon writes that file if it is missing.
pub fn of_root() -> String {
    text(ROOT)
}

/// Returns true if teamlog wrote this ignore file, so that the file begins with teamlog's first line.
pub fn is_own(bytes: &[u8]) -> bool {
    bytes.starts_with(OWN.as_bytes())
}

fn look(storage: &dyn Storage, dir: &Path, lines: &[&str]) -> Result<IgnoreFile> {
    let path = dir.join(IGNORE_FILE);
    let text = text(lines);
    let found = storage.stat(&path).map_err(Error::io("look at", &path))?;
    let settled = match found {
        None => false,
        // A link, or a file that cannot be read, is treated like a file of the user.
        Some(_) => storage
            .read(&path, BYTES_MAX)
            .map_or(true, |bytes| bytes == text.as_bytes() || !is_own(&bytes)),
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

/// Writes the ignore file of a team's directory.
pub(crate) fn write_in(storage: &dyn Storage, dir: &Path) -> Result<()> {
    settle(storage, &look(storage, dir, ALL)?)
}

/// Writes the ignore file of the directory of all teams.
pub(crate) fn write_beside_teams(storage: &dyn Storage) -> Result<()> {
    settle(storage, &beside_teams(storage)?)
}

/// Updates the ignore files in a root of an older version. If the files are current, costs one `stat` of the team's file.
pub(crate) fn keep_current(storage: &dyn Storage, team: &Path) -> Result<()> {
    if team.parent() != Some(Path::new(TEAMS_DIR))
        || staging::is_staging(team)
        || is_all(storage, team)
    {
        return Ok(());
    }
    write_in(storage, team)?;
    match is_all(storage, Path::new(TEAMS_DIR)) {
        true => Ok(()),
        false => write_beside_teams(storage),
    }
}

/// Returns true if a directory's ignore file has the length of a file that ignores the whole directory.
fn is_all(storage: &dyn Storage, dir: &Path) -> bool {
    let found = storage.look(&dir.join(IGNORE_FILE)).ok().flatten();
    found.is_some_and(|found| found.len == text(ALL).len() as u64)
}

fn beside_teams(storage: &dyn Storage) -> Result<IgnoreFile> {
    let teams = Path::new(TEAMS_DIR);
    let whole = look(storage, teams, ALL)?;
    // Keeps ignoring a whole directory, even if it has other files now.
    match whole.settled || holds_only_teams(storage)? {
        true => Ok(whole),
        false => look(storage, teams, STAGING),
    }
}

/// Returns true if the directory of all teams contains only teams and teamlog's own files.
fn holds_only_teams(storage: &dyn Storage) -> Result<bool> {
    let teams = Path::new(TEAMS_DIR);
    let names = storage.list(teams).map_err(Error::io("list", teams))?;
    let is_team = |dir: &Path| {
        let is_there = |name| matches!(storage.stat(&dir.join(name)), Ok(Some(_)));
        is_there(LOG_FILE) || is_there(EVENTS_DIR)
    };
    Ok(names.iter().all(|name| {
        let path = teams.join(name);
        let is_aside = [IGNORE_FILE, ACCEPTED_TOKENS_FILE, HOST_ID_FILE]
            .iter()
            .any(|aside| name.starts_with(aside))
            || staging::is_staging(&path);
        is_aside || is_team(&path)
    }))
}

impl Root {
    /// Returns the ignore files of a team and of the directory of all teams.
    pub fn ignore_files(&self, team: &str) -> Result<Vec<IgnoreFile>> {
        let storage = self.storage().as_ref();
        Ok(vec![
            beside_teams(storage)?,
            look(storage, &team_dir(team), ALL)?,
        ])
    }

    /// Writes the ignore files that are missing or come from an older version.
    pub fn write_ignore_files(&self, team: &str) -> Result<()> {
        let files = self.ignore_files(team)?;
        files
            .iter()
            .try_for_each(|file| settle(self.storage().as_ref(), file))
    }
}
