//! Tokens of agents on other machines: the agent, the scope and the revocation of each token.

pub use crate::event::agent_token as event;

use crate::event::agent_token::{AgentScope, AgentTokenFact};
use crate::prelude::*;

/// Namespace of tokens; key: token id.
const TOKEN: u8 = 0x47;

/// Number of digest digits that form a token's id.
pub const ID_DIGITS: usize = 16;

/// An agent's token.
#[derive(Debug, Clone, PartialEq, Eq, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
pub struct AgentToken {
    /// Agent that the token lets in.
    pub agent: String,
    /// Operations that the token allows.
    pub scope: AgentScope,
    /// BLAKE3 of the token, as lower-case hex.
    pub digest: String,
    /// Event that added the token.
    pub seq: u64,
    /// Actor that added the token, and the time.
    pub added: ActorAndTime,
    /// Actor that revoked the token, and the time; absent while the token is valid.
    pub revoked: Option<ActorAndTime>,
}
row!(AgentToken);

/// Actor and time of an action.
#[derive(Debug, Clone, PartialEq, Eq, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
pub struct ActorAndTime {
    /// Actor of the event.
    pub by: String,
    /// Time of the event.
    pub at: Timestamp,
}

/// Returns the id of a token, given its digest.
pub fn id(digest: &str) -> &str {
    digest.get(..ID_DIGITS).unwrap_or(digest)
}

/// Folds an event. If two tokens have the same digest, the first token counts.
pub(crate) fn apply(tx: &mut Tx<'_>, recorded: Recorded<'_>) -> Result<()> {
    let Fact::AgentToken(fact) = recorded.fact else {
        return Ok(());
    };
    let event = recorded.event;
    let signed = ActorAndTime {
        by: event.actor.to_string(),
        at: event.created_at,
    };
    let id = match &**fact {
        AgentTokenFact::Added(added) => id(&added.digest),
        AgentTokenFact::Revoked(revoked) => &revoked.token_id,
    };
    let key = key_of(TOKEN, id.as_bytes());
    let before: Option<AgentToken> = tx.get(&key)?;
    let row = match (&**fact, before) {
        (AgentTokenFact::Added(added), None) => AgentToken {
            agent: added.agent.clone(),
            scope: added.scope,
            digest: added.digest.clone(),
            seq: event.seq,
            added: signed,
            revoked: None,
        },
        (AgentTokenFact::Revoked(_), Some(token)) if token.revoked.is_none() => AgentToken {
            revoked: Some(signed),
            ..token
        },
        _ => return Ok(()),
    };
    tx.put(&key, &row);
    Ok(())
}

impl TeamState {
    /// Returns the token with this id.
    pub fn agent_token(&self, id: &str) -> Result<Option<AgentToken>> {
        self.rows().get(&key_of(TOKEN, id.as_bytes()))
    }

    /// Returns all tokens, including revoked tokens, in the order in which they were added.
    pub fn agent_tokens(&self) -> Result<Vec<AgentToken>> {
        let rows = self.rows().prefix(&[TOKEN], false);
        let mut tokens: Vec<AgentToken> = rows.map(|entry| entry?.row()).collect::<Result<_>>()?;
        tokens.sort_by_key(|token| token.seq);
        Ok(tokens)
    }
}
