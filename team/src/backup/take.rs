//! `backup`: makes or updates a copy of a team's log.

use crate::backup::dir::BackupDir;
use crate::backup::notes as backup_notes;
use crate::operation::prelude::*;
use crate::time::millis;
use std::time::Instant;
use teamlog_engine::Receipt;
use teamlog_engine::backup;
use teamlog_engine::internals::backup::MANIFEST_FILE;

/// The answer `{status, team, log, format, seq, previous_seq, …}`: the content of the backup, and the counts of this run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BackupAnswer {
    /// Always `ok`.
    #[schemars(extend("const" = "ok"))]
    pub status: &'static str,
    /// The team.
    pub team: String,
    /// The log's id.
    pub log: String,
    /// `jsonl` or `binary`.
    pub format: &'static str,
    /// Seq of the last event in the backup.
    pub seq: u64,
    /// Seq of the last event in the previous backup of this log; `null` without a previous backup.
    pub previous_seq: Option<u64>,
    /// Number of segments in the backup.
    pub segments: u64,
    /// Number of segments that this run copied at least in part.
    pub segments_copied: u64,
    /// Number of files in the backup other than the log: artifacts and quarantined files.
    pub files: u64,
    /// Number of these files that this run copied.
    pub files_copied: u64,
    /// Size of the log in the backup, in bytes.
    pub bytes: u64,
    /// Number of bytes that this run copied, read back and compared.
    pub bytes_copied: u64,
    /// Receipt for both the log and the backup; `null` if the log is empty.
    pub receipt: Option<Receipt>,
    /// Duration in milliseconds.
    pub elapsed_ms: u64,
}

/// The answer `{status, backups[], failed[]}` about all teams of a data root.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BackupAllAnswer {
    /// `ok`, or `partial` if the backup of any team failed.
    #[schemars(extend("enum" = ["ok", "partial"]))]
    pub status: &'static str,
    /// Backups that succeeded.
    pub backups: Vec<BackupAnswer>,
    /// Teams whose backup failed. Their earlier backups are unchanged.
    pub failed: Vec<FailedBackup>,
    /// Number of bytes that were copied for all teams together.
    pub bytes_copied: u64,
    /// Duration in milliseconds.
    pub elapsed_ms: u64,
}

/// A team whose backup failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FailedBackup {
    /// The team.
    pub team: String,
    /// Reason of the failure.
    pub message: String,
}

impl Team {
    /// Updates the team's backup in the backup directory. Takes no lock of the team, so writers continue.
    ///
    /// # Errors
    /// `backup_diverged`; errors of the log and of the backup directory. The earlier backup is kept.
    pub fn backup(&self, backup_dir: &BackupDir) -> Result<BackupAnswer> {
        let started = Instant::now();
        let reader = self.reader()?;
        let now = self.options.clock.now();
        let deadline = backup_dir.options.lock_deadline;
        let dir = Path::new(self.name());
        let kept = backup::back_up(&reader, backup_dir.storage(), dir, now, deadline)
            .map_err(|error| diverged(self.name(), error))?;
        if let Some(directory) = &backup_dir.path {
            backup_notes::put(self.log.storage().as_ref(), self.log.dir(), directory, now);
        }
        let manifest = &kept.manifest;
        Ok(BackupAnswer {
            status: "ok",
            team: self.name().to_owned(),
            log: manifest.log.clone(),
            format: reader.identity().format.name(),
            seq: manifest.seq,
            previous_seq: kept.before,
            segments: manifest.segments.len() as u64,
            segments_copied: kept.segments_copied,
            files: manifest.files.len() as u64,
            files_copied: kept.files_copied,
            bytes: manifest.bytes(),
            bytes_copied: kept.bytes_copied,
            receipt: manifest.receipt(),
            elapsed_ms: millis(started),
        })
    }
}

impl Root {
    /// Backs up every team. If the backup of a team fails, continues with the next team.
    pub fn backup_all(&self, backup_dir: &BackupDir) -> Result<BackupAllAnswer> {
        let started = Instant::now();
        let (mut backups, mut failed) = (Vec::new(), Vec::new());
        for name in self.teams()? {
            match self.team(&name).and_then(|team| team.backup(backup_dir)) {
                Ok(answer) => backups.push(answer),
                Err(failure) => failed.push(FailedBackup {
                    team: name,
                    message: failure.to_string(),
                }),
            }
        }
        Ok(BackupAllAnswer {
            status: if failed.is_empty() { "ok" } else { "partial" },
            bytes_copied: backups.iter().map(|backup| backup.bytes_copied).sum(),
            backups,
            failed,
            elapsed_ms: millis(started),
        })
    }
}

/// Returns the failure for a backup with events that the log lacks. Such a backup is kept, because these events are possibly lost
/// events of the log.
fn diverged(team: &str, error: Error) -> Failure {
    let why = match &error {
        Error::ForeignFile { path, why } if path.ends_with(MANIFEST_FILE) => why,
        _ => return error.into(),
    };
    let message = format!("the backup is not an earlier state of team {team:?}: {why}");
    let hint = "to keep both, back up to another directory";
    let refusal = Refusal::new(Code::BackupDiverged, message).field("directory");
    refusal.hint(hint).into()
}
