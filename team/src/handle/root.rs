//! A data root: the teams that lie in it.

pub use crate::command::Authenticated;
use crate::handle::background::Background;
use crate::handle::batch::Batch;
use crate::handle::ignored;
use crate::handle::notes::Notes;
use crate::handle::past_folds::PastFolds;
use crate::handle::prelude::*;
use crate::handle::resident::{Pause, Resident, Residents};
use crate::projections::live::fold_version;
use teamlog_engine::IdSource;
use teamlog_engine::internals::layout::{EVENTS_DIR, LOG_FILE};
use teamlog_engine::journal::Journals;
use teamlog_engine::limits::SEGMENT_BYTES_MAX;
use teamlog_engine::storage::{FileSystemKind, Files, Space};
use teamlog_engine::{Clock, Identity, LogOptions, RandomIds, SystemClock, internals::Witness};

/// The directory of the teams in a root.
pub const TEAMS_DIR: &str = "teams";
/// The file, in the directory of all teams. No name of a team begins with a dot.
pub const ACCEPTED_TOKENS_FILE: &str = ".accepted-tokens";
/// The file with the id by which journals know this data root as a host, in the directory of the teams. No name of a team begins with
/// a dot.
pub const HOST_ID_FILE: &str = ".host-id";
/// The file in a team's directory, and in the root, by which a daemon says where it listens.
pub const RUNTIME_FILE: &str = "runtime.json";

/// What a root needs from outside.
#[derive(Debug, Clone)]
pub struct RootOptions {
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
    /// Random bits.
    pub ids: Arc<dyn IdSource>,
    /// How long to wait for a team's lock.
    pub lock_deadline: Duration,
    /// See [`LogOptions::segment_bytes_max`].
    pub segment_bytes_max: u64,
    /// See [`LogOptions::boot`].
    pub boot: Option<[u8; 16]>,
    /// Opens the journals that order the logs of teams on several hosts; without it such teams can only be read.
    pub journals: Option<Arc<dyn Journals>>,
    /// Hears what the teams of the root have to say beside their answers.
    pub notes: Notes,
    /// Who proved to be that agent, where that was asked: they reach no other team, and what is recorded is recorded as
    /// theirs, and nothing that says that another agent does it.
    pub authenticated: Option<Authenticated>,
    /// For a process that stays: what carries out checks of whole teams behind the answers.
    pub background: Option<Arc<dyn Background>>,
    /// For a process that stays: how many states of the past it folds at a time. Default none: as many as are asked for.
    pub past_folds: Option<Arc<PastFolds>>,
    /// For a process that stays: the commands that end it and start it again, a line each. A team that it may not write
    /// any more says so.
    pub restart: Option<String>,
}

impl Default for RootOptions {
    /// The machine's clock and random bits, 10 s, 64 MiB.
    fn default() -> RootOptions {
        RootOptions {
            clock: Arc::new(SystemClock),
            ids: Arc::new(RandomIds),
            lock_deadline: Duration::from_secs(10),
            segment_bytes_max: SEGMENT_BYTES_MAX,
            boot: None,
            journals: None,
            notes: Notes::default(),
            authenticated: None,
            background: None,
            past_folds: None,
            restart: None,
        }
    }
}

impl RootOptions {
    /// What its logs are opened with.
    pub(crate) fn of_logs(&self) -> LogOptions {
        LogOptions {
            clock: self.clock.clone(),
            ids: self.ids.clone(),
            lock_deadline: self.lock_deadline,
            segment_bytes_max: self.segment_bytes_max,
            fold_version: fold_version(),
            boot: self.boot,
            journals: self.journals.clone(),
            ..LogOptions::default()
        }
    }
}

/// A data root. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Root {
    storage: Arc<dyn Storage>,
    /// The same storage where it is a directory tree.
    files: Option<Arc<Files>>,
    options: RootOptions,
    /// The teams that stay open, where they do.
    residents: Option<Arc<Residents>>,
    /// The batch that its commands belong to.
    batch: Option<Batch>,
}

impl Root {
    /// Opens an existing directory as a data root.
    pub fn open(path: &Path, options: RootOptions) -> Result<Root> {
        let files = Files::open(path).map_err(Error::io("open", path))?;
        Ok(Root::of_files(files, options))
    }
    /// The same, after making the directory if it is missing: for what creates teams (`init`, imports).
    pub fn create(path: &Path, options: RootOptions) -> Result<Root> {
        let files = Files::create(path).map_err(Error::io("create", path))?;
        Ok(Root::of_files(files, options))
    }
    /// The root that a handle belongs to, without what stays open.
    pub fn of_team(team: &Team) -> Root {
        Root {
            files: team.files.clone(),
            ..Root::on(team.log.storage().clone(), team.options.clone())
        }
    }
    fn of_files(files: Files, options: RootOptions) -> Root {
        let files = Arc::new(files);
        Root {
            files: Some(files.clone()),
            ..Root::on(files, options)
        }
    }
    /// A root on any storage.
    pub fn on(storage: Arc<dyn Storage>, options: RootOptions) -> Root {
        Root {
            storage,
            files: None,
            options,
            residents: None,
            batch: None,
        }
    }
    /// The same root for a process that stays: the writer of each team is kept between commands, lock and state
    /// included, and shared by all handles.
    #[must_use]
    pub fn resident(self) -> Root {
        Root {
            residents: Some(Arc::default()),
            ..self
        }
    }
    /// The same root and the same open teams, for a caller with options of its own.
    #[must_use]
    pub fn with_options(&self, options: RootOptions) -> Root {
        Root {
            options,
            ..self.clone()
        }
    }
    /// A batch of a team whose writer stays and is open; `None` where it is not.
    pub fn batch(&self, team: &str) -> Option<Batch> {
        let resident = self.residents.as_ref()?.of(team);
        let log = resident.log()?;
        Some(Batch::new(resident, log))
    }
    /// The same root, whose commands belong to a batch.
    #[must_use]
    pub fn in_batch(self, batch: Option<Batch>) -> Root {
        Root { batch, ..self }
    }
    /// Closes the teams that stay open: all is synced and unlocked. The next command opens its team again.
    ///
    /// # Errors
    /// The log's, the first one; the others are closed all the same.
    pub fn close(&self) -> Result<()> {
        self.residents.as_ref().map_or(Ok(()), |all| all.close())
    }
    /// Gives the lock of a team back, where its writer stays, and keeps it so while the pause lives: for another process
    /// that is to have the team for itself.
    ///
    /// # Errors
    /// `sync_failed`: what the disk holds is not known, so that this process must end first.
    pub fn give_way(&self, team: &str) -> Result<Option<Pause>> {
        let pause = self.pause(team);
        if let Some(pause) = &pause {
            pause.guard(&self.options, team, || Ok(()))?;
        }
        Ok(pause)
    }
    /// Keeps the writer of a team away while the pause lives, where one stays: for what has no handle of the team.
    pub(crate) fn pause(&self, team: &str) -> Option<Pause> {
        let residents = self.residents.as_ref()?;
        Some(residents.of(team).pause())
    }
    #[cfg(test)]
    pub(crate) fn residents(&self) -> Option<&Residents> {
        self.residents.as_deref()
    }
    /// Makes the names of its teams durable.
    pub(crate) fn sync_teams(&self) -> Result<()> {
        let synced = self.storage.sync_dir(Path::new(TEAMS_DIR));
        Ok(synced.map_err(Error::io("sync", TEAMS_DIR))?)
    }
    /// Refuses a name for a new team that breaks the rule or is taken.
    pub(crate) fn check_new(&self, team: &str) -> Result<()> {
        names::check_new("team", team)?;
        let found = self.find(team)?;
        found.map_or(Ok(()), |_| Err(team_exists(team).into()))
    }
    /// The storage.
    pub fn storage(&self) -> &Arc<dyn Storage> {
        &self.storage
    }
    /// What it was opened with.
    pub fn options(&self) -> &RootOptions {
        &self.options
    }
    /// Whether a directory of that name holds segments: it was a team once, whatever became of its identity.
    pub(crate) fn holds_segments(&self, team: &str) -> bool {
        let events = team_dir(team).join(EVENTS_DIR);
        matches!(self.storage.stat(&events), Ok(Some(_)))
    }
    /// The names of the teams, sorted. Skips what is no team: names that break the rule, directories without a log.
    pub fn teams(&self) -> Result<Vec<String>> {
        let dir = Path::new(TEAMS_DIR);
        if !self.holds_teams()? {
            return Ok(Vec::new());
        }
        let mut names = self.storage.list(dir).map_err(Error::io("list", dir))?;
        names.retain(|name| names::check_known("team", name).is_ok());
        let mut teams = Vec::with_capacity(names.len());
        for name in names {
            match Identity::load(self.storage.as_ref(), &team_dir(&name)) {
                Err(Error::NoLog { .. }) if self.trace_of_log(&name)?.is_none() => {}
                // A team that cannot be opened is still a team; whoever opens it is told why.
                _ => teams.push(name),
            }
        }
        Ok(teams)
    }
    /// The team that is meant where none is named: the only one that was not closed.
    ///
    /// # Errors
    /// `invalid_input` where there is none, or where there are several, which the hint names; I/O.
    pub fn only_team(&self) -> Result<String> {
        let teams = self.teams()?;
        let open: Vec<&String> = teams.iter().filter(|team| !self.is_closed(team)).collect();
        if let [team] = open.as_slice() {
            return Ok((*team).clone());
        }
        let hint = match (teams.is_empty(), open.is_empty()) {
            // The caller knows if one may lie elsewhere.
            (true, _) => "there is no team yet".to_owned(),
            (false, true) => {
                let teams = teams.join(", ");
                format!("every team was closed, and is meant only by its name: {teams}")
            }
            (false, false) => {
                let open: Vec<&str> = open.into_iter().map(String::as_str).collect();
                format!("known teams: {}", open.join(", "))
            }
        };
        let refusal = Refusal::new(Code::InvalidInput, "team is required").field("team");
        Err(refusal.hint(hint).into())
    }

    /// Whether a team was closed. One whose state cannot be read is open: whoever opens it is told why.
    pub fn is_closed(&self, team: &str) -> bool {
        let closed = |mut team: Team| team.query(|live, _| Ok(live.is_closed()?));
        self.team(team).and_then(closed).unwrap_or(false)
    }
    /// Opens a team.
    pub fn team(&self, name: &str) -> Result<Team> {
        match self.find(name)? {
            Some(team) => Ok(team),
            None => Err(self.unknown(name)?.into()),
        }
    }

    /// Refuses another team than that of the agent that the caller proved to be.
    fn check_reach(&self, name: &str) -> Result<(), Refusal> {
        match &self.options.authenticated {
            Some(Authenticated { team, .. }) if team != name => {
                let (team, name) = (shown(team), shown(name));
                let message = format!("team must be {team}, that of the token, but is {name}");
                Err(Refusal::new(Code::TeamNotFound, message).field("team"))
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn find(&self, name: &str) -> Result<Option<Team>> {
        names::check_known("team", name)?;
        self.check_reach(name)?;
        if let Some(batch) = self.batch.as_ref().filter(|batch| batch.team() == name) {
            let (log, resident) = (batch.log().clone(), batch.resident().clone());
            return Ok(Some(Team {
                batch: Some(batch.clone()),
                ..self.handle(log, Some(resident))
            }));
        }
        if let Some((log, resident)) = self.residents.as_ref().and_then(|all| all.log(name)) {
            let log = log.with_options(self.log_options());
            return Ok(Some(self.handle(log, Some(resident))));
        }
        match Log::open(self.storage.clone(), &team_dir(name), self.log_options()) {
            Ok(log) => {
                let resident = self.residents.as_ref().map(|all| all.of(name));
                Ok(Some(self.handle(log, resident)))
            }
            Err(Error::NoLog { .. }) => match self.trace_of_log(name)? {
                Some(why) => {
                    let path = team_dir(name).join(LOG_FILE);
                    Err(Error::corrupt(path, 0, None, why).into())
                }
                None => Ok(None),
            },
            Err(error) => Err(error.into()),
        }
    }

    fn handle(&self, log: Log, resident: Option<Arc<Resident>>) -> Team {
        Team {
            files: self.files.clone(),
            ..Team::new(log, self.options.clone(), resident)
        }
    }

    /// Returns the trace of a log in a directory without `log.json`: segments, or a witness of its last event.
    fn trace_of_log(&self, name: &str) -> Result<Option<String>> {
        let dir = team_dir(name);
        let events = dir.join(EVENTS_DIR);
        let segments = match self.storage.stat(&events) {
            Err(error) if error.kind() == ErrorKind::NotADirectory => false,
            stat => stat.map_err(Error::io("stat", events))?.is_some(),
        };
        if segments {
            return Ok(Some("it is missing, though there are segments".to_owned()));
        }
        let witness = Witness::read(self.storage.as_ref(), &dir);
        Ok(witness.map(|witness| {
            let seq = witness.seq;
            format!(
                "the log is gone, though its event {seq} was acknowledged (the file lock says so); to bring it back, move this \
                 directory out of teams and run: teamlog restore BACKUPS {name}"
            )
        }))
    }

    pub(crate) fn log_options(&self) -> LogOptions {
        self.options.of_logs()
    }

    /// What the root lies on; `None` in memory.
    pub(crate) fn file_system(&self) -> Option<std::io::Result<FileSystemKind>> {
        self.files.as_ref().map(|files| files.file_system())
    }
    /// How full that is; `None` in memory.
    pub(crate) fn space(&self) -> Option<std::io::Result<Space>> {
        self.files.as_ref().map(|files| files.space())
    }

    /// Refuses a file system on which two processes could both hold the lock, or a sync might reach no disk.
    pub(crate) fn check_file_system(&self) -> Result<()> {
        let Some(files) = &self.files else {
            return Ok(());
        };
        match files.file_system().map_err(Error::io("stat", "."))? {
            FileSystemKind::Local => Ok(()),
            FileSystemKind::Network(name) => {
                let local = format!("on a local file system, but lies on {name}");
                Err(unsafe_file_system(&local).into())
            }
        }
    }

    /// Makes the directory of the teams if it is missing, and tells git to leave it alone.
    pub(crate) fn make_teams(&self) -> Result<()> {
        let teams = Path::new(TEAMS_DIR);
        if !self.holds_teams()? {
            let made = self.storage.create_dir(teams);
            made.map_err(Error::io("create", teams))?;
            let synced = self.storage.sync_dir(Path::new(""));
            synced.map_err(Error::io("sync", "."))?;
        }
        ignored::write_beside_teams(self.storage.as_ref())
    }

    /// The directory tree that it is; `None` in memory.
    pub(crate) fn files(&self) -> Option<&Files> {
        self.files.as_deref()
    }

    pub(crate) fn holds_teams(&self) -> Result<bool> {
        let stat = self.storage.stat(Path::new(TEAMS_DIR));
        match stat.map_err(Error::io("stat", TEAMS_DIR))? {
            None => Ok(false),
            Some(stat) if stat.is_dir => Ok(true),
            Some(_) => {
                let message = "data_root must hold teams as a directory, but teams is a file";
                let refusal = Refusal::new(Code::InvalidInput, message);
                Err(refusal.field("data_root").into())
            }
        }
    }

    fn unknown(&self, name: &str) -> Result<Refusal> {
        let teams = self.teams()?;
        let message = format!("team must name a team of this data root, but is {name:?}");
        let refusal = Refusal::new(Code::TeamNotFound, message).field("team");
        let meant = spelling::meant(name, teams.iter().map(String::as_str));
        let known = format!("known teams: {}", teams.join(", "));
        let refusal = match meant {
            _ if teams.is_empty() => refusal,
            None => refusal.hint(known),
            Some(meant) => refusal
                .hint(format!("did you mean {meant}? {known}"))
                .detail("nearest", meant),
        };
        Ok(refusal.detail("team", name).detail("known", teams))
    }
}

/// `must` says where a data root must lie, and what is wrong.
pub(crate) fn unsafe_file_system(must: &str) -> Refusal {
    Refusal::new(
        Code::UnsafeFileSystem,
        format!("the data root must lie {must}"),
    )
    .hint("a durable log needs local locks and syncs; --allow-network-fs overrides")
}

pub(crate) fn team_exists(team: &str) -> Refusal {
    let message = format!("team must be new, but {team:?} exists");
    let refusal = Refusal::new(Code::TeamExists, message).field("team");
    refusal.detail("team", team)
}

pub(crate) fn team_dir(name: &str) -> PathBuf {
    Path::new(TEAMS_DIR).join(name)
}
