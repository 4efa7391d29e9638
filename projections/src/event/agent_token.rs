//! Tokens that let agents on other machines connect, and the JSON of their events. The log holds a token's digest,
//! never the token.

use super::*;

events! {
    /// Events of agent tokens.
    #[derive(Serialize)]
    #[serde(untagged)]
    pub enum AgentTokenFact {
        /// A token was added that lets an agent connect.
        "agent_token_added" by "teamlog token add TEAM" => Added: AgentTokenAdded [name agent] {
            /// Agent that the token lets in.
            pub agent: String,
            /// Operations that the token allows.
            pub scope: AgentScope,
            /// BLAKE3 of the token, as lower-case hex.
            pub digest: String,
        },
        /// An agent's token was revoked.
        "agent_token_revoked" by "teamlog token revoke TEAM" => Revoked: AgentTokenRevoked [name agent] {
            /// Agent that the token let in.
            pub agent: String,
            /// Id of the token, as listings show it.
            pub token_id: String,
        },
    }
}

words! {
    /// Operations that a token allows its agent.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    #[derive(rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
    pub enum AgentScope {
        /// Reads only.
        #[default]
        Read = "read",
        /// Everything that an agent does: tasks, messages, threads, modes.
        Act = "act",
        /// As `act`, and everything that changes the whole team: settings, members, budgets, tokens, closing.
        Operate = "operate",
    }
}

impl AgentTokenFact {
    /// Builds the event.
    pub fn event(&self, actor: &str) -> NewEvent {
        let agent = match self {
            AgentTokenFact::Added(added) => &added.agent,
            AgentTokenFact::Revoked(revoked) => &revoked.agent,
        };
        let refs = [(RefKind::Agent, Some(&**agent))];
        event(self.kind(), actor, write(self), refs)
    }
}
