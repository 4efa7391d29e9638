//! Tokens that agents used, and how many they may: what is recorded of them, and the JSON of those payloads.

use super::*;

events! {
    /// What is said of tokens.
    #[derive(Serialize)]
    #[serde(untagged)]
    pub enum UsageFact {
        /// An agent reported the tokens it used.
        "usage_reported" by "teamlog usage TEAM" => Reported: UsageReported [name worker, name task_id] {
            /// Who used them.
            pub worker: String,
            /// For which task.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub task_id: Option<String>,
            /// Tokens read.
            pub input_tokens: u64,
            /// Tokens written.
            pub output_tokens: u64,
            /// All of them.
            pub tokens: u64,
        },
        /// The team's token budget was set.
        "budget_set" by "teamlog usage TEAM --set" => Set:
        #[derive(Default, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
        Budget {
            /// By the team.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub max_tokens: Option<u64>,
            /// By the team, before it is warned.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub soft_limit_tokens: Option<u64>,
            /// By each agent.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub per_agent_tokens: Option<u64>,
            /// Whether new work is refused once as many are used.
            pub hard_limit: bool,
        },
        /// The team used as many tokens as its soft limit says.
        "budget_soft_limit_reached" by "teamlog usage TEAM" => SoftLimitReached:
        #[derive(Copy)]
        SoftLimitReached {
            /// The limit.
            pub limit: u64,
            /// Tokens used by the team.
            pub tokens: u64,
        },
    }
}

impl Budget {
    /// How many tokens the team uses before an event says so: its soft limit, else all that it may where nothing is refused.
    pub fn warns_at(&self) -> Option<u64> {
        let max = self.max_tokens.filter(|_| !self.hard_limit);
        self.soft_limit_tokens.or(max)
    }
}

impl UsageFact {
    /// The event that records it; `trace` is that of the task.
    pub fn event(&self, actor: &str, trace: Option<&str>) -> NewEvent {
        let refs = match self {
            UsageFact::Reported(reported) => [
                (RefKind::Agent, Some(&*reported.worker)),
                (RefKind::Task, reported.task_id.as_deref()),
                (RefKind::Trace, trace),
            ],
            _ => [(RefKind::Agent, None); 3],
        };
        event(self.kind(), actor, write(self), refs)
    }
}
