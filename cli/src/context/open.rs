//! Opens the data root, a team (now or at a past point), or a backup directory for a command.

use super::Context;
use crate::exit::{CommandError, Exit};
use crate::forward::{CATCH_UP, Remote, Repeat};
use crate::hint::Cause;
use crate::journals::KnownJournals;
use crate::when::{PastPoint, When};
use jiff::tz::TimeZone;
use std::ffi::OsStr;
use std::io::ErrorKind;
use std::path::Path;
use teamlog_team::engine::Point;
use teamlog_team::engine::{Clock, Error, JournalIdentity, Receipt, SystemClock, Timestamp};
use teamlog_team::worker::who::Who;
use teamlog_team::{BackupDir, Failure, Root, Team, names};

impl Context {
    /// Returns the team that the option names, else the team of the environment, else the only open team.
    pub fn team_named(&mut self, named: Option<String>) -> Result<String, CommandError> {
        match (named, self.env.var_set("TEAMLOG_TEAM")) {
            (Some(team), _) => Ok(team),
            // A name that is not UTF-8 is refused later, as an invalid team name.
            (None, Some(team)) => Ok(team.to_string_lossy().into_owned()),
            (None, None) => match self.remote()? {
                Some(remote) => Ok(remote.team().to_owned()),
                None => self.only_team(),
            },
        }
    }

    /// Returns true if the data root has a team `name`. For a daemon on another machine, compares with the team of the token.
    pub fn has_team(&self, name: &OsStr) -> bool {
        match self.remote() {
            Ok(Some(remote)) => name == remote.team(),
            _ => self.data().is_ok_and(|root| {
                root.teams()
                    .is_ok_and(|teams| teams.iter().any(|team| name == team.as_str()))
            }),
        }
    }

    /// Returns true if the team of the environment, or the only open team, has this agent.
    pub fn has_agent(&mut self, name: &str) -> bool {
        let crew = self
            .team_named(None)
            .and_then(|team| self.read(&team, Who::default()));
        crew.is_ok_and(|crew| crew.agents.iter().any(|agent| agent.agent == name))
    }

    fn only_team(&self) -> Result<String, CommandError> {
        let root = self.data()?;
        let only = root.only_team();
        let has_none = only.is_err() && root.teams().is_ok_and(|teams| teams.is_empty());
        only.map_err(|failure| {
            let error = CommandError::from(failure);
            match has_none {
                true => error.beside(self.hint(&Cause::NoTeamYet)),
                false => error.and_hint("name the team: -t NAME, or export TEAMLOG_TEAM=NAME"),
            }
        })
    }

    /// Checks the team against the receipt of `--last-receipt`, if set.
    pub fn check_last_receipt(&mut self, team: &str) -> Result<(), CommandError> {
        match self.last_receipt {
            Some(_) => self.team(team).map(|team| self.held = Some(team)),
            None => Ok(()),
        }
    }

    /// Returns the data root for a command that creates the team `team`. Creates the data root if it is missing.
    pub fn new_root(&mut self, team: &str) -> Result<Root, CommandError> {
        self.repeat = Some(Repeat::Same);
        // Check the team's name before creating a directory with this name.
        self.concerns(team)?;
        // If the caller has a receipt of the team, the team must exist.
        self.check_last_receipt(team)?;
        self.created()
    }

    pub fn journals(&self) -> &KnownJournals {
        &self.journals
    }

    /// Returns the identity of the journal for the log of a new team.
    pub fn journal(&self, name: &str) -> Result<JournalIdentity, CommandError> {
        let (id, journal) = self.journals.found(name)?;
        Ok(JournalIdentity {
            kind: journal.kind().to_owned(),
            id,
            segment_bytes_max: self.options.segment_bytes_max,
        })
    }

    /// Returns the data root. Creates it if it is missing.
    pub fn created(&self) -> Result<Root, CommandError> {
        self.check_local()?;
        self.prepare_teams()?;
        Root::create(self.data_root()?, self.options.clone()).map_err(|failure| {
            match missing(&failure) {
                true => self.no_directory("invalid_input", "cannot become one"),
                false => failure.into(),
            }
        })
    }

    pub fn team(&mut self, name: &str) -> Result<Team, CommandError> {
        self.concerns(name)?;
        self.freshen(name)?;
        let Some(last) = &self.last_receipt else {
            return self.opened(name);
        };
        // A missing log contradicts the receipt of `--last-receipt`.
        let team = self.opened(name).map_err(|error| match error.code() {
            "team_not_found" | "data_root_not_found" => gone(&last.receipt, name),
            _ => error,
        })?;
        team.still_holds(&last.receipt)?;
        Ok(team)
    }

    /// Reads new groups of other hosts if an option requires the read. Reads them only once per command.
    pub(super) fn freshen(&mut self, name: &str) -> Result<(), CommandError> {
        if let Some(known) = self.fresh.take() {
            return self.execute(&CATCH_UP, name, known).map(drop);
        }
        let Some(most) = self.max_stale.take() else {
            return Ok(());
        };
        // A daemon on another machine reads the journal all the time. Ask for its position only if an option needs the
        // position.
        match !self.is_remote && self.opened(name)?.is_newer_than(most) {
            true => Ok(()),
            false => self.execute(&CATCH_UP, name, None).map(drop),
        }
    }

    pub(super) fn opened(&self, name: &str) -> Result<Team, CommandError> {
        Ok(self.data()?.team(name)?)
    }

    /// Sets the team for errors and hints, and checks its name and its owner.
    pub fn concerns(&mut self, team: &str) -> Result<(), CommandError> {
        self.team = Some(team.to_owned());
        names::check_known("team", team)?;
        self.check_owner(team)
    }

    /// Returns the data root for work on a team that may be impossible to open.
    pub fn root(&mut self, team: &str) -> Result<Root, CommandError> {
        self.concerns(team)?;
        if self.last_receipt.is_some() {
            // Checking a receipt requires opening the team.
            self.team(team)?;
        }
        self.data()
    }

    /// Returns the data root for work that concerns no particular team.
    pub fn data(&self) -> Result<Root, CommandError> {
        self.check_local()?;
        let root = self.data_root()?;
        Root::open(root, self.options.clone()).map_err(|failure| match missing(&failure) {
            true if root.exists() => self.no_directory("invalid_input", "is none"),
            true => self.no_directory("data_root_not_found", "does not exist"),
            false => failure.into(),
        })
    }

    /// Opens a team, at a past point if `at` is set.
    pub fn team_at(&mut self, name: &str, at: Option<PastPoint>) -> Result<Team, CommandError> {
        let team = self.team(name)?;
        let Some(spot) = at else {
            return Ok(team);
        };
        let point = self.point(spot)?;
        let team = team.at(point)?;
        if let Some(moment) = team.moment() {
            self.stands_at(moment.seq, moment.time);
        }
        Ok(team)
    }

    /// Sets the past point that the answer describes.
    pub(super) fn stands_at(&mut self, seq: u64, time: Timestamp) {
        self.now = Some(time);
        if !self.out.is_json() {
            self.note(&format!("as of event {seq}, {time}"));
        }
    }

    /// Returns the daemon on another machine, if the environment names a daemon. `--data-root` takes precedence over the
    /// environment.
    pub fn remote(&self) -> Result<Option<Remote>, CommandError> {
        if !self.is_remote {
            return Ok(None);
        }
        let known = match self.remote.get() {
            Some(known) => known,
            None => {
                let found = Remote::from_env(&self.env)?;
                self.remote.get_or_init(|| found)
            }
        };
        Ok(Some(known.clone()))
    }

    /// Refuses a command that works only on the machine of the data root.
    pub fn check_local(&self) -> Result<(), CommandError> {
        if !self.is_remote {
            return Ok(());
        }
        let message = "this command needs the data root, but TEAMLOG_REMOTE names a daemon on another machine";
        let error = CommandError::new(Exit::Refused, "remote_unsupported", message);
        let hint = "run the command on the daemon's machine, unset TEAMLOG_REMOTE, or name a data root with --data-root";
        Err(error.or_hint(hint))
    }

    /// Returns a directory for backups. Creates it if it is missing. The directory must be outside of the data root.
    pub fn new_backup_dir(&mut self, dir: &Path) -> Result<BackupDir, CommandError> {
        Ok(BackupDir::create(
            dir,
            self.data_root()?,
            self.options.clone(),
        )?)
    }

    pub fn backup_dir(&mut self, dir: &Path) -> Result<BackupDir, CommandError> {
        let opened = BackupDir::open(dir, self.options.clone());
        opened.map_err(|failure| match missing(&failure) {
            true => {
                CommandError::invalid("directory", format!("{} holds no backups", dir.display()))
            }
            false => failure.into(),
        })
    }

    fn no_directory(&self, code: &str, but: &str) -> CommandError {
        let root = match self.data_root() {
            Ok(root) => root,
            Err(error) => return error,
        };
        let message = format!(
            "data_root must be a directory, but {} {but}",
            root.display()
        );
        CommandError::new(Exit::Refused, code, message).about("data_root")
    }

    pub fn point(&self, spot: PastPoint) -> Result<Point, CommandError> {
        let point = spot.resolve(SystemClock.now(), &self.zone());
        point.map_err(CommandError::usage)
    }

    pub fn time(&self, when: When) -> Result<Timestamp, CommandError> {
        let time = when.resolve(SystemClock.now(), &self.zone());
        time.map_err(CommandError::usage)
    }

    pub fn is_utc(&self) -> bool {
        self.utc
    }

    /// Returns the time zone for times of day: UTC with `--utc` or `TEAMLOG_UTC`, else the machine's zone.
    pub fn zone(&self) -> TimeZone {
        match self.is_utc() {
            true => TimeZone::UTC,
            false => TimeZone::try_system().unwrap_or(TimeZone::UTC),
        }
    }
}

/// Returns true if the failure means that the directory does not exist.
fn missing(failure: &Failure) -> bool {
    let kind = match failure.engine() {
        Some(Error::Io { source, .. }) => source.kind(),
        _ => return false,
    };
    matches!(
        kind,
        ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::AlreadyExists
    )
}

/// Makes the error for a log that is missing although a receipt proves that it existed.
fn gone(last: &Receipt, team: &str) -> CommandError {
    let message = format!(
        "team {team} is missing, but last_receipt proves that it had event {}",
        last.seq
    );
    CommandError::new(Exit::Damaged, "rolled_back", message).about("last_receipt")
}
