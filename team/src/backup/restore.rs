//! `restore`: restores a team from a backup. A failed restore leaves no team.

use crate::agent_token::TokenShown;
use crate::backup::dir::BackupDir;
use crate::handle::root::team_exists;
use crate::handle::staged::StagedTeam;
use crate::operation::prelude::*;
use crate::time::millis;
use std::time::Instant;
use teamlog_engine::{Format, Receipt};

/// Options of `restore`.
#[derive(Debug, Clone, Default)]
pub struct Restore {
    /// Name of the new team.
    pub team: String,
    /// Name of the team in the backup; `None` means the name of the new team.
    pub from: Option<String>,
    /// Id of the log in the backup, if the team has several logs there; `None` means the latest.
    pub log: Option<String>,
    /// Format of the new log; `None` means the format of the original.
    pub format: Option<Format>,
    /// True to accept a file system on a network, or a file system that a virtual machine shares with its host.
    pub allow_network_fs: bool,
    /// True to accept the agent tokens in the backup, except those that were revoked on this host.
    pub keep_tokens: bool,
}

/// The answer `{status, team, from, log, same_log, format, events, …}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RestoreAnswer {
    /// Always `ok`.
    #[schemars(extend("const" = "ok"))]
    pub status: &'static str,
    /// The team.
    pub team: String,
    /// Name of the team in the backup.
    pub from: String,
    /// The log's id.
    pub log: String,
    /// True if the log has the id of the original log. Receipts of the original then also hold for this log, up to the last event
    /// of the backup.
    pub same_log: bool,
    /// `jsonl` or `binary`.
    pub format: &'static str,
    /// Number of events in the backup.
    pub events: u64,
    /// Seq of the last event. This event is `log_restored`, unless other hosts have the log too.
    pub last_seq: u64,
    /// Number of restored files other than the log.
    pub files: u64,
    /// Size of the log in bytes.
    pub bytes: u64,
    /// Time of the backup.
    #[schemars(with = "String")]
    pub backed_up_at: Timestamp,
    /// Receipt of the backup; `null` if the backup has no events.
    pub backup_receipt: Option<Receipt>,
    /// Digest of the state.
    pub state_digest: String,
    /// Duration in milliseconds.
    pub elapsed_ms: u64,
    /// Agent tokens in the log that this host has not accepted, so that they are not valid here.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unaccepted_tokens: Vec<TokenShown>,
}

impl Root {
    /// Restores a team in a staging directory, verifies it, and then gives the team its name.
    ///
    /// # Errors
    /// `team_exists`, `backup_not_found`, `invalid_input`, `unsafe_file_system`; `Corrupt` if the backup is damaged;
    /// I/O.
    pub fn restore(&self, restore: Restore, backup_dir: &BackupDir) -> Result<RestoreAnswer> {
        let started = Instant::now();
        names::check_new("team", &restore.team)?;
        let from = restore.from.as_deref().unwrap_or(&restore.team);
        let backup = backup_dir.backup(from, restore.log.as_deref())?;
        if self.find(&restore.team)?.is_some() {
            return Err(exists(&restore).into());
        }
        let staged = StagedTeam::reserve(self, &restore.team, restore.allow_network_fs)?;
        let storage = Arc::new(staged.storage().clone());
        let (team, format, options) = (&restore.team, restore.format, self.log_options());
        let (log, restored) = backup.restore(storage, staged.dir(), team, format, options)?;
        let report = log.verify(None)?;
        if let Some(problem) = report.problems.first() {
            return Err(Error::Corrupt {
                path: problem.file.clone().into(),
                offset: problem.offset,
                seq: problem.seq,
                why: problem.message.clone(),
            }
            .into());
        }
        let mut team = Team::new(log, self.options().clone(), None);
        let rebuilt = team.rehydrate(Default::default(), &mut |_, _| {})?;
        let identity = team.log().identity();
        let (log, format) = (identity.log.to_string(), identity.format.name());
        drop(team);
        self.expect_foreign_tokens(&restore.team)?;
        if !staged.settle()? {
            return Err(exists(&restore).into());
        }
        let manifest = backup.manifest();
        let unaccepted_tokens = self.foreign_tokens(&restore.team, restore.keep_tokens)?;
        Ok(RestoreAnswer {
            status: "ok",
            team: restore.team,
            from: manifest.name.clone(),
            log,
            same_log: restored.same_log,
            format,
            events: restored.events,
            last_seq: report.last_seq,
            files: restored.files,
            bytes: restored.bytes,
            backed_up_at: manifest.backed_up_at,
            backup_receipt: manifest.receipt(),
            state_digest: rebuilt.state_digest,
            elapsed_ms: millis(started),
            unaccepted_tokens,
        })
    }
}

fn exists(restore: &Restore) -> Refusal {
    let team = &restore.team;
    let from = restore.from.as_ref().unwrap_or(team);
    let log = restore.log.as_ref();
    let log = log.map(|log| format!(" --log {log}")).unwrap_or_default();
    team_exists(team).hint(format!(
        "to keep both, restore as {team}-restored with --from {from}{log}; to replace team {team}, first move its directory out of teams"
    ))
}
