//! `join`: copies a team of another host to this host.

use crate::agent_token::TokenShown;
use crate::backup::dir::BackupDir;
use crate::handle::staged::StagedTeam;
use crate::operation::prelude::*;
use teamlog_engine::Identity;

/// Options of `join`.
#[derive(Debug, Clone)]
pub struct Join {
    /// Identity of the team's log in the journal.
    pub identity: Identity,
    /// True to accept a file system on a network, or a file system that a virtual machine shares with its host.
    pub allow_network_fs: bool,
    /// True to accept the agent tokens in the log, except those that were revoked on this host.
    pub keep_tokens: bool,
}

/// The answer `{status:"ok", team, log, last_seq}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct JoinAnswer {
    /// Always `ok`.
    #[schemars(extend("enum" = ["ok"]))]
    pub status: Cow<'static, str>,
    /// The team.
    pub team: String,
    /// Id of the team's log, the same on all hosts.
    pub log: String,
    /// Seq of the last local event.
    pub last_seq: u64,
    /// True if this call brought the team to this host.
    pub joined: bool,
    /// Agent tokens in the log that this host has not accepted, so that they are not valid here.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unaccepted_tokens: Vec<TokenShown>,
}

impl Root {
    /// Copies a team from a journal: fetches all events of the team, and lets this host record events in the team. A repeated call
    /// fetches new events. Events in a backup are read from the backup and verified against the journal; later events come from the
    /// journal. While folding, calls `progress` with `(events done, events in all)`.
    ///
    /// # Errors
    /// `invalid_input`; `team_exists` if another log has that name here; `backup_not_found`; `Journal`; `Corrupt`, I/O.
    pub fn join(
        &self,
        join: Join,
        from: Option<&BackupDir>,
        progress: &mut (dyn FnMut(u64, u64) + Send),
    ) -> Result<JoinAnswer> {
        let name = join.identity.name.clone();
        names::check_new("team", &name)?;
        if let Some(team) = self.find(&name)? {
            return joined(team, &join.identity, false);
        }
        let identity = join.identity.clone();
        let log = identity.log.to_string();
        let backup = from.map(|dir| dir.backup(&name, Some(&log))).transpose()?;
        let create = |storage, dir: &Path, options| match backup {
            Some(backup) => backup.restore_replica(storage, dir, identity, options),
            None => Log::create_from(identity, storage, dir, options),
        };
        let (staged, mut team) =
            StagedTeam::begin_with(self, &name, join.allow_network_fs, create)?;
        // Fetches all groups, and builds all derived data at once.
        team.rehydrate(Default::default(), progress)?;
        drop(team);
        self.expect_foreign_tokens(&name)?;
        let settled = staged.settle()?;
        let answer = joined(self.team(&name)?, &join.identity, settled)?;
        Ok(JoinAnswer {
            unaccepted_tokens: self.foreign_tokens(&name, join.keep_tokens)?,
            ..answer
        })
    }
}

/// Fetches new events of a team that this host has already.
fn joined(mut team: Team, identity: &Identity, joined: bool) -> Result<JoinAnswer> {
    let own = team.log().identity();
    if own.log != identity.log || own.journal != identity.journal {
        let (own, log) = (&own.log, &identity.log);
        let message =
            format!("this host already has another team of this name: its log is {own}, not {log}");
        return Err(Refusal::new(Code::TeamExists, message).field("team").into());
    }
    let last_seq = team.catch_up()?;
    Ok(JoinAnswer {
        status: "ok".into(),
        team: team.name().to_owned(),
        log: identity.log.to_string(),
        last_seq,
        joined,
        unaccepted_tokens: Vec::new(),
    })
}
