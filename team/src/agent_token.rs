//! `token-add`, `token-list`, `token-revoke`: tokens that admit agents from other machines.
//!
//! The caller creates the token and passes only its digest. Neither the log nor a stored answer ever contains the token.

use crate::operation::prelude::*;
use crate::projections::agent_token::event::{
    AgentScope, AgentTokenAdded, AgentTokenFact, AgentTokenRevoked,
};
use crate::projections::agent_token::{AgentToken, ID_DIGITS, id};

operation! {
    /// Add a token that admits an agent from other machines; the caller passes only its digest
    "token-add": Records(TokenAdd {
        /// Agent that the token lets in
        #[arg(long, value_name = "AGENT")]
        agent: String,
        /// Scope of the token: `read` (reading operations), `act` (also an agent's own operations) or `operate` (also settings,
        /// members and tokens); `act` if absent
        #[schemars(with = "Option<AgentScope>")]
        #[arg(long, value_name = "SCOPE", default_value = "act")]
        scope: Option<String>,
        /// BLAKE3 digest of the token, 64 lower-case hex digits
        digest: String,
    }) -> TokenAnswer = Team::token_add,
    refuses = [WorkerNotFound, TokenExists],
    scope = Operate
}

operation! {
    /// List the tokens of agents, including revoked ones, in the order in which they were added
    "token-list": Reads(TokenList {
        /// Only tokens of this agent
        #[arg(long, value_name = "AGENT")]
        agent: Option<String>,
    }) -> TokenListAnswer = Team::token_list
}

operation! {
    /// Revoke a token
    "token-revoke": Records(TokenRevoke {
        /// Id of the token, as `token list` shows it
        #[arg(value_name = "TOKEN")]
        token_id: String,
    }) -> TokenAnswer = Team::token_revoke,
    refuses = [TokenNotFound, WorkerNotFound],
    scope = Operate
}

/// Number of hex digits in a digest.
const DIGEST_DIGITS: usize = 64;

/// A token of an agent
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TokenShown {
    /// Id of the token: the start of its digest
    pub token_id: String,
    /// The agent that the token admits
    pub agent: String,
    /// Scope of the token
    pub scope: AgentScope,
    /// The caller that added the token
    pub added_by: String,
    /// Time at which the token was added
    #[schemars(with = "Timestamp")]
    pub added_at: String,
    /// The caller that revoked the token; absent if not revoked
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoked_by: Option<String>,
    /// Time at which the token was revoked; absent if not revoked
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Timestamp>")]
    pub revoked_at: Option<String>,
    /// True if the token is not valid here: the token came with an imported or restored log, and the owner of the data root has not
    /// accepted it
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unaccepted: bool,
}

impl TokenShown {
    /// Marks the token as not accepted by the data root.
    pub(crate) fn unaccepted(self) -> TokenShown {
        TokenShown {
            unaccepted: true,
            ..self
        }
    }
}

/// The answer `{token}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TokenAnswer {
    /// The token
    pub token: TokenShown,
}

/// The answer `{tokens}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TokenListAnswer {
    /// The tokens, in the order in which they were added
    pub tokens: Vec<TokenShown>,
}

impl From<&AgentToken> for TokenShown {
    fn from(token: &AgentToken) -> TokenShown {
        let revoked = token.revoked.as_ref();
        TokenShown {
            token_id: id(&token.digest).to_owned(),
            agent: token.agent.clone(),
            scope: token.scope,
            added_by: token.added.by.clone(),
            added_at: token.added.at.to_string(),
            revoked_by: revoked.map(|signed| signed.by.clone()),
            revoked_at: revoked.map(|signed| signed.at.to_string()),
            unaccepted: false,
        }
    }
}

impl Team {
    /// Lists the tokens of agents.
    ///
    /// # Errors
    /// Errors of the log.
    pub fn token_list(&mut self, list: TokenList) -> Result<TokenListAnswer> {
        let mut listed = self.agent_tokens()?;
        listed.retain(|token| {
            list.agent
                .as_ref()
                .is_none_or(|agent| *agent == token.agent)
        });
        let mut tokens = Vec::with_capacity(listed.len());
        for token in &listed {
            let shown = TokenShown::from(token);
            tokens.push(match token.revoked.is_some() || self.accepts(token)? {
                true => shown,
                false => shown.unaccepted(),
            });
        }
        Ok(TokenListAnswer { tokens })
    }

    /// Adds a token, and accepts it in this data root.
    ///
    /// # Errors
    /// `worker_not_found`, `token_exists`; errors of the log.
    pub fn token_add(&mut self, add: TokenAdd) -> Result<TokenAnswer> {
        let answer = self.execute(add)?;
        if !self.repeated() {
            self.accept_added(&answer.token.token_id)?;
        }
        Ok(answer)
    }

    /// Revokes a token. First removes it from the accepted tokens of the data root, so that a failure between the two steps cannot
    /// leave the token valid.
    ///
    /// # Errors
    /// `token_not_found`; errors of the log.
    pub fn token_revoke(&mut self, revoke: TokenRevoke) -> Result<TokenAnswer> {
        self.forget_accepted(&revoke.token_id)?;
        self.execute(revoke)
    }

    /// Returns the agent and the scope of the token with this digest. Returns `None` if the token is unknown, revoked or not
    /// accepted. Also returns `None` if the team is closed, because a closed team refuses all acts. Compares digests in
    /// constant time.
    ///
    /// # Errors
    /// Errors of the log.
    pub fn token_holder(&mut self, digest: &blake3::Hash) -> Result<Option<TokenShown>> {
        let hex = digest.to_hex();
        let token = self.peek(|live| {
            let token = live.agent_token(id(hex.as_str()))?;
            Ok(token.filter(|token| {
                let known = blake3::Hash::from_hex(&token.digest);
                token.revoked.is_none() && known.is_ok_and(|known| known == *digest)
            }))
        })?;
        match token {
            Some(token) if self.accepts(&token)? => Ok(Some(TokenShown::from(&token))),
            _ => Ok(None),
        }
    }
}

impl TokenAdd {
    fn checked(&self) -> Result<AgentTokenAdded, Refusal> {
        let scope = self.scope.as_deref().unwrap_or("act");
        let scope = AgentScope::from_name(scope)
            .ok_or_else(|| Refusal::invalid("scope", scope, "must be read, act or operate"))?;
        let hex = |digit: u8| matches!(digit, b'0'..=b'9' | b'a'..=b'f');
        if self.digest.len() != DIGEST_DIGITS || !self.digest.bytes().all(hex) {
            let rule = "must be the BLAKE3 digest of the token, 64 lower-case hex digits";
            return Err(Refusal::invalid("digest", &self.digest, rule));
        }
        Ok(AgentTokenAdded {
            agent: self.agent.clone(),
            scope,
            digest: self.digest.clone(),
        })
    }
}

impl Command for TokenAdd {
    type Decided = String;
    type Answer = TokenAnswer;

    fn terms(&self) -> CommandTerms<'_> {
        CommandTerms::new(Authority::Anyone)
            .members_only()
            .named(false)
    }

    fn decide(&self, _: &Ctx, live: &Live) -> Result<Decision<String>> {
        let added = self.checked()?;
        membership::check(live, "agent", &added.agent)?;
        let token_id = id(&added.digest).to_owned();
        if live.agent_token(&token_id)?.is_some() {
            let message = format!("the team already has the token {token_id}");
            let refusal = Refusal::new(Code::TokenExists, message).field("digest");
            return Err(refusal.detail("token_id", token_id).into());
        }
        let event = AgentTokenFact::Added(added).event(DEFAULT_ACTOR);
        Ok(Decision::Granted(token_id, vec![event]))
    }

    fn answer(&self, token_id: &String, after: &After<'_>) -> Result<TokenAnswer> {
        shown(after.live, token_id)
    }
}

impl Command for TokenRevoke {
    type Decided = ();
    type Answer = TokenAnswer;

    fn terms(&self) -> CommandTerms<'_> {
        // A token can be revoked in a closed team too.
        CommandTerms::new(Authority::Anyone)
            .members_only()
            .named(false)
            .when_closed()
    }

    fn decide(&self, _: &Ctx, live: &Live) -> Result<Decision<()>> {
        let token = found(live, &self.token_id)?;
        // A second revocation changes nothing.
        let revoked = token.revoked.is_none().then(|| {
            let revoked = AgentTokenRevoked {
                agent: token.agent.clone(),
                token_id: self.token_id.clone(),
            };
            AgentTokenFact::Revoked(revoked).event(DEFAULT_ACTOR)
        });
        Ok(Decision::Granted((), revoked.into_iter().collect()))
    }

    fn answer(&self, (): &(), after: &After<'_>) -> Result<TokenAnswer> {
        shown(after.live, &self.token_id)
    }
}

fn shown(live: &Live, token_id: &str) -> Result<TokenAnswer> {
    Ok(TokenAnswer {
        token: TokenShown::from(&found(live, token_id)?),
    })
}

fn found(live: &Live, token_id: &str) -> Result<AgentToken> {
    let token = live.agent_token(token_id)?;
    let is_id = token_id.len() == ID_DIGITS;
    token.filter(|_| is_id).ok_or_else(|| {
        let shown = crate::refusal::shown(token_id);
        let message = format!("no token {shown} in this team");
        Refusal::new(Code::TokenNotFound, message)
            .field("token_id")
            .into()
    })
}
