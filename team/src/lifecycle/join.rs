//! `join`: a team that another host began, on this one.

use crate::agent_token::TokenShown;
use crate::backup::dir::BackupDir;
use crate::handle::staged::StagedTeam;
use crate::operation::prelude::*;
use teamlog_engine::Identity;

/// What `join` is asked.
#[derive(Debug, Clone)]
pub struct Join {
    /// What the journal says of the team's log.
    pub identity: Identity,
    /// Accept a network or host-shared file system.
    pub allow_network_fs: bool,
    /// Let in whom the tokens of the log let in, but for those that were revoked here.
    pub keep_tokens: bool,
}

/// `{status:"ok", team, log, last_seq}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct JoinAnswer {
    /// Always `ok`.
    #[schemars(extend("enum" = ["ok"]))]
    pub status: Cow<'static, str>,
    /// The team.
    pub team: String,
    /// The id of its log, the same on all hosts.
    pub log: String,
    /// The last event that is here now.
    pub last_seq: u64,
    /// Whether it came here by this call.
    pub joined: bool,
    /// Tokens of the log that let nobody in here until they are accepted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unaccepted_tokens: Vec<TokenShown>,
}

impl Root {
    /// Takes a team in that a journal has: all of its events come here, and from now on it is written from here too.
    /// Repeating it brings the events that are new. What a backup has comes from there, and is checked; the journal tells only
    /// what is behind it. `progress` hears `(events done, events in all)` of the fold.
    ///
    /// # Errors
    /// `invalid_input`; `team_exists` where another log has that name here; `backup_not_found`; `Journal`; `Corrupt`, I/O.
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
        // Takes in all groups, and builds everything derived at once.
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

/// Brings a team that is here up to what its journal has.
fn joined(mut team: Team, identity: &Identity, joined: bool) -> Result<JoinAnswer> {
    let own = team.log().identity();
    if own.log != identity.log || own.journal != identity.journal {
        let (own, log) = (&own.log, &identity.log);
        let message = format!(
            "team must be free, but another log has that name here: {own} instead of {log}"
        );
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
