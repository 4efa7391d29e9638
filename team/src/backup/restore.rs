//! `restore`: restores a team from a backup, completely or not at all.

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
    /// The new team.
    pub team: String,
    /// The team in the backup; `None` is the same name.
    pub from: Option<String>,
    /// The log in the backup, if there are several of the team; `None` is the latest.
    pub log: Option<String>,
    /// Format of the new log; `None` keeps the original's format.
    pub format: Option<Format>,
    /// Set to accept a network or host-shared file system.
    pub allow_network_fs: bool,
    /// Set to accept the agent tokens of the backup, except those that were revoked here.
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
    /// The team that was backed up.
    pub from: String,
    /// The log's id.
    pub log: String,
    /// True if the log has the original's id, so that the original's receipts hold for the events in the backup.
    pub same_log: bool,
    /// `jsonl` or `binary`.
    pub format: &'static str,
    /// Events in the backup.
    pub events: u64,
    /// Seq of the last event: `log_restored`, unless other hosts have the log too.
    pub last_seq: u64,
    /// Files beside the log.
    pub files: u64,
    /// Bytes of the log.
    pub bytes: u64,
    /// Time of the backup.
    #[schemars(with = "String")]
    pub backed_up_at: Timestamp,
    /// Receipt of the backup; `null` if it has no events.
    pub backup_receipt: Option<Receipt>,
    /// Digest of the state.
    pub state_digest: String,
    /// Duration in ms.
    pub elapsed_ms: u64,
    /// Tokens of the log that are not valid on this host until they are accepted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unaccepted_tokens: Vec<TokenShown>,
}

impl Root {
    /// Restores a team in a staging directory, verifies it, and then gives it its name.
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
        "restore beside it, as {team}-restored with --from {from}{log}; or move its directory out of teams first"
    ))
}
