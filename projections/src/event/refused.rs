//! Writes that the guard refused, and the JSON of what is recorded of them.

use super::*;

events! {
    /// What is recorded of refused writes.
    #[derive(Serialize)]
    #[serde(untagged)]
    pub enum RefusedFact {
        /// The guard refused to let an agent write a path.
        "write_refused" by "teamlog guard TEAM" => Write:
        /// Whose write it was is the agent of the event.
        WriteRefused [name holder, name subagent] {
            /// The path, relative to the repository where it lies in it.
            pub path: String,
            /// What would have written it: the agent's tool, or a program that it runs.
            pub tool: String,
            /// Why, in the words of `can-write`.
            pub reason: String,
            /// Who holds it.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub holder: Option<String>,
            /// The subagent that tried it on behalf of the agent.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub subagent: Option<String>,
            /// By what time it was refused.
            pub refused_at: Timestamp,
        },
    }
}

impl WriteRefused {
    /// The event that records it of an agent.
    pub fn event(self, actor: &str, agent: &str) -> NewEvent {
        let fact = RefusedFact::Write(self);
        let refs = [(RefKind::Agent, Some(agent))];
        event(fact.kind(), actor, write(&fact), refs)
    }
}
