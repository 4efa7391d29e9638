//! Determines the team of a call, and checks the scope of the caller's credential before the call is answered.

use super::input::{TEAM, shown};
use super::problem::Problem;
use super::table::{self, RouteLookup};
use crate::call::Method;
use crate::caller::{Caller, Reach, Scope};
use crate::reply::Reply;
use crate::served::Served;
use teamlog_team::api::Effect;
use teamlog_team::projections::agent_token::event::AgentScope;

/// Returns the team of a call: the caller's own team, or the team that the request names if the caller may use all teams.
/// Returns `None` if the call concerns no team. Returns a 403 reply if the caller may only read, and a 400 or 404 reply if no
/// served team is named.
pub(crate) fn team(
    served: &Served,
    caller: &Caller,
    method: Method,
    path: &[String],
    query: &[(String, String)],
) -> Result<String, Reply> {
    let (effect, wanted) = super::effect(method, path);
    if let Some(lacks) = caller.agent.as_ref().and_then(|agent| agent.lacks(wanted)) {
        let problem = Problem::new("forbidden", lacks).detail("scope", wanted.name());
        return Err(problem.into_reply());
    }
    let records = method == Method::Post && effect == Effect::Records;
    // An operation that records no event but has another scope than `read` changes files beside the log.
    let changes = records || (effect != Effect::Records && wanted != AgentScope::Read);
    if changes && caller.scope == Scope::Read {
        let message = "the page session may only read";
        let problem = Problem::new("forbidden", message).detail("hint", "teamlog dashboard --act");
        return Err(problem.into_reply());
    }
    match &caller.reach {
        Reach::Team(team) => Ok(team.clone()),
        Reach::Root if !is_of_team(method, path) => Ok(String::new()),
        Reach::Root => named(served, query).map_err(Problem::into_reply),
    }
}

/// Returns true if the call concerns one team. Returns false for a path without a route.
fn is_of_team(method: Method, path: &[String]) -> bool {
    matches!(table::find(method, path), RouteLookup::Route(route, _) if route.of_team)
}

fn named(served: &Served, query: &[(String, String)]) -> Result<String, Problem> {
    let mut named = query.iter().filter(|(name, _)| name == TEAM);
    let team = match (named.next(), named.next()) {
        (Some((_, team)), None) if !team.is_empty() => team,
        (Some(_), Some(_)) => {
            return Err(Problem::invalid(TEAM, format!("{TEAM} must be given once")));
        }
        _ => {
            let message = format!(
                "{TEAM} is required in the query, since the token or page session is for all teams"
            );
            return Err(Problem::invalid(TEAM, message));
        }
    };
    match served.serves(team) {
        true => Ok(team.clone()),
        false => {
            let message = format!("this daemon serves no team {}", shown(team));
            Err(Problem::new("team_not_found", message).detail("field", TEAM))
        }
    }
}
