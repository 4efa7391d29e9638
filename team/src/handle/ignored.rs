//! The files that keep git away from logs: an older copy that git puts back would undo acknowledged events.
//!
//! Each team's directory ignores itself as a whole. The directory of all teams does so, too, if it holds nothing but teams; in
//! one that holds other files only staging directories are ignored. To keep history in a repository there are `export` and
//! `backup`. A file that does not begin with our line was written by the user and stays.
//!
//! The file in the directory of all teams also marks that directory as ours ([`is_own`]).

use crate::handle::prelude::*;
use crate::handle::root::{ACCEPTED_TOKENS_FILE, HOST_ID_FILE, TEAMS_DIR};
use crate::handle::staging;
use teamlog_engine::internals::layout::{EVENTS_DIR, LOG_FILE};
use teamlog_engine::storage::Storage;

/// The file's name.
pub const IGNORE_FILE: &str = ".gitignore";
/// First line of a file that may be replaced.
const OWN: &str = "# Written by teamlog, and replaced by it.";
/// More than such a file has.
const BYTES_MAX: u64 = 64 * 1024;

/// In a directory that is ours as a whole.
const ALL: &[&str] = &["*"];
/// In the directory of all teams if it holds other files as well: teams that are being made or removed, and this file.
const STAGING: &[&str] = &["/.accepted-tokens*", "/.gitignore", "/.new-*", "/.purged-*"];

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

/// Returns whether an ignore file is ours: it begins with our line.
pub fn is_own(bytes: &[u8]) -> bool {
    bytes.starts_with(OWN.as_bytes())
}

fn look(storage: &dyn Storage, dir: &Path, lines: &[&str]) -> Result<IgnoreFile> {
    let path = dir.join(IGNORE_FILE);
    let text = text(lines);
    let found = storage.stat(&path).map_err(Error::io("look at", &path))?;
    let settled = match found {
        None => false,
        // One that cannot be read, or is a link, is not ours either.
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

/// Writes the file of a team that lies in that directory.
pub(crate) fn write_in(storage: &dyn Storage, dir: &Path) -> Result<()> {
    settle(storage, &look(storage, dir, ALL)?)
}

/// Writes the file of the directory of all teams.
pub(crate) fn write_beside_teams(storage: &dyn Storage) -> Result<()> {
    settle(storage, &beside_teams(storage)?)
}

/// Brings the files up to date in a root that an older program made. A single look at the team's file if it is current.
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

/// Returns whether the ignore file of a directory has the length of one that ignores everything.
fn is_all(storage: &dyn Storage, dir: &Path) -> bool {
    let found = storage.look(&dir.join(IGNORE_FILE)).ok().flatten();
    found.is_some_and(|found| found.len == text(ALL).len() as u64)
}

fn beside_teams(storage: &dyn Storage) -> Result<IgnoreFile> {
    let teams = Path::new(TEAMS_DIR);
    let whole = look(storage, teams, ALL)?;
    // Once all is ignored it stays so, whatever else comes there.
    match whole.settled || holds_only_teams(storage)? {
        true => Ok(whole),
        false => look(storage, teams, STAGING),
    }
}

/// Returns whether the directory of all teams holds only teams and the files that belong to them.
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
    /// The files that git should find beside a team.
    pub fn ignore_files(&self, team: &str) -> Result<Vec<IgnoreFile>> {
        let storage = self.storage().as_ref();
        Ok(vec![
            beside_teams(storage)?,
            look(storage, &team_dir(team), ALL)?,
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
