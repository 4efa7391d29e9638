//! Token usage of agents and token budgets, and the JSON of their events.

use super::*;

events! {
    /// Events of token usage.
    #[derive(Serialize)]
    #[serde(untagged)]
    pub enum UsageFact {
        /// An agent reported the tokens that the agent used.
        "usage_reported" by "teamlog usage TEAM" => Reported: UsageReported [name worker, name task_id] {
            /// Agent that used the tokens.
            pub worker: String,
            /// Task that the tokens were used for, if any.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub task_id: Option<String>,
            /// Input tokens.
            pub input_tokens: u64,
            /// Output tokens.
            pub output_tokens: u64,
            /// All tokens.
            pub tokens: u64,
        },
        /// The team's token budget was set.
        "budget_set" by "teamlog usage TEAM --set" => Set:
        #[derive(Default, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
        Budget {
            /// Limit of the team.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub max_tokens: Option<u64>,
            /// Number of tokens of the team after which the team is warned.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub soft_limit_tokens: Option<u64>,
            /// Limit of each agent.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub per_agent_tokens: Option<u64>,
            /// True if new work is refused after a limit is reached.
            pub hard_limit: bool,
        },
        /// The team reached its soft limit of tokens.
        "budget_soft_limit_reached" by "teamlog usage TEAM" => SoftLimitReached:
        #[derive(Copy)]
        SoftLimitReached {
            /// The soft limit.
            pub limit: u64,
            /// Tokens used by the team.
            pub tokens: u64,
        },
    }
}

impl Budget {
    /// Returns the number of tokens at which the team is warned: the soft limit, or else the team's limit if that limit is not
    /// a hard limit.
    pub fn warns_at(&self) -> Option<u64> {
        let max = self.max_tokens.filter(|_| !self.hard_limit);
        self.soft_limit_tokens.or(max)
    }
}

impl UsageFact {
    /// Builds the event; `trace` is the trace id of the task.
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
