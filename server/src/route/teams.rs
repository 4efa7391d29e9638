//! Routes of the team to which the token belongs.

use super::input;
use super::problem::Problem;
use super::record::SCHEMA_VERSION;
use super::request::RequestContext;
use super::usage::Budget;
use crate::reply::Reply;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use teamlog_team::lifecycle::read_team::{AgentShown, ReadTeam, TeamShown};
use teamlog_team::lifecycle::setup::{AgentSetup, TeamSetup, TeamSetupAnswer};
use teamlog_team::usage::report::SetBudget;
use teamlog_team::{Exchange, Team};

/// A team.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Team")]
pub struct TeamShape {
    /// Always `1.0.0`
    schema_version: &'static str,
    /// Name of the team
    team_id: String,
    /// Members, sorted
    agents: Vec<AgentShown>,
    /// Token budget, if one is set
    #[serde(skip_serializing_if = "Option::is_none")]
    budget: Option<Budget>,
}

/// `{teams}`.
#[derive(Serialize, JsonSchema)]
pub struct Teams {
    /// The token's team
    teams: Vec<TeamShape>,
}

/// `GET /v1/teams`.
pub fn list(asked: ReadTeam, team: &mut Team) -> Result<Teams, Problem> {
    let teams = vec![team.read_team(asked)?.into()];
    Ok(Teams { teams })
}

/// Input: a team.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShowInput {
    /// Name of the team; must be the token's team
    team: String,
}

/// `{team}`.
#[derive(Serialize, JsonSchema)]
pub struct OneTeam {
    /// The team
    team: TeamShape,
}

/// `GET /v1/teams/{team}`.
pub fn show(asked: ShowInput, team: &mut Team) -> Result<OneTeam, Problem> {
    if asked.team != team.name() {
        return Err(input::another_team(&asked.team, team.name()));
    }
    let team = team.read_team(ReadTeam {})?.into();
    Ok(OneTeam { team })
}

impl From<TeamShown> for TeamShape {
    fn from(shown: TeamShown) -> TeamShape {
        TeamShape {
            schema_version: SCHEMA_VERSION,
            team_id: shown.team,
            agents: shown.agents,
            budget: shown.budget.map(Budget::from),
        }
    }
}

/// Members and token budget of a team. Absent fields stay unchanged; members are never removed.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SetUpInput {
    /// Members to add
    agents: Option<Vec<AgentSetup>>,
    /// New token budget; replaces the old budget
    budget: Option<BudgetInput>,
}

/// A token budget.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct BudgetInput {
    /// Maximum number of tokens of the team
    max_tokens: Option<u64>,
    /// True if new work is refused after a limit is reached
    hard_limit: Option<bool>,
    /// Number of tokens after which the team is warned
    soft_limit_tokens: Option<u64>,
    /// Maximum number of tokens of each agent
    per_agent_tokens: Option<u64>,
}

/// `POST /v1/teams`.
pub fn set_up(input: SetUpInput, request: &mut RequestContext<'_>) -> Result<Reply, Problem> {
    let setup = TeamSetup {
        agents: input.agents.unwrap_or_default(),
        budget: input.budget.map(|budget| SetBudget {
            max_tokens: budget.max_tokens,
            soft_limit_tokens: budget.soft_limit_tokens,
            per_agent_tokens: budget.per_agent_tokens,
            hard_limit: budget.hard_limit.unwrap_or(false),
        }),
    };
    request.exchange(setup, |live, answer: &TeamSetupAnswer, _| {
        let team = TeamShown::read(live, &answer.team)?.into();
        Exchange::new(201, &OneTeam { team })
    })
}
