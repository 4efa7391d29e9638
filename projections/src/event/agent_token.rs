//! Tokens by which agents on other machines are let in, and the JSON of what is recorded of them. A token itself is never
//! recorded, only its digest.

use super::*;

events! {
    /// What is recorded of agents' tokens.
    #[derive(Serialize)]
    #[serde(untagged)]
    pub enum AgentTokenFact {
        /// An agent may be let in with a token.
        "agent_token_added" by "teamlog token add TEAM" => Added: AgentTokenAdded [name agent] {
            /// Whom it lets in.
            pub agent: String,
            /// How far.
            pub scope: AgentScope,
            /// BLAKE3 of the token, as lower-case hex.
            pub digest: String,
        },
        /// A token lets nobody in any more.
        "agent_token_revoked" by "teamlog token revoke TEAM" => Revoked: AgentTokenRevoked [name agent] {
            /// Whom it let in.
            pub agent: String,
            /// Which one, as listings name it.
            pub token_id: String,
        },
    }
}

words! {
    /// How far a token lets its agent.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    #[derive(rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
    pub enum AgentScope {
        /// What changes nothing.
        #[default]
        Read = "read",
        /// What an agent does: its tasks, messages, threads, modes.
        Act = "act",
        /// What is done to the team as a whole as well: settings, members, budgets, tokens, its end.
        Operate = "operate",
    }
}

impl AgentTokenFact {
    /// The event that records it.
    pub fn event(&self, actor: &str) -> NewEvent {
        let agent = match self {
            AgentTokenFact::Added(added) => &added.agent,
            AgentTokenFact::Revoked(revoked) => &revoked.agent,
        };
        let refs = [(RefKind::Agent, Some(&**agent))];
        event(self.kind(), actor, write(self), refs)
    }
}
