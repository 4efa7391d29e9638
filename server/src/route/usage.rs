//! Tokens that agents used, and how many they may.

use super::problem::Problem;
use super::request::RequestContext;
use crate::reply::Reply;
use schemars::JsonSchema;
use serde::Serialize;
use teamlog_team::usage::report::{
    AgentUsed, BudgetShown, ReportUsage, Usage, UsageAnswer, UsedShown,
};
use teamlog_team::{Exchange, Team};

/// `{used, agents, task?, budget?, warning?, nextCursor?}`.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "UsageBody")]
pub struct Body {
    /// By the team
    used: Used,
    /// By agents, sorted by name; after a report the one who reported
    agents: Vec<Agent>,
    /// For the task that was asked for
    #[serde(skip_serializing_if = "Option::is_none")]
    task: Option<Used>,
    /// How many may be used, where that was said
    #[serde(skip_serializing_if = "Option::is_none")]
    budget: Option<Budget>,
    /// What the team is to be warned of
    #[serde(skip_serializing_if = "Option::is_none")]
    warning: Option<String>,
    /// The agent to go on behind, where there are more
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

/// Tokens that were used.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "UsedTokens")]
struct Used {
    /// Tokens read
    input_tokens: u64,
    /// Tokens written
    output_tokens: u64,
    /// All of them
    tokens: u64,
    /// How often that was reported
    reports: u64,
}

/// Tokens that an agent used.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "AgentTokens")]
struct Agent {
    /// The agent
    agent_id: String,
    /// The tokens
    used: Used,
}

/// How many tokens may be used.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Budget {
    /// By the team
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u64>,
    /// Whether new work is refused once they are used up
    hard_limit: bool,
    /// By the team, before it is warned
    #[serde(skip_serializing_if = "Option::is_none")]
    soft_limit_tokens: Option<u64>,
    /// By each agent
    #[serde(skip_serializing_if = "Option::is_none")]
    per_agent_tokens: Option<u64>,
    /// Whether an event says that the soft limit was reached
    soft_limit_reached: bool,
}

impl From<UsedShown> for Used {
    fn from(used: UsedShown) -> Used {
        Used {
            input_tokens: used.input_tokens,
            output_tokens: used.output_tokens,
            tokens: used.tokens,
            reports: used.reports,
        }
    }
}

impl From<AgentUsed> for Agent {
    fn from(agent: AgentUsed) -> Agent {
        Agent {
            agent_id: agent.worker,
            used: agent.used.into(),
        }
    }
}

impl From<BudgetShown> for Budget {
    fn from(budget: BudgetShown) -> Budget {
        Budget {
            max_tokens: budget.max_tokens,
            hard_limit: budget.hard_limit,
            soft_limit_tokens: budget.soft_limit_tokens,
            per_agent_tokens: budget.per_agent_tokens,
            soft_limit_reached: budget.soft_limit_reached,
        }
    }
}

impl From<UsageAnswer> for Body {
    fn from(answer: UsageAnswer) -> Body {
        Body {
            used: answer.used.into(),
            agents: answer.agents.into_iter().map(Agent::from).collect(),
            task: answer.task.map(Used::from),
            budget: answer.budget.map(Budget::from),
            warning: answer.warning,
            next_cursor: answer.next_cursor,
        }
    }
}

/// `GET /v1/usage`.
pub fn show(asked: Usage, team: &mut Team) -> Result<Body, Problem> {
    Ok(team.usage(&asked)?.into())
}

/// `POST /v1/usage`.
pub fn report(report: ReportUsage, request: &mut RequestContext<'_>) -> Result<Reply, Problem> {
    request.exchange(report, |_, answer: &UsageAnswer, _| {
        Exchange::of(200, &Body::from(answer.clone()))
    })
}
