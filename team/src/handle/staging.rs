//! Staging directories. A team is built in a staging directory before the team gets its name. A purged team is moved to a staging
//! directory until it is deleted. Names of staging directories are not valid as names of teams. Each staging directory has a lock
//! file next to it. The process that works in the directory holds the lock. If no process holds the lock, the directory is a
//! leftover of a killed process.

use crate::handle::prelude::*;
use crate::handle::root::{TEAMS_DIR, unsafe_file_system};
use teamlog_engine::internals::layout::{EVENTS_DIR, LOCK_FILE};
use teamlog_engine::storage::{HeldLock, LockError};

/// Purpose of a staging directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// A team is created, imported or restored.
    New,
    /// A team is purged.
    Purged,
}

const LOCK_ENDING: &str = ".lock";
/// Number of hex digits at the end of a staging directory's name.
const DIGITS: usize = 16;

impl Purpose {
    fn prefix(self) -> &'static str {
        match self {
            Purpose::New => ".new-",
            Purpose::Purged => ".purged-",
        }
    }
}

/// Returns true if a path is a staging directory or the lock file of a staging directory.
pub(crate) fn is_staging(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    let prefixes = [Purpose::New, Purpose::Purged].map(Purpose::prefix);
    name.is_some_and(|name| prefixes.iter().any(|prefix| name.starts_with(prefix)))
}

/// A staging directory in use by this process. Dropping this value releases the directory.
#[derive(Debug)]
pub(crate) struct Staging {
    root: Root,
    dir: PathBuf,
    _held: Box<dyn HeldLock>,
}

impl Staging {
    /// Reserves an unused name. The caller creates the directory.
    pub fn begin(root: &Root, purpose: Purpose, team: &str) -> Result<Staging> {
        let random = root.options().ids.random()?;
        let name = format!("{}{team}-{random:016x}", purpose.prefix());
        let dir = Path::new(TEAMS_DIR).join(name);
        Ok(Staging {
            // Waits for the lock, because a check of `doctor` can hold the lock briefly.
            _held: hold(root.storage().as_ref(), &dir, root.options().lock_deadline)?,
            root: root.clone(),
            dir,
        })
    }

    /// Refuses a file system on which a second handle gets the lock that this handle holds.
    pub fn check_lock(&self) -> Result<()> {
        let lock = lock_of(&self.dir);
        match self.root.storage().lock(&lock, Duration::ZERO) {
            Err(LockError::Busy(_)) => Ok(()),
            Err(LockError::Io(source)) => Err(Error::io("lock", lock)(source).into()),
            Ok(_) => {
                let why = "two handles got the same lock";
                Err(unsafe_file_system(why).into())
            }
        }
    }

    /// Returns the directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        // Removes the lock file before releasing the lock. After that, the file could belong to another process. A failure is harmless.
        let _ = self.root.storage().remove_file(&lock_of(&self.dir));
    }
}

fn lock_of(dir: &Path) -> PathBuf {
    let mut lock = dir.as_os_str().to_owned();
    lock.push(LOCK_ENDING);
    PathBuf::from(lock)
}

/// Takes the lock of a staging directory within `wait`. Then checks that the locked file is still at its path, because a
/// clean-up may have removed it.
fn hold(storage: &dyn Storage, dir: &Path, wait: Duration) -> Result<Box<dyn HeldLock>> {
    let path = lock_of(dir);
    loop {
        let held = match storage.lock(&path, wait) {
            Ok(held) => held,
            Err(LockError::Busy(holder)) => {
                return Err(Error::Locked {
                    path,
                    holder,
                    waited_ms: u64::try_from(wait.as_millis()).unwrap_or(u64::MAX),
                }
                .into());
            }
            Err(LockError::Io(source)) => return Err(Error::io("lock", path)(source).into()),
        };
        let there = storage.stat(&path).map_err(Error::io("stat", &path))?;
        if there.is_some_and(|stat| stat.identity == held.identity()) {
            return Ok(held);
        }
    }
}

/// A staging directory, or the remains of a staging directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Leftover {
    /// The directory, relative to the data root.
    pub path: String,
    /// Purpose of the directory.
    pub purpose: Purpose,
    /// The team.
    pub team: String,
    /// True if the directory holds a log that can be read.
    pub readable: bool,
    /// The process that works in the directory, if any. Such a directory is left alone.
    pub holder: Option<String>,
    /// True if the directory was removed.
    pub removed: bool,
}

/// Answer of `doctor clean`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CleanAnswer {
    /// `planned` without `yes`, `cleaned` with it, or `unchanged` if there is nothing to remove.
    #[schemars(extend("enum" = ["planned", "cleaned", "unchanged"]))]
    pub status: &'static str,
    /// All staging directories of the data root.
    pub leftovers: Vec<Leftover>,
}

impl Root {
    /// Returns the staging directories, sorted by name. Changes nothing.
    pub fn leftovers(&self) -> Result<Vec<Leftover>> {
        let teams = Path::new(TEAMS_DIR);
        if !self.holds_teams()? {
            return Ok(Vec::new());
        }
        let names = self.storage().list(teams);
        let names = names.map_err(Error::io("list", teams))?;
        let dir = |name| str::strip_suffix(name, LOCK_ENDING).unwrap_or(name);
        let mut dirs: Vec<&str> = names.iter().map(|name| dir(name)).collect();
        dirs.dedup();
        let mut leftovers = Vec::new();
        for name in dirs {
            if let Some((purpose, team)) = parse(name) {
                leftovers.push(self.leftover(name, purpose, team)?);
            }
        }
        Ok(leftovers)
    }

    /// Removes the staging directories of processes that have ended. Without `yes`, only lists these directories. Keeps directories
    /// that are in use.
    ///
    /// # Errors
    /// The first I/O error. An error does not stop the removal of other directories.
    pub fn clean(&self, yes: bool) -> Result<CleanAnswer> {
        let mut leftovers = self.leftovers()?;
        let mut status = "unchanged";
        // If a directory cannot be removed, the other directories are still removed.
        let mut failed = None;
        for leftover in &mut leftovers {
            if leftover.holder.is_some() {
                continue;
            }
            if !yes {
                status = "planned";
                continue;
            }
            match self.remove_leftover(Path::new(&leftover.path)) {
                Ok(holder) => {
                    leftover.removed = holder.is_none();
                    leftover.holder = holder;
                }
                Err(failure) => failed = failed.or(Some(failure)),
            }
            if leftover.removed {
                status = "cleaned";
            }
        }
        if status == "cleaned" {
            self.sync_teams()?;
        }
        failed.map_or(Ok(CleanAnswer { status, leftovers }), Err)
    }

    fn leftover(&self, name: &str, purpose: Purpose, team: &str) -> Result<Leftover> {
        let dir = Path::new(TEAMS_DIR).join(name);
        let mut holder = None;
        for lock in locks(&dir) {
            // Checks that the lock file exists, because locking a missing file would create it.
            let there = self.storage().stat(&lock);
            if there.is_ok_and(|stat| stat.is_some())
                && let Err(LockError::Busy(who)) = self.storage().lock(&lock, Duration::ZERO)
            {
                holder = Some(who);
            }
        }
        let readable = self.storage().list(&dir.join(EVENTS_DIR));
        Ok(Leftover {
            path: dir.to_string_lossy().into_owned(),
            purpose,
            team: team.to_owned(),
            readable: readable.is_ok_and(|names| !names.is_empty()),
            holder,
            removed: false,
        })
    }

    /// Removes a directory if no process works in it. Otherwise returns the process that holds the directory's lock.
    fn remove_leftover(&self, dir: &Path) -> Result<Option<String>> {
        let storage = self.storage();
        let [beside, inside] = locks(dir);
        let _beside = match hold(storage.as_ref(), dir, Duration::ZERO) {
            Ok(held) => held,
            Err(failure) => return busy(failure),
        };
        let there = storage.stat(&inside).ok().flatten();
        let _inside = match there.map(|_| storage.lock(&inside, Duration::ZERO)) {
            Some(Err(LockError::Busy(holder))) => return Ok(Some(holder)),
            Some(Ok(held)) => Some(held),
            _ => None,
        };
        let removed = match storage.remove_dir_all(dir) {
            // The entry can be a plain file that the user created.
            Err(error) if error.kind() == ErrorKind::NotADirectory => storage.remove_file(dir),
            removed => removed,
        };
        if let Err(error) = removed
            && error.kind() != ErrorKind::NotFound
        {
            return Err(Error::io("remove", dir)(error).into());
        }
        let removed = storage.remove_file(&beside);
        removed.map_err(Error::io("remove", beside))?;
        Ok(None)
    }
}

/// Returns the two locks of a process that works in a directory: the lock file beside the directory, and the team's own
/// lock.
fn locks(dir: &Path) -> [PathBuf; 2] {
    [lock_of(dir), dir.join(LOCK_FILE)]
}

fn busy(failure: Failure) -> Result<Option<String>> {
    match failure.engine() {
        Some(Error::Locked { holder, .. }) => Ok(Some(holder.clone())),
        _ => Err(failure),
    }
}

/// Splits the name of a staging directory into purpose and team.
fn parse(name: &str) -> Option<(Purpose, &str)> {
    [Purpose::New, Purpose::Purged]
        .into_iter()
        .find_map(|purpose| {
            let rest = name.strip_prefix(purpose.prefix())?;
            let (team, digits) = rest.rsplit_once('-')?;
            let random =
                digits.len() == DIGITS && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
            (random && names::check_known("team", team).is_ok()).then_some((purpose, team))
        })
}
