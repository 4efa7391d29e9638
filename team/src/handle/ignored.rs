//! `.gitignore` files that keep git away from logs: an older copy that git puts back would undo acknowledged events.
//!
//! Each team's directory ignores itself as a whole. The directory of all teams also ignores itself if it holds nothing
//! but teams; if it holds other files, only staging directories are ignored. Use `export` and `backup` to keep history
//! in a repository. A file that does not begin with our first line was written by the user and is left alone.
//!
//! The file in the directory of all teams also marks that directory as ours ([`is_own`]).

use crate::handle::prelude::*;
use crate::handle::root::{ACCEPTED_TOKENS_FILE, HOST_ID_FILE, TEAMS_DIR};
use crate::handle::staging;
use teamlog_engine::internals::layout::{EVENTS_DIR, LOG_FILE};
use teamlog_engine::storage::Storage;

/// Name of an ignore file.
pub const IGNORE_FILE: &str = ".gitignore";
/// First line of a file that may be replaced.
const OWN: &str = "# Written by teamlog, and replaced by it.";
/// Maximum size of an ignore file that is read.
const BYTES_MAX: u64 = 64 * 1024;

/// Patterns in a directory that is ours as a whole.
const ALL: &[&str] = &["*"];
/// Patterns for a `teams/` directory that also holds other files: `.gitignore` itself, accepted tokens, and teams that
/// are being created or purged.
const STAGING: &[&str] = &["/.accepted-tokens*", "/.gitignore", "/.new-*", "/.purged-*"];

/// Patterns in the data root: the files that a daemon writes there.
const ROOT: &[&str] = &["/runtime.json", "/.runtime.json.new"];

/// A file that git reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IgnoreFile {
    /// Path, relative to the data root.
    pub path: PathBuf,
    /// Required content.
    pub text: String,
    /// True if nothing has to be written: the content is right, or a user wrote the file.
    pub settled: bool,
}

fn text(lines: &[&str]) -> String {
    format!("{OWN}\n{}\n", lines.join("\n"))
}

/// Returns the ignore file of the data root, which the daemon writes if there is none.
pub fn of_root() -> String {
    text(ROOT)
}

/// Returns true if an ignore file is ours: it begins with our line.
pub fn is_own(bytes: &[u8]) -> bool {
    bytes.starts_with(OWN.as_bytes())
}

fn look(storage: &dyn Storage, dir: &Path, lines: &[&str]) -> Result<IgnoreFile> {
    let path = dir.join(IGNORE_FILE);
    let text = text(lines);
    let found = storage.stat(&path).map_err(Error::io("look at", &path))?;
    let settled = match found {
        None => false,
        // A file that cannot be read, or is a link, is not ours either.
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

/// Updates the ignore files in a root of an older version. Costs one `stat` of the team's file if the files are
/// current.
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

/// Returns true if a directory's ignore file is as long as an ignore file that ignores everything.
fn is_all(storage: &dyn Storage, dir: &Path) -> bool {
    let found = storage.look(&dir.join(IGNORE_FILE)).ok().flatten();
    found.is_some_and(|found| found.len == text(ALL).len() as u64)
}

fn beside_teams(storage: &dyn Storage) -> Result<IgnoreFile> {
    let teams = Path::new(TEAMS_DIR);
    let whole = look(storage, teams, ALL)?;
    // A directory that once was ignored as a whole stays so, even if other files are put there.
    match whole.settled || holds_only_teams(storage)? {
        true => Ok(whole),
        false => look(storage, teams, STAGING),
    }
}

/// Returns true if the directory of all teams holds only teams and the files that belong to them.
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

    /// Writes the ignore files that are missing or of an older version.
    pub fn write_ignore_files(&self, team: &str) -> Result<()> {
        let files = self.ignore_files(team)?;
        files
            .iter()
            .try_for_each(|file| settle(self.storage().as_ref(), file))
    }
}
