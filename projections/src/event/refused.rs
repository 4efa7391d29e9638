//! Writes that the guard refused, and the JSON of their events.

use super::*;

events! {
    /// Events of refused writes.
    #[derive(Serialize)]
    #[serde(untagged)]
    pub enum RefusedFact {
        /// The guard refused to let an agent write a path.
        "write_refused" by "teamlog guard TEAM" => Write:
        /// The refused write; the event's agent ref names the writer.
        WriteRefused [name holder, name subagent] {
            /// Path; relative to the repository for a path inside the repository.
            pub path: String,
            /// The writer's tool, or the program that the tool runs.
            pub tool: String,
            /// Reason, as `can-write` words it.
            pub reason: String,
            /// Agent that holds the path, if any.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub holder: Option<String>,
            /// Subagent that wrote on behalf of the agent, if any.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub subagent: Option<String>,
            /// Time of the refusal.
            pub refused_at: Timestamp,
        },
    }
}

impl WriteRefused {
    /// Builds the event; `agent` is the writer.
    pub fn event(self, actor: &str, agent: &str) -> NewEvent {
        let fact = RefusedFact::Write(self);
        let refs = [(RefKind::Agent, Some(agent))];
        event(fact.kind(), actor, write(&fact), refs)
    }
}
