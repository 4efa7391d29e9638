//! The files of a subscription, in `subscriptions/` of the team's directory.
//!
//! `NAME.json` is the durable part. It is replaced whole, and synced. `NAME.delivery` is the part that a power loss may remove
//! or damage: it is replaced without a sync. `NAME.runner` describes the daemon that runs a program per event, and is not synced
//! either. `NAME.lock` is locked while the files change, and stays when the subscription is
//! deleted, so that two processes never lock different files. `NAME.deleted` has the last epoch of a deleted subscription.
//! Each content file has the digest of its second line in the first line.

use super::runner::SubscriptionRunner;
use super::state::{Delivery, Subscription, SubscriptionState};
use crate::handle::team::Team;
use crate::prelude::*;
use serde::de::DeserializeOwned;
use teamlog_engine::internals::receipt::hex_digest;
use teamlog_engine::storage::{HeldLock, LockError};

/// Name of the directory of subscriptions in a team's directory.
pub const SUBSCRIPTIONS_DIR: &str = "subscriptions";
/// End of the name of a durable file.
const KEPT: &str = ".json";
/// End of the name of the file with the lease and the delivered events.
const DELIVERY: &str = ".delivery";
/// End of the name of the file with the last epoch of a deleted subscription.
const DELETED: &str = ".deleted";
/// End of the name of the file about the daemon that runs the subscription.
const RUNNER: &str = ".runner";
/// Maximum size of a file of a subscription, in bytes.
const BYTES_MAX: u64 = 8 << 20;

/// The files of one subscription, or of all subscriptions of a team.
pub(crate) struct SubscriptionFiles<'a> {
    storage: &'a dyn Storage,
    team_dir: &'a Path,
    lock_deadline: Duration,
}

/// The files of a subscription under its lock.
pub(crate) struct LockedFiles<'a> {
    files: SubscriptionFiles<'a>,
    name: &'a str,
    _lock: Box<dyn HeldLock>,
}

impl<'a> SubscriptionFiles<'a> {
    pub fn new(team: &'a Team) -> SubscriptionFiles<'a> {
        SubscriptionFiles {
            lock_deadline: team.options.lock_deadline,
            ..SubscriptionFiles::below(team.log.storage().as_ref(), team.log.dir())
        }
    }

    /// Returns the files in a team's directory, for callers that only read.
    pub fn below(storage: &'a dyn Storage, team_dir: &'a Path) -> SubscriptionFiles<'a> {
        SubscriptionFiles {
            storage,
            team_dir,
            lock_deadline: Duration::ZERO,
        }
    }

    fn dir(&self) -> PathBuf {
        self.team_dir.join(SUBSCRIPTIONS_DIR)
    }

    fn path(&self, name: &str, end: &str) -> PathBuf {
        self.dir().join(format!("{name}{end}"))
    }

    /// Returns the path of the durable file of a subscription.
    pub fn durable_file(&self, name: &str) -> PathBuf {
        self.path(name, KEPT)
    }

    /// Reads the description of the daemon that runs the subscription. A damaged file counts as missing.
    pub fn runner(&self, name: &str) -> Option<SubscriptionRunner> {
        let bytes = self.bytes(&self.path(name, RUNNER)).ok()??;
        parsed(&bytes)
    }

    /// Returns the names of all subscriptions, sorted.
    pub fn names(&self) -> Result<Vec<String>> {
        let (dir, storage) = (self.dir(), self.storage);
        let found = storage.stat(&dir).map_err(Error::io("look at", &dir))?;
        if found.is_none() {
            return Ok(Vec::new());
        }
        let names = storage.list(&dir).map_err(Error::io("list", &dir))?;
        // A subscription whose durable file was removed still has the other file. It is damaged.
        let names = names.iter().filter_map(|name| {
            name.strip_suffix(KEPT)
                .or_else(|| name.strip_suffix(DELIVERY))
        });
        let names = names.filter(|name| names::check_new("name", name).is_ok());
        let names: BTreeSet<&str> = names.collect();
        Ok(names.into_iter().map(str::to_owned).collect())
    }

    /// Reads a subscription; `None` if it does not exist.
    ///
    /// # Errors
    /// `subscription_damaged`; I/O.
    pub fn read(&self, name: &str) -> Result<Option<SubscriptionState>> {
        let path = self.path(name, KEPT);
        let Some(bytes) = self.bytes(&path)? else {
            return match self.is_without_durable_file(name)? {
                true => Err(damaged(name, &path).into()),
                false => Ok(None),
            };
        };
        let kept: Subscription = parsed(&bytes).ok_or_else(|| damaged(name, &path))?;
        let delivery = self.bytes(&self.path(name, DELIVERY))?;
        let delivery: Option<Delivery> = delivery.and_then(|bytes| parsed(&bytes));
        Ok(Some(SubscriptionState::new(kept, delivery)))
    }

    /// Returns true if a subscription without its durable file was not deleted: deleting removes the durable file last.
    fn is_without_durable_file(&self, name: &str) -> Result<bool> {
        let path = self.path(name, DELIVERY);
        let found = self.storage.stat(&path);
        Ok(found.map_err(Error::io("look at", &path))?.is_some())
    }

    fn bytes(&self, path: &Path) -> Result<Option<Vec<u8>>> {
        match self.storage.read(path, BYTES_MAX) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            // A file of this size was not written by this program.
            Err(error) if error.kind() == ErrorKind::FileTooLarge => Ok(Some(Vec::new())),
            bytes => Ok(Some(bytes.map_err(Error::io("read", path))?)),
        }
    }

    /// Locks a subscription. Creates the directory of subscriptions if it is missing.
    pub fn lock(self, name: &'a str) -> Result<LockedFiles<'a>> {
        let (dir, storage) = (self.dir(), self.storage);
        storage
            .create_dir_below(self.team_dir, &dir)
            .and_then(|()| storage.sync_dir(self.team_dir))
            .map_err(Error::io("create", &dir))?;
        let path = self.path(name, ".lock");
        let wait = self.lock_deadline;
        let locked = storage.lock(&path, wait).map_err(|error| match error {
            LockError::Busy(holder) => Error::Locked {
                path: path.clone(),
                holder,
                waited_ms: u64::try_from(wait.as_millis()).unwrap_or(u64::MAX),
            },
            LockError::Io(source) => Error::io("lock", &path)(source),
        })?;
        Ok(LockedFiles {
            files: self,
            name,
            _lock: locked,
        })
    }

    /// Locks an existing subscription, and reads it.
    ///
    /// # Errors
    /// `subscription_not_found`, `subscription_damaged`; I/O.
    pub fn open(self, name: &'a str) -> Result<(LockedFiles<'a>, SubscriptionState)> {
        names::check_known("name", name)?;
        let missing = |files: &SubscriptionFiles<'_>| {
            let known = files.names().unwrap_or_default();
            unknown(name, &known)
        };
        let path = self.path(name, KEPT);
        let found = self.storage.stat(&path);
        let is_missing = found.map_err(Error::io("look at", &path))?.is_none();
        if is_missing && !self.is_without_durable_file(name)? {
            return Err(missing(&self).into());
        }
        let locked = self.lock(name)?;
        match locked.files.read(name)? {
            Some(state) => Ok((locked, state)),
            None => Err(missing(&locked.files).into()),
        }
    }
}

impl LockedFiles<'_> {
    pub fn read(&self) -> Result<Option<SubscriptionState>> {
        self.files.read(self.name)
    }

    /// Returns the names of all subscriptions of the team.
    pub fn names(&self) -> Result<Vec<String>> {
        self.files.names()
    }

    /// Makes the durable part durable, then writes the other part.
    pub fn keep(&self, state: &SubscriptionState) -> Result<()> {
        self.write(KEPT, &state.kept, true)?;
        self.deliver(state)
    }

    /// Writes the part that a power loss may remove.
    pub fn deliver(&self, state: &SubscriptionState) -> Result<()> {
        self.write(DELIVERY, &state.delivery, false)
    }

    /// Writes or removes the description of the daemon that runs the subscription.
    pub fn keep_runner(&self, runner: Option<&SubscriptionRunner>) -> Result<()> {
        match runner {
            Some(runner) => self.write(RUNNER, runner, false),
            None => self.remove_file(RUNNER),
        }
    }

    fn remove_file(&self, end: &str) -> Result<()> {
        let path = self.files.path(self.name, end);
        match self.files.storage.remove_file(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            removed => Ok(removed.map_err(Error::io("remove", &path))?),
        }
    }

    fn write(&self, end: &str, part: &impl Serialize, durable: bool) -> Result<()> {
        let path = self.files.path(self.name, end);
        let failed = |error: serde_json::Error| {
            let path = path.clone();
            Error::io("write", path)(std::io::Error::other(error))
        };
        let line = serde_json::to_string(part).map_err(failed)?;
        let text = format!("{}\n{line}\n", hex_digest(line.as_bytes()));
        let storage = self.files.storage;
        let written = storage.replace(&path, text.as_bytes(), durable);
        Ok(written.map_err(Error::io("write", path))?)
    }

    /// Returns the last epoch of a deleted subscription of this name, 0 if there was none.
    pub fn last_epoch(&self) -> Result<u64> {
        let bytes = self.files.bytes(&self.files.path(self.name, DELETED))?;
        Ok(bytes.and_then(|bytes| parsed(&bytes)).unwrap_or_default())
    }

    /// Removes the subscription. Keeps its last epoch, so that a later subscription of this name has other epochs. The durable part
    /// goes last, so that a crash leaves a whole subscription or none.
    pub fn remove(&self, epoch: u64) -> Result<()> {
        self.write(DELETED, &epoch, true)?;
        let (dir, storage) = (self.files.dir(), self.files.storage);
        for end in [RUNNER, DELIVERY, KEPT] {
            self.remove_file(end)?;
        }
        let synced = storage.sync_dir(&dir);
        Ok(synced.map_err(Error::io("sync", &dir))?)
    }
}

/// Parses a file. Returns `None` if the digest does not match.
fn parsed<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    let text = str::from_utf8(bytes).ok()?;
    let (digest, line) = text.split_once('\n')?;
    let line = line.strip_suffix('\n')?;
    let is_right = hex_digest(line.as_bytes()) == digest;
    is_right.then(|| serde_json::from_str(line).ok()).flatten()
}

fn damaged(name: &str, path: &Path) -> Refusal {
    let message = format!(
        "the file of subscription {name} is damaged or missing: {}",
        path.display()
    );
    let refusal = Refusal::new(Code::SubscriptionDamaged, message);
    refusal.field("name").detail("name", name).hint(
        "delete the subscription, and create it again after the last event that the consumer handled",
    )
}

pub(crate) fn unknown(name: &str, known: &[String]) -> Refusal {
    let meant = spelling::meant(name, known.iter().map(String::as_str));
    let also = meant.map_or_else(String::new, |meant| format!("; did you mean {meant}?"));
    let message = format!("no subscription {}{also}", shown(name));
    let refusal = Refusal::new(Code::SubscriptionNotFound, message).field("name");
    match meant {
        Some(meant) => refusal.detail("nearest", meant),
        None => refusal,
    }
}
