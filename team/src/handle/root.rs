//! A data root and the teams in it.

pub use crate::command::Authenticated;
use crate::handle::background::Background;
use crate::handle::batch::Batch;
use crate::handle::ignored;
use crate::handle::notes::Notes;
use crate::handle::open_team::{OpenTeam, OpenTeams, Pause};
use crate::handle::past_folds::PastFolds;
use crate::handle::prelude::*;
use crate::handle::settlements::Settlements;
use crate::projections::live::fold_version;
use teamlog_engine::IdSource;
use teamlog_engine::internals::layout::{EVENTS_DIR, LOG_FILE};
use teamlog_engine::journal::Journals;
use teamlog_engine::limits::SEGMENT_BYTES_MAX;
use teamlog_engine::storage::{FileSystemKind, Files, Space};
use teamlog_engine::{Clock, Identity, LogOptions, RandomIds, SystemClock, internals::Witness};

/// Directory of the teams in a root.
pub const TEAMS_DIR: &str = "teams";
/// Name of the file of accepted tokens, in the directory of all teams. No team's name begins with a dot.
pub const ACCEPTED_TOKENS_FILE: &str = ".accepted-tokens";
/// Name of the file with the id of this data root as a host of journals. The file lies in the directory of all teams. No
/// team's name begins with a dot.
pub const HOST_ID_FILE: &str = ".host-id";
/// Name of the file with a daemon's address. A daemon writes this file into the team's directory and into the root.
pub const RUNTIME_FILE: &str = "runtime.json";

/// Options of a root.
#[derive(Debug, Clone)]
pub struct RootOptions {
    /// Clock.
    pub clock: Arc<dyn Clock>,
    /// Source of random bits.
    pub ids: Arc<dyn IdSource>,
    /// Time to wait for a team's lock.
    pub lock_deadline: Duration,
    /// See [`LogOptions::segment_bytes_max`].
    pub segment_bytes_max: u64,
    /// See [`LogOptions::boot`].
    pub boot: Option<[u8; 16]>,
    /// Opens the journals of teams with several hosts. If absent, teams with several hosts are read-only.
    pub journals: Option<Arc<dyn Journals>>,
    /// Collects the notes of the root's teams.
    pub notes: Notes,
    /// The authenticated agent, if any. This agent reaches only its own team, is the actor of all its events, and cannot record
    /// an event as another agent.
    pub authenticated: Option<Authenticated>,
    /// Runs checks of whole teams in the background. Only a long-running process sets this field.
    pub background: Option<Arc<dyn Background>>,
    /// Limit on folds of past states. Only a long-running process sets a limit.
    pub past_folds: Option<Arc<PastFolds>>,
    /// Acks of subscriptions that share one write. Only a long-running process sets this field.
    pub settlements: Option<Arc<Settlements>>,
    /// Commands that stop this process and start it again, one per line. Only a long-running process sets these commands. The error
    /// message of a team that the process can no longer write shows these commands.
    pub restart: Option<String>,
}

impl Default for RootOptions {
    /// Returns the default options: the machine's clock and random bits, a lock deadline of 10 s, segments of 64 MiB.
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
            settlements: None,
            restart: None,
        }
    }
}

impl RootOptions {
    /// Returns the options of the root's logs.
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
    /// The storage as a directory tree; `None` if the root is in memory.
    files: Option<Arc<Files>>,
    options: RootOptions,
    /// The open teams, if the teams of this root stay open.
    open_teams: Option<Arc<OpenTeams>>,
    /// The batch to which the commands of this root belong.
    batch: Option<Batch>,
}

impl Root {
    /// Opens an existing directory as a data root.
    pub fn open(path: &Path, options: RootOptions) -> Result<Root> {
        let files = Files::open(path).map_err(Error::io("open", path))?;
        Ok(Root::of_files(files, options))
    }
    /// Like [`Root::open`], but creates a missing directory. For commands that create teams (`init`, imports).
    pub fn create(path: &Path, options: RootOptions) -> Result<Root> {
        let files = Files::create(path).map_err(Error::io("create", path))?;
        Ok(Root::of_files(files, options))
    }
    /// Returns the data root of a handle, as a root without open teams.
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
    /// Returns a root on the given storage.
    pub fn on(storage: Arc<dyn Storage>, options: RootOptions) -> Root {
        Root {
            storage,
            files: None,
            options,
            open_teams: None,
            batch: None,
        }
    }
    /// Returns the root for a long-running process. Each team's writer, lock and state stay open between commands, and all
    /// handles share the open team.
    #[must_use]
    pub fn resident(self) -> Root {
        Root {
            open_teams: Some(Arc::default()),
            ..self
        }
    }
    /// Returns a root with the same open teams and with other options.
    #[must_use]
    pub fn with_options(&self, options: RootOptions) -> Root {
        Root {
            options,
            ..self.clone()
        }
    }
    /// Starts a batch for a team. Returns `None` if the team has no open writer.
    pub fn batch(&self, team: &str) -> Option<Batch> {
        let open_team = self.open_teams.as_ref()?.team(team);
        let log = open_team.log()?;
        Some(Batch::new(open_team, log))
    }
    /// Returns a root whose commands belong to the batch.
    #[must_use]
    pub fn in_batch(self, batch: Option<Batch>) -> Root {
        Root { batch, ..self }
    }
    /// Closes the open teams: syncs and unlocks their logs. The next command on a team opens that team again.
    ///
    /// # Errors
    /// The first error of a log. An error does not keep other logs open.
    pub fn close(&self) -> Result<()> {
        self.open_teams.as_ref().map_or(Ok(()), |all| all.close())
    }
    /// Releases a team's lock until the pause is dropped, so that another process can take the lock. Returns `None` if the teams
    /// of this root do not stay open.
    ///
    /// # Errors `sync_failed` if a sync failed: the content of the disk is unknown, so this process must end before another process
    /// takes the lock.
    pub fn give_way(&self, team: &str) -> Result<Option<Pause>> {
        let pause = self.pause(team);
        if let Some(pause) = &pause {
            pause.guard(&self.options, team, || Ok(()))?;
        }
        Ok(pause)
    }
    /// Keeps the writer of a team closed until the pause is dropped. Serves callers without a handle of the team. Returns `None` if
    /// the teams of this root do not stay open.
    pub(crate) fn pause(&self, team: &str) -> Option<Pause> {
        let open_teams = self.open_teams.as_ref()?;
        Some(open_teams.team(team).pause())
    }
    #[cfg(test)]
    pub(crate) fn open_teams(&self) -> Option<&OpenTeams> {
        self.open_teams.as_deref()
    }
    /// Syncs the directory of all teams, which makes the names of the teams durable.
    pub(crate) fn sync_teams(&self) -> Result<()> {
        let synced = self.storage.sync_dir(Path::new(TEAMS_DIR));
        Ok(synced.map_err(Error::io("sync", TEAMS_DIR))?)
    }
    /// Refuses a name for a new team if the name breaks the rule or is taken.
    pub(crate) fn check_new(&self, team: &str) -> Result<()> {
        names::check_new("team", team)?;
        let found = self.find(team)?;
        found.map_or(Ok(()), |_| Err(team_exists(team).into()))
    }
    /// Returns the storage.
    pub fn storage(&self) -> &Arc<dyn Storage> {
        &self.storage
    }
    /// Returns the options.
    pub fn options(&self) -> &RootOptions {
        &self.options
    }
    /// Returns true if the team's directory contains segments. In that case the directory was a team, even if the team's identity is lost.
    pub(crate) fn holds_segments(&self, team: &str) -> bool {
        let events = team_dir(team).join(EVENTS_DIR);
        matches!(self.storage.stat(&events), Ok(Some(_)))
    }
    /// Returns the names of the teams, sorted. Skips names that break the rule, and directories without a log.
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
                // Also lists a team that cannot be opened. Opening such a team reports the error.
                _ => teams.push(name),
            }
        }
        Ok(teams)
    }
    /// Returns the team for a command that names no team: the only team that is not closed.
    ///
    /// # Errors
    /// `invalid_input` if there is no team, or if there are several teams, which the hint lists; I/O errors.
    pub fn only_team(&self) -> Result<String> {
        let teams = self.teams()?;
        let open: Vec<&String> = teams.iter().filter(|team| !self.is_closed(team)).collect();
        if let [team] = open.as_slice() {
            return Ok((*team).clone());
        }
        let refusal = |message: &str| Refusal::new(Code::InvalidInput, message).field("team");
        let refusal = match (teams.is_empty(), open.is_empty()) {
            // The caller adds a hint if another root possibly contains teams.
            (true, _) => refusal("team is required").hint("there is no team yet"),
            (false, true) => {
                let teams = teams.join(", ");
                refusal("team is required").hint(format!(
                    "all teams are closed. To read a closed team, name it: {teams}"
                ))
            }
            (false, false) => {
                let open: Vec<&str> = open.into_iter().map(String::as_str).collect();
                let hint = format!("known teams: {}", open.join(", "));
                refusal(&format!("which team? {} are open", open.len()))
                    .hint(hint)
                    .detail("open", open)
            }
        };
        Err(refusal.into())
    }

    /// Returns true if a team was closed. Returns false if the team's state cannot be read; opening the team reports that error.
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

    /// Refuses every team except the authenticated agent's team.
    fn check_reach(&self, name: &str) -> Result<(), Refusal> {
        match &self.options.authenticated {
            Some(Authenticated { team, .. }) if team != name => {
                let (team, name) = (shown(team), shown(name));
                let message = format!("the token is for team {team}, not for {name}");
                Err(Refusal::new(Code::TeamNotFound, message).field("team"))
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn find(&self, name: &str) -> Result<Option<Team>> {
        names::check_known("team", name)?;
        self.check_reach(name)?;
        if let Some(batch) = self.batch.as_ref().filter(|batch| batch.team() == name) {
            let (log, open_team) = (batch.log().clone(), batch.open_team().clone());
            return Ok(Some(Team {
                batch: Some(batch.clone()),
                ..self.handle(log, Some(open_team))
            }));
        }
        if let Some((log, open_team)) = self.open_teams.as_ref().and_then(|all| all.log(name)) {
            let log = log.with_options(self.log_options());
            return Ok(Some(self.handle(log, Some(open_team))));
        }
        match Log::open(self.storage.clone(), &team_dir(name), self.log_options()) {
            Ok(log) => {
                let open_team = self.open_teams.as_ref().map(|all| all.team(name));
                Ok(Some(self.handle(log, open_team)))
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

    fn handle(&self, log: Log, open_team: Option<Arc<OpenTeam>>) -> Team {
        Team {
            files: self.files.clone(),
            ..Team::new(log, self.options.clone(), open_team)
        }
    }

    /// Returns a sign that a directory without `log.json` was a log: segments, or a witness of its last event.
    fn trace_of_log(&self, name: &str) -> Result<Option<String>> {
        let dir = team_dir(name);
        let events = dir.join(EVENTS_DIR);
        let segments = match self.storage.stat(&events) {
            Err(error) if error.kind() == ErrorKind::NotADirectory => false,
            stat => stat.map_err(Error::io("stat", events))?.is_some(),
        };
        if segments {
            return Ok(Some("it is missing, but there are segments".to_owned()));
        }
        let witness = Witness::read(self.storage.as_ref(), &dir);
        Ok(witness.map(|witness| {
            let seq = witness.seq;
            format!(
                "the log is missing, but its event {seq} was acknowledged (the file lock says so); to bring it back, move this \
                 directory out of teams and run: teamlog restore BACKUPS {name}"
            )
        }))
    }

    pub(crate) fn log_options(&self) -> LogOptions {
        self.options.of_logs()
    }

    /// Returns the kind of the root's file system; `None` if the root is in memory.
    pub(crate) fn file_system(&self) -> Option<std::io::Result<FileSystemKind>> {
        self.files.as_ref().map(|files| files.file_system())
    }
    /// Returns the free space of the root; `None` if the root is in memory.
    pub(crate) fn space(&self) -> Option<std::io::Result<Space>> {
        self.files.as_ref().map(|files| files.space())
    }

    /// Refuses a file system on which two processes could hold the lock at the same time, or on which a sync might not reach the
    /// disk.
    pub(crate) fn check_file_system(&self) -> Result<()> {
        let Some(files) = &self.files else {
            return Ok(());
        };
        match files.file_system().map_err(Error::io("stat", "."))? {
            FileSystemKind::Local => Ok(()),
            FileSystemKind::Network(name) => {
                let why = format!("it is on {name}, not on a local file system");
                Err(unsafe_file_system(&why).into())
            }
        }
    }

    /// Creates the directory of the teams and its ignore file, if they are missing.
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

    /// Returns the root's directory tree; `None` if the root is in memory.
    pub(crate) fn files(&self) -> Option<&Files> {
        self.files.as_deref()
    }

    pub(crate) fn holds_teams(&self) -> Result<bool> {
        let stat = self.storage.stat(Path::new(TEAMS_DIR));
        match stat.map_err(Error::io("stat", TEAMS_DIR))? {
            None => Ok(false),
            Some(stat) if stat.is_dir => Ok(true),
            Some(_) => {
                let message =
                    "the data root cannot be used: teams is a file instead of a directory";
                let refusal = Refusal::new(Code::InvalidInput, message);
                Err(refusal.field("data_root").into())
            }
        }
    }

    fn unknown(&self, name: &str) -> Result<Refusal> {
        let teams = self.teams()?;
        let message = match teams.is_empty() {
            true => format!("no team {name}"),
            false => format!("no team {name} (teams: {})", teams.join(", ")),
        };
        let refusal = Refusal::new(Code::TeamNotFound, message).field("team");
        let meant = spelling::meant(name, teams.iter().map(String::as_str));
        let refusal = match meant {
            None => refusal,
            Some(meant) => refusal
                .hint(format!("did you mean {meant}?"))
                .detail("nearest", meant),
        };
        Ok(refusal.detail("team", name).detail("known", teams))
    }
}

/// Returns the refusal for an unsafe file system.
pub(crate) fn unsafe_file_system(why: &str) -> Refusal {
    Refusal::new(
        Code::UnsafeFileSystem,
        format!("the data root is not safe for a log: {why}"),
    )
    .hint("keep the data root on a local file system; to use this file system anyway, pass --allow-network-fs")
}

pub(crate) fn team_exists(team: &str) -> Refusal {
    let message = format!("team {team:?} exists already");
    let refusal = Refusal::new(Code::TeamExists, message).field("team");
    refusal.detail("team", team)
}

pub(crate) fn team_dir(name: &str) -> PathBuf {
    Path::new(TEAMS_DIR).join(name)
}
