//! Routes of token usage and budgets.

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
    /// Usage of the team
    used: Used,
    /// Usage of agents, sorted by name; after a report only the reporting agent
    agents: Vec<Agent>,
    /// Usage for the requested task
    #[serde(skip_serializing_if = "Option::is_none")]
    task: Option<Used>,
    /// Budget, if one is set
    #[serde(skip_serializing_if = "Option::is_none")]
    budget: Option<Budget>,
    /// Warning about the budget, if a limit is reached
    #[serde(skip_serializing_if = "Option::is_none")]
    warning: Option<String>,
    /// Cursor of the next page, if there is one
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

/// Used tokens.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "UsedTokens")]
struct Used {
    /// Input tokens
    input_tokens: u64,
    /// Output tokens
    output_tokens: u64,
    /// All tokens
    tokens: u64,
    /// Number of reports
    reports: u64,
}

/// Tokens used by an agent.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "AgentTokens")]
struct Agent {
    /// The agent
    agent_id: String,
    /// Used tokens
    used: Used,
}

/// A token budget.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Budget {
    /// Maximum number of tokens of the team
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u64>,
    /// True if new work is refused after a limit is reached
    hard_limit: bool,
    /// Number of tokens after which the team is warned
    #[serde(skip_serializing_if = "Option::is_none")]
    soft_limit_tokens: Option<u64>,
    /// Maximum number of tokens of each agent
    #[serde(skip_serializing_if = "Option::is_none")]
    per_agent_tokens: Option<u64>,
    /// True if an event recorded that the soft limit was reached
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
        Exchange::new(200, &Body::from(answer.clone()))
    })
}
