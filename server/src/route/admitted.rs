//! What a caller has to have for a call: the scope that it wants, and a team.

use super::input::{TEAM, shown};
use super::problem::Problem;
use super::table::{self, Found};
use crate::call::Method;
use crate::caller::{Caller, Reach, Scope};
use crate::reply::Reply;
use crate::served::Served;
use teamlog_team::api::Effect;

/// The team that a call is on: that of the caller, or the one that a caller names who reaches all of them; none where the
/// call is about none. 403 where the caller may only read, 400 or 404 where no team is named, or none that is served.
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
    if records && caller.scope == Scope::Read {
        let message = "the page session must be one that may act, but may only read";
        let problem = Problem::new("forbidden", message).detail("hint", "teamlog dashboard --act");
        return Err(problem.into_reply());
    }
    match &caller.reach {
        Reach::Team(team) => Ok(team.clone()),
        Reach::Root if !is_of_team(method, path) => Ok(String::new()),
        Reach::Root => named(served, query).map_err(Problem::into_reply),
    }
}

/// Whether what is asked is about one team. What leads nowhere is about none.
fn is_of_team(method: Method, path: &[String]) -> bool {
    matches!(table::find(method, path), Found::Route(route, _) if route.of_team)
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
                "{TEAM} is required in the query, since the token or page session is that of all teams"
            );
            return Err(Problem::invalid(TEAM, message));
        }
    };
    match served.serves(team) {
        true => Ok(team.clone()),
        false => {
            let rule = format!("{TEAM} must be a team that is served");
            let message = format!("{rule}, but is {}", shown(team));
            Err(Problem::new("team_not_found", message).detail("field", TEAM))
        }
    }
}
