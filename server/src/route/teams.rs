//! The team that the token belongs to.

use super::asked::Asked;
use super::endpoint::{Endpoint, Facts};
use super::input;
use super::problem::Problem;
use super::record::SCHEMA_VERSION;
use crate::reply::Reply;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use teamlog_team::Result;
use teamlog_team::Team;

/// A team.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Team")]
pub struct TeamShape {
    /// Always `1.0.0`
    schema_version: &'static str,
    /// Its name
    team_id: String,
    /// Its members, sorted
    agents: Vec<Agent>,
}

/// A member.
#[derive(Serialize, JsonSchema)]
struct Agent {
    /// Its name
    id: String,
    /// What it is there for
    role: String,
}

/// `GET /v1/teams`.
pub struct List;

/// Nothing is asked.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Nothing {}

/// `{teams}`.
#[derive(Serialize, JsonSchema)]
pub struct Teams {
    /// The team of the token
    teams: Vec<TeamShape>,
}

impl Endpoint for List {
    type Input = Nothing;
    type Answer = Teams;
    const FACTS: Facts = Facts::get("/v1/teams", "listTeams", "The team of the token, in a list");

    fn answer(_: Nothing, asked: &mut Asked<'_>) -> std::result::Result<Reply, Problem> {
        asked.look(|team| {
            Ok(Teams {
                teams: vec![shape(team)?],
            })
        })
    }
}

/// `GET /v1/teams/{team}`.
pub struct Show;

/// Which team.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShowInput {
    /// The team, which must be that of the token
    team: String,
}

/// `{team}`.
#[derive(Serialize, JsonSchema)]
pub struct OneTeam {
    /// The team
    team: TeamShape,
}

impl Endpoint for Show {
    type Input = ShowInput;
    type Answer = OneTeam;
    const FACTS: Facts = Facts::get("/v1/teams/{team}", "getTeam", "The team of the token");

    fn answer(input: ShowInput, asked: &mut Asked<'_>) -> std::result::Result<Reply, Problem> {
        if input.team != asked.call.team {
            return Err(input::another_team(&input.team, asked.call));
        }
        asked.look(|team| Ok(OneTeam { team: shape(team)? }))
    }
}

/// What a member is there for that never said.
const ROLE: &str = "worker";

fn shape(team: &mut Team) -> Result<TeamShape> {
    let team_id = team.name().to_owned();
    let agents = team.look(|live, _| {
        let members = live.members()?.into_iter();
        let agents = members.map(|id| {
            let identity = live.identity(&id)?;
            let role = identity.map_or(ROLE.to_owned(), |noted| noted.what.role);
            Ok(Agent { id, role })
        });
        agents.collect()
    })?;
    Ok(TeamShape {
        schema_version: SCHEMA_VERSION,
        team_id,
        agents,
    })
}
