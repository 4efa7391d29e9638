//! Tokens by which agents on other machines are let in: whom each lets in, how far, and whether it was revoked.

pub use crate::event::agent_token as event;

use crate::event::agent_token::{AgentScope, AgentTokenFact};
use crate::prelude::*;

/// By id: the token.
const TOKEN: u8 = 0x47;

/// Hex digits of a digest that name its token.
pub const ID_DIGITS: usize = 16;

/// A token.
#[derive(Debug, Clone, PartialEq, Eq, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
pub struct AgentToken {
    /// Whom it lets in.
    pub agent: String,
    /// How far.
    pub scope: AgentScope,
    /// BLAKE3 of the token, as lower-case hex.
    pub digest: String,
    /// The event that added it.
    pub seq: u64,
    /// Who added it, and when.
    pub added: Signed,
    /// Who revoked it, and when.
    pub revoked: Option<Signed>,
}
row!(AgentToken);

/// Who did something, and when.
#[derive(Debug, Clone, PartialEq, Eq, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
pub struct Signed {
    /// The actor of the event.
    pub by: String,
    /// Its time.
    pub at: Timestamp,
}

/// What a token is called, by its digest.
pub fn id(digest: &str) -> &str {
    digest.get(..ID_DIGITS).unwrap_or(digest)
}

/// The fold. The first token of a digest counts.
pub(crate) fn apply(tx: &mut Tx<'_>, recorded: Recorded<'_>) -> Result<()> {
    let Fact::AgentToken(fact) = recorded.fact else {
        return Ok(());
    };
    let event = recorded.event;
    let signed = Signed {
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
    /// The token of that id.
    pub fn agent_token(&self, id: &str) -> Result<Option<AgentToken>> {
        self.rows().get(&key_of(TOKEN, id.as_bytes()))
    }

    /// All tokens, revoked ones too, in the order in which they were added.
    pub fn agent_tokens(&self) -> Result<Vec<AgentToken>> {
        let rows = self.rows().prefix(&[TOKEN], false);
        let mut tokens: Vec<AgentToken> = rows.map(|entry| entry?.row()).collect::<Result<_>>()?;
        tokens.sort_by_key(|token| token.seq);
        Ok(tokens)
    }
}
