//! A team under construction in a staging directory. The directory is renamed when the team is complete, so that no incomplete team
//! is ever visible, even after a crash.

use crate::handle::ignored;
use crate::handle::prelude::*;
use crate::handle::staging::{Purpose, Staging};
use teamlog_engine::internals::storage::Deferred;
use teamlog_engine::{LogOptions, NewLog, Writer};

/// A team that is not visible yet. Dropping this value deletes the team.
pub(crate) struct StagedTeam {
    root: Root,
    name: String,
    staging: Staging,
    /// Storage that defers syncs until the rename, because the directory need not be durable before.
    storage: Deferred,
    settled: bool,
}

impl StagedTeam {
    /// Creates an empty log in a staging directory. The returned handle serves to fill the log. Drop the handle before
    /// [`StagedTeam::settle`].
    pub fn begin(
        root: &Root,
        name: &str,
        format: Format,
        origin: &str,
        anywhere: bool,
    ) -> Result<(StagedTeam, Team)> {
        let new = NewLog {
            name: name.to_owned(),
            format,
            origin: origin.to_owned(),
        };
        StagedTeam::begin_with(root, name, anywhere, |storage, dir, options| {
            Log::create(storage, dir, new, options)
        })
    }

    /// Like [`StagedTeam::begin`], but `create` makes the log.
    pub fn begin_with(
        root: &Root,
        name: &str,
        anywhere: bool,
        create: impl FnOnce(Arc<dyn Storage>, &Path, LogOptions) -> Result<Log, Error>,
    ) -> Result<(StagedTeam, Team)> {
        let staged = StagedTeam::reserve(root, name, anywhere)?;
        let storage = Arc::new(staged.storage.clone());
        let log = create(storage, staged.dir(), root.log_options())?;
        Ok((staged, Team::new(log, root.options().clone(), None)))
    }

    /// Imports a new team. `fill` records the team's events. Then the derived data is built, and the team gets its name. Returns
    /// `None` if another process has created a team of that name in the meantime.
    pub fn import<A>(
        root: &Root,
        name: &str,
        format: Option<Format>,
        anywhere: bool,
        fill: impl FnOnce(&Writer<()>) -> Result<A>,
    ) -> Result<Option<A>> {
        let format = format.unwrap_or_default();
        let (staged, mut team) = StagedTeam::begin(root, name, format, "import", anywhere)?;
        let writer = team.lock()?.into_writer(());
        let filled = fill(&writer)?;
        writer.close()?;
        // Building all derived data at once costs less than folding each event while it is recorded.
        team.rehydrate(Default::default(), &mut |_, _| {})?;
        drop(team);
        Ok(staged.settle()?.then_some(filled))
    }

    /// Reserves a staging directory for a log. The caller puts the log there.
    pub fn reserve(root: &Root, name: &str, anywhere: bool) -> Result<StagedTeam> {
        let storage = root.storage();
        root.make_teams()?;
        if !anywhere {
            root.check_file_system()?;
        }
        let staging = Staging::begin(root, Purpose::New, name)?;
        if !anywhere {
            staging.check_lock()?;
        }
        Ok(StagedTeam {
            root: root.clone(),
            name: name.to_owned(),
            staging,
            storage: Deferred::new(storage.clone()),
            settled: false,
        })
    }

    pub fn dir(&self) -> &Path {
        self.staging.dir()
    }

    /// Returns the storage on which to build the team. The storage defers syncs until [`StagedTeam::settle`].
    pub fn storage(&self) -> &Deferred {
        &self.storage
    }

    /// Gives the team its name. If another process took the name first, removes the staging directory and returns false.
    ///
    /// # Errors
    /// `team_exists` if a directory of that name is not a team; I/O errors.
    pub fn settle(mut self) -> Result<bool> {
        let to = team_dir(&self.name);
        ignored::write_in(&self.storage, self.dir())?;
        let synced = self.storage.sync_pending();
        synced.map_err(Error::io("sync", self.dir()))?;
        match self.root.storage().rename(self.dir(), &to) {
            Ok(()) => {
                self.settled = true;
                self.root.sync_teams()?;
                Ok(true)
            }
            Err(error) if in_the_way(error.kind()) => match self.root.find(&self.name)? {
                Some(_) => Ok(false),
                None => Err(self.obstructed(&to).into()),
            },
            Err(error) => Err(Error::io("rename", self.dir())(error).into()),
        }
    }

    fn obstructed(&self, to: &Path) -> Refusal {
        let to = to.display();
        let message =
            format!("{to} exists already, but holds no log: move it away, or choose another name");
        let refusal = Refusal::new(Code::TeamExists, message).field("team");
        refusal.detail("team", self.name.as_str())
    }
}

fn in_the_way(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::AlreadyExists | ErrorKind::DirectoryNotEmpty | ErrorKind::NotADirectory
    )
}

impl Drop for StagedTeam {
    fn drop(&mut self) {
        if !self.settled {
            // A staging directory that cannot be removed is harmless, because such a directory never counts as a team.
            let _ = self.root.storage().remove_dir_all(self.dir());
        }
    }
}
