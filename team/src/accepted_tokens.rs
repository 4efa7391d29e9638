//! The agent tokens that are valid on this host. A file of the data root lists them. No log and no backup contains that file.
//!
//! Each log contains the tokens of its team. The file lists the tokens that are valid. `token-add` makes the added token
//! valid. A log from elsewhere (`import --events`, `restore`, `join`) also contains tokens, but each is invalid until the
//! owner of the root accepts it. A root without the file was written by an older version. In that case all tokens of the
//! root are accepted when the file is first needed. After that, the file exists, so the tokens of a later import are not
//! accepted.

use crate::agent_token::TokenShown;
use crate::handle::root::{ACCEPTED_TOKENS_FILE, RootOptions, TEAMS_DIR};
use crate::operation::prelude::*;
use crate::projections::agent_token::event::AgentScope;
use crate::projections::agent_token::{AgentToken, id};
use teamlog_engine::storage::LockError;

/// Maximum size of the file of accepted tokens; enough for about forty thousand tokens.
const BYTES_MAX: u64 = 8 << 20;

/// Content of the file of accepted tokens. A missing field counts as empty, so `{}` accepts no
/// token.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct AcceptedTokens {
    /// Tokens that are valid.
    #[serde(default)]
    accepted: BTreeSet<AcceptedToken>,
    /// Digests of tokens that were revoked on this host. These tokens stay invalid even if a backup from before the
    /// revocation is restored.
    #[serde(default)]
    revoked: BTreeSet<String>,
}

/// An accepted token. The digest covers the token, the team and the agent, but not the scope.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct AcceptedToken {
    team: String,
    digest: String,
    scope: String,
}

impl AcceptedToken {
    fn new(team: &str, digest: &str, scope: AgentScope) -> AcceptedToken {
        AcceptedToken {
            team: team.to_owned(),
            digest: digest.to_owned(),
            scope: scope.name().to_owned(),
        }
    }
}

impl AcceptedTokens {
    /// Reads the file of accepted tokens; `None` if the file does not exist.
    fn read(storage: &dyn Storage) -> Result<Option<AcceptedTokens>> {
        let path = path();
        let bytes = match storage.read(&path, BYTES_MAX) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            bytes => bytes.map_err(Error::io("read", &path))?,
        };
        let read = serde_json::from_slice(&bytes).map_err(|error| unreadable(&error))?;
        Ok(Some(read))
    }

    fn accepts(&self, team: &str, token: &AgentToken) -> bool {
        let accepted = AcceptedToken::new(team, &token.digest, token.scope);
        self.accepted.contains(&accepted) && !self.revoked.contains(&token.digest)
    }

    /// Accepts a token, unless the log or this host has revoked it.
    fn accept(&mut self, team: &str, token: &AgentToken) {
        if token.revoked.is_none() && !self.revoked.contains(&token.digest) {
            self.accepted
                .insert(AcceptedToken::new(team, &token.digest, token.scope));
        }
    }
}

fn path() -> PathBuf {
    Path::new(TEAMS_DIR).join(ACCEPTED_TOKENS_FILE)
}

fn unreadable(error: &serde_json::Error) -> Refusal {
    let path = path();
    let path = path.display();
    let message = format!("cannot read the accepted tokens in {path}: {error}");
    Refusal::new(Code::InvalidInput, message).hint(format!(
        "write {{}} into {path} to accept no token, then accept the tokens of each team again"
    ))
}

impl Root {
    /// Returns the root without its authenticated agent. With such an agent, the root reaches only the agent's own team.
    fn unrestricted(&self) -> Root {
        self.with_options(RootOptions {
            authenticated: None,
            ..self.options().clone()
        })
    }

    /// Returns the content of the file of accepted tokens. If the file does not exist, returns all tokens of the root,
    /// because the older version that wrote the root accepted all tokens.
    fn accepted_tokens(&self) -> Result<AcceptedTokens> {
        match AcceptedTokens::read(self.storage().as_ref())? {
            Some(tokens) => Ok(tokens),
            None => self.change_accepted(|_| {}),
        }
    }

    /// Changes the file of accepted tokens, under the lock of the directory of all teams.
    fn change_accepted(&self, change: impl FnOnce(&mut AcceptedTokens)) -> Result<AcceptedTokens> {
        let (dir, storage) = (Path::new(TEAMS_DIR), self.storage().as_ref());
        let wait = self.options().lock_deadline;
        let _held = storage.lock_dir(dir, wait).map_err(|error| match error {
            LockError::Busy(holder) => Error::Locked {
                path: dir.to_owned(),
                holder,
                waited_ms: u64::try_from(wait.as_millis()).unwrap_or(u64::MAX),
            },
            LockError::Io(source) => Error::io("lock", dir)(source),
        })?;
        let before = AcceptedTokens::read(storage)?;
        let mut tokens = match &before {
            Some(before) => before.clone(),
            None => self.unrestricted().adopted()?,
        };
        change(&mut tokens);
        if before.as_ref() != Some(&tokens) {
            let text = serde_json::to_vec_pretty(&tokens).map_err(|error| unreadable(&error))?;
            let written = storage.replace(&path(), &text, true);
            written.map_err(Error::io("write", path()))?;
        }
        Ok(tokens)
    }

    /// Returns all tokens, of all teams, that are not revoked. Skips teams whose log cannot be
    /// read.
    fn adopted(&self) -> Result<AcceptedTokens> {
        let mut tokens = AcceptedTokens::default();
        for name in self.teams()? {
            let known = self.team(&name).and_then(|mut team| team.agent_tokens());
            for token in known.unwrap_or_default() {
                tokens.accept(&name, &token);
            }
        }
        Ok(tokens)
    }

    /// Prepares the team name for a log from elsewhere: removes all accepted tokens of that name.
    pub(crate) fn expect_foreign_tokens(&self, team: &str) -> Result<()> {
        self.change_accepted(|tokens| tokens.accepted.retain(|accepted| accepted.team != team))
            .map(drop)
    }

    /// Returns those tokens of a team that are not valid on this host. With `keep`, first accepts all tokens that this host
    /// has not revoked.
    pub(crate) fn foreign_tokens(&self, team: &str, keep: bool) -> Result<Vec<TokenShown>> {
        let live = self.team(team)?.agent_tokens()?;
        if keep {
            self.accept(team, &live)?;
        }
        let accepted = self.accepted_tokens()?;
        let live = live.iter().filter(|token| token.revoked.is_none());
        let foreign = live.filter(|token| !accepted.accepts(team, token));
        Ok(foreign
            .map(|token| TokenShown::from(token).unaccepted())
            .collect())
    }

    fn accept(&self, team: &str, live: &[AgentToken]) -> Result<()> {
        let accept = |tokens: &mut AcceptedTokens| {
            live.iter().for_each(|token| tokens.accept(team, token));
        };
        self.change_accepted(accept).map(drop)
    }

    /// Accepts the tokens of a team with the given ids, or all tokens if `ids` is empty. Returns the tokens that are valid now.
    ///
    /// # Errors
    /// `token_not_found` if an id is unknown or its token is revoked; I/O.
    pub fn accept_tokens(&self, team: &str, ids: &[String]) -> Result<Vec<TokenShown>> {
        let mut live = self.team(team)?.agent_tokens()?;
        let revoked = self.accepted_tokens()?.revoked;
        live.retain(|token| token.revoked.is_none() && !revoked.contains(&token.digest));
        if let Some(unknown) = ids
            .iter()
            .find(|wanted| live.iter().all(|token| id(&token.digest) != **wanted))
        {
            let unknown = shown(unknown);
            let message = format!("no valid token {unknown} in team {team}");
            let refusal = Refusal::new(Code::TokenNotFound, message).field("token_id");
            return Err(refusal.into());
        }
        live.retain(|token| {
            ids.is_empty() || ids.iter().any(|wanted| id(&token.digest) == *wanted)
        });
        self.accept(team, &live)?;
        Ok(live.iter().map(TokenShown::from).collect())
    }
}

impl Team {
    /// Returns the tokens in the team's log.
    pub(crate) fn agent_tokens(&mut self) -> Result<Vec<AgentToken>> {
        self.query(|live, _| Ok(live.agent_tokens()?))
    }

    /// Accepts a token that `token-add` has just recorded.
    pub(crate) fn accept_added(&mut self, token_id: &str) -> Result<()> {
        let token = self.peek(|live| Ok(live.agent_token(token_id)?))?;
        let (root, team) = (Root::of_team(self), self.name().to_owned());
        token.map_or(Ok(()), |token| root.accept(&team, &[token]))
    }

    /// Removes a token from the accepted tokens. Called before the revocation of the token is recorded.
    pub(crate) fn forget_accepted(&mut self, token_id: &str) -> Result<()> {
        let token = self.peek(|live| Ok(live.agent_token(token_id)?))?;
        let Some(token) = token else {
            return Ok(());
        };
        let forget = |tokens: &mut AcceptedTokens| {
            tokens
                .accepted
                .retain(|accepted| accepted.digest != token.digest);
            tokens.revoked.insert(token.digest.clone());
        };
        Root::of_team(self).change_accepted(forget).map(drop)
    }

    /// Returns true if the data root accepts the token for this team.
    pub(crate) fn accepts(&self, token: &AgentToken) -> Result<bool> {
        Ok(Root::of_team(self)
            .accepted_tokens()?
            .accepts(self.name(), token))
    }
}
