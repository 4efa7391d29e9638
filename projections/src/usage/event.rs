//! Tokens that agents used, and how many they may: their facts and the JSON of their payloads.
//!
//! | kind | payload |
//! |---|---|
//! | `usage_reported` | `{worker, task_id?, input_tokens, output_tokens, tokens}` |
//! | `budget_set` | `{max_tokens?, soft_limit_tokens?, per_agent_tokens?, hard_limit}`: the whole budget |
//! | `budget_soft_limit_reached` | `{limit, tokens}`: once for each limit |

use crate::fact::event;
use crate::fact::events::{Payload, events};
use crate::fact::stored::{Decoded, name, write};
use serde::{Deserialize, Serialize};
use teamlog_engine::{NewEvent, RefKind};

events! {
    /// What is said of tokens.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub enum UsageFact {
        /// `usage_reported`.
        "usage_reported" => Reported(UsageReported),
        /// `budget_set`.
        "budget_set" => Set(Budget),
        /// `budget_soft_limit_reached`.
        "budget_soft_limit_reached" => SoftLimitReached(SoftLimitReached),
    }
}

/// `usage_reported`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UsageReported {
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
}

/// How many tokens may be used.
#[derive(
    Debug,
    Clone,
    Default,
    PartialEq,
    Eq,
    Serialize,
    Deserialize,
    rkyv::Archive,
    rkyv::Serialize,
    rkyv::Deserialize,
)]
pub struct Budget {
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
}

impl Budget {
    /// How many tokens the team uses before an event says so: its soft limit, else all that it may where nothing is refused.
    pub fn warns_at(&self) -> Option<u64> {
        let max = self.max_tokens.filter(|_| !self.hard_limit);
        self.soft_limit_tokens.or(max)
    }
}

/// `budget_soft_limit_reached`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SoftLimitReached {
    /// The limit.
    pub limit: u64,
    /// Tokens used by the team.
    pub tokens: u64,
}

impl Payload for UsageReported {
    fn check(&self) -> Decoded<()> {
        name("worker", &self.worker)?;
        self.task_id
            .iter()
            .try_for_each(|task| name("task_id", task))
    }
}

impl Payload for Budget {}

impl Payload for SoftLimitReached {}

impl UsageFact {
    /// The event that records it; `trace` is that of the task.
    pub fn event(&self, actor: &str, trace: Option<&str>) -> NewEvent {
        let mut event = event(self.kind(), actor, write(self));
        if let UsageFact::Reported(reported) = self {
            event.refs.set_given([
                (RefKind::Agent, Some(&*reported.worker)),
                (RefKind::Task, reported.task_id.as_deref()),
                (RefKind::Trace, trace),
            ]);
        }
        event
    }
}

impl UsageReported {
    /// The event that records it; `trace` is that of the task.
    pub fn event(&self, trace: Option<&str>) -> NewEvent {
        UsageFact::Reported(self.clone()).event(&self.worker, trace)
    }
}

impl Budget {
    /// The event that records it.
    pub fn event(&self, actor: &str) -> NewEvent {
        UsageFact::Set(self.clone()).event(actor, None)
    }
}

impl SoftLimitReached {
    /// The event that records it.
    pub fn event(&self, actor: &str) -> NewEvent {
        UsageFact::SoftLimitReached(*self).event(actor, None)
    }
}
