//! A backup directory. The directory is outside the data root and has one directory per team.

use crate::handle::root::RootOptions;
use crate::operation::prelude::*;
use std::path::Component;
use teamlog_engine::LogOptions;
use teamlog_engine::backup::Backup;
use teamlog_engine::internals::backup::MANIFEST_FILE;
use teamlog_engine::storage::{Files, Storage};
use teamlog_engine::verify::Report;

/// A backup directory. Cheap to clone.
#[derive(Debug, Clone)]
pub struct BackupDir {
    storage: Arc<dyn Storage>,
    /// Absolute path; `None` if the directory is in memory.
    pub(crate) path: Option<PathBuf>,
    pub(crate) options: RootOptions,
}

impl BackupDir {
    /// Opens an existing backup directory.
    pub fn open(path: &Path, options: RootOptions) -> Result<BackupDir> {
        let files = Files::open(path).map_err(Error::io("open", path))?;
        Ok(BackupDir::at(path, files, options))
    }

    fn at(path: &Path, files: Files, options: RootOptions) -> BackupDir {
        BackupDir {
            path: path.canonicalize().ok(),
            ..BackupDir::on(Arc::new(files), options)
        }
    }

    /// Like [`BackupDir::open`], but creates a missing directory. The directory must be outside `data_root`, so that the backup survives
    /// the loss of the data root.
    pub fn create(path: &Path, data_root: &Path, options: RootOptions) -> Result<BackupDir> {
        let root = data_root.canonicalize();
        let root = root.map_err(Error::io("open", data_root))?;
        let above = path.ancestors().find(|above| above.exists());
        let above = above.unwrap_or(Path::new(""));
        let rest = path.strip_prefix(above).unwrap_or(path);
        if rest.components().any(|part| part == Component::ParentDir) {
            let shown = path.display().to_string();
            let rule = "must not contain .. after a directory that does not exist";
            return Err(Refusal::invalid("directory", &shown, rule).into());
        }
        let here = match above == Path::new("") {
            true => Path::new("."),
            false => above,
        };
        // Checks the path before anything is created, and again after the directory exists.
        check_outside(path, here, &root)?;
        let files = Files::create(path).map_err(Error::io("create", path))?;
        check_outside(path, path, &root)?;
        Ok(BackupDir::at(path, files, options))
    }

    /// Returns a backup directory on the given storage.
    pub fn on(storage: Arc<dyn Storage>, options: RootOptions) -> BackupDir {
        BackupDir {
            storage,
            path: None,
            options,
        }
    }

    /// Returns the storage.
    pub fn storage(&self) -> &Arc<dyn Storage> {
        &self.storage
    }

    /// Returns the names of the teams with backups, sorted.
    pub fn teams(&self) -> Result<Vec<String>> {
        let here = Path::new("");
        let mut names = self.storage.list(here).map_err(Error::io("list", "."))?;
        names.retain(|name| names::check_known("team", name).is_ok());
        let mut found = Vec::new();
        for name in names {
            let path = Path::new(&name).join(MANIFEST_FILE);
            if matches!(self.storage.stat(&path), Ok(Some(_))) {
                found.push(name);
            }
        }
        Ok(found)
    }

    /// Returns the backup of a team. The directory may also itself be a backup. If the log of a team was replaced, the team has one
    /// backup per log; `log` selects one of these backups, and `None` selects the latest backup.
    ///
    /// # Errors
    /// `backup_not_found`, `invalid_input`; `Corrupt`, I/O.
    pub fn backup(&self, team: &str, log: Option<&str>) -> Result<Backup> {
        names::check_known("team", team)?;
        let Some(log) = log else {
            return match self.newest(team)? {
                Some(backup) => Ok(backup),
                None => Err(self.no_backup(team)?.into()),
            };
        };
        let backups = self.backups(team)?;
        if backups.is_empty() {
            return Err(self.no_backup(team)?.into());
        }
        let logs = backups.iter().map(|backup| backup.manifest().log.clone());
        let logs: Vec<String> = logs.collect();
        let mut backups = backups.into_iter();
        if let Some(chosen) = backups.find(|backup| backup.manifest().log == log) {
            return Ok(chosen);
        }
        let log = shown(log);
        let message = format!("no backup of log {log} in this directory");
        Err(Refusal::new(Code::BackupNotFound, message)
            .field("log")
            .hint(format!("logs with a backup: {}", logs.join(", ")))
            .detail("team", team)
            .detail("known", logs)
            .into())
    }

    /// Returns all backups of a team, one per log, latest backup first.
    pub fn backups(&self, team: &str) -> Result<Vec<Backup>> {
        names::check_known("team", team)?;
        for dir in [Path::new(team), Path::new("")] {
            let all = Backup::open_all(&self.storage, dir, &self.log_options())?;
            if !all.is_empty() {
                return Ok(all);
            }
        }
        Ok(Vec::new())
    }

    fn newest(&self, team: &str) -> Result<Option<Backup>> {
        for dir in [Path::new(team), Path::new("")] {
            match Backup::open(self.storage.clone(), dir, self.log_options()) {
                Err(Error::NoLog { .. }) => {}
                opened => return Ok(Some(opened?)),
            }
        }
        Ok(None)
    }

    fn no_backup(&self, team: &str) -> Result<Refusal> {
        let known = self.teams()?;
        let message = format!("no backup of team {team:?} in this directory");
        let refusal = Refusal::new(Code::BackupNotFound, message).field("team");
        let refusal = match known.is_empty() {
            true => refusal.hint("this directory holds no backup"),
            false => refusal.hint(format!("teams with a backup: {}", known.join(", "))),
        };
        Ok(refusal.detail("team", team).detail("known", known))
    }

    /// Verifies every byte of a team's backup; `log` selects the log. Changes nothing.
    ///
    /// # Errors
    /// Errors of [`BackupDir::backup`]. Damage is part of the answer.
    pub fn verify(&self, team: &str, log: Option<&str>) -> Result<Report> {
        Ok(self.backup(team, log)?.verify()?)
    }

    fn log_options(&self) -> LogOptions {
        self.options.of_logs()
    }
}

fn check_outside(path: &Path, existing: &Path, root: &Path) -> Result<(), Failure> {
    let real = existing.canonicalize();
    let real = real.map_err(Error::io("open", existing))?;
    if !real.starts_with(root) {
        return Ok(());
    }
    let (root, path) = (root.display(), path.display());
    let message = format!("directory must be outside the data root {root}, but is {path}");
    Err(Refusal::new(Code::InvalidInput, message)
        .field("directory")
        .hint("choose a directory on another disk, if there is one")
        .into())
}
