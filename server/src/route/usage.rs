//! Tokens that agents used, and how many they may.

use super::endpoint::{Endpoint, Facts};
use super::problem::Problem;
use super::request::RequestContext;
use crate::reply::Reply;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use teamlog_team::Exchange;
use teamlog_team::usage::report::{
    AgentUsed, BudgetShown, ReportUsage, Usage, UsageAnswer, UsedShown,
};

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
pub struct Show;

/// Whose, for what.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct ShowInput {
    /// Only that agent's
    agent_id: Option<String>,
    /// With those for that task
    task_id: Option<String>,
    /// Most agents; else 50
    #[schemars(range(min = 1, max = 1_000))]
    limit: Option<usize>,
    /// The `nextCursor` of the page before
    cursor: Option<String>,
}

impl Endpoint for Show {
    type Input = ShowInput;
    type Answer = Body;
    const FACTS: Facts = Facts::get(
        "/v1/usage",
        "getUsage",
        "How many tokens were used, and may be",
    );

    fn answer(input: ShowInput, request: &mut RequestContext<'_>) -> Result<Reply, Problem> {
        request.look(|team| {
            let answer = team.usage(&Usage {
                worker: input.agent_id,
                task_id: input.task_id,
                limit: input.limit,
                cursor: input.cursor,
            })?;
            Ok(Body::from(answer))
        })
    }
}

/// `POST /v1/usage`.
pub struct Report;

/// What was used.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct ReportInput {
    /// Who used them
    agent_id: String,
    /// For which task
    task_id: Option<String>,
    /// Tokens read
    #[schemars(range(max = 9_007_199_254_740_992_u64))]
    input_tokens: Option<u64>,
    /// Tokens written
    #[schemars(range(max = 9_007_199_254_740_992_u64))]
    output_tokens: Option<u64>,
    /// All of them, if they are more than those; else their sum
    #[schemars(range(max = 9_007_199_254_740_992_u64))]
    tokens: Option<u64>,
}

impl Endpoint for Report {
    type Input = ReportInput;
    type Answer = Body;
    const FACTS: Facts = Facts::post(
        "/v1/usage",
        "reportUsage",
        "Report tokens that an agent used; never refused for their number",
    )
    .codes(&["worker_not_found", "task_not_found"]);

    fn answer(input: ReportInput, request: &mut RequestContext<'_>) -> Result<Reply, Problem> {
        let report = ReportUsage {
            worker: input.agent_id,
            task_id: input.task_id,
            input_tokens: input.input_tokens,
            output_tokens: input.output_tokens,
            tokens: input.tokens,
        };
        request.exchange(request.team()?, report, |_, answer: &UsageAnswer, _| {
            Exchange::of(Report::FACTS.status, &Body::from(answer.clone()))
        })
    }
}
