//! `read-team`: the members of a team, their roles, and its token budget.

use crate::lifecycle::setup::ROLE;
use crate::operation::prelude::*;
use crate::projections::worker::event::Identity;
use crate::usage::report::BudgetShown;

operation! {
    /// Read the members of the team, their roles, and its token budget
    "read-team": Reads(ReadTeam {}) -> TeamShown as read_team
}

/// A team.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TeamShown {
    /// Name of the team
    pub team: String,
    /// The members, sorted
    pub agents: Vec<AgentShown>,
    /// Token budget, if set
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<BudgetShown>,
}

/// A member.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Agent")]
pub struct AgentShown {
    /// Name of the agent
    pub id: String,
    /// Role of the agent
    pub role: String,
    /// Language model of the agent, if known
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

impl ReadTeam {
    fn answer(&self, live: &Live) -> Result<TeamShown> {
        TeamShown::read(live, live.team_name())
    }
}

impl TeamShown {
    /// Reads the team from the state.
    pub fn read(live: &Live, team: &str) -> Result<TeamShown> {
        let agents = live.members()?.into_iter().map(|id| {
            let identity = live.identity(&id)?;
            let what = identity.map_or_else(|| Identity::unregistered(1, ROLE), |noted| noted.what);
            Ok(AgentShown {
                id,
                role: what.role,
                model: what.model,
            })
        });
        Ok(TeamShown {
            team: team.to_owned(),
            agents: agents.collect::<Result<_>>()?,
            budget: live.budget()?.map(BudgetShown::from),
        })
    }
}
