//! Page sessions: open with a one-time code, show, and end.

use super::problem::Problem;
use super::request::RequestContext;
use crate::caller::{Caller, Credential, Reach, Scope};
use crate::page_sessions::CODE_WANTED;
use crate::reply::Reply;
use crate::served::Served;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use teamlog_team::api::milliseconds;
use teamlog_team::engine::Timestamp;

/// Path that accepts a one-time code instead of a token.
pub(crate) const TRADES_A_CODE: &str = "/v1/session";

/// An input without fields.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Nothing {}

/// `{session, team, scope, expires_at, teams}`.
#[derive(Serialize, JsonSchema)]
pub struct NewPageSession {
    /// Secret to send with each later call, like a token; never shown again
    session: String,
    /// Team of the session; absent if it reaches all teams
    team: Option<String>,
    /// Allowed operations
    scope: Scope,
    /// Latest end of the session
    #[schemars(with = "Timestamp")]
    expires_at: String,
    /// Teams that the session reaches, sorted
    teams: Vec<String>,
}

/// `POST /v1/session`.
pub fn open(_: Nothing, request: &mut RequestContext<'_>) -> Result<Reply, Problem> {
    let (served, caller) = (request.served, &request.call.caller);
    let made = match &caller.credential {
        Credential::Code(code) => served.page_sessions().trade(code, served.now()),
        Credential::Token | Credential::PageSession(_) => Ok(None),
    };
    let made =
        made.map_err(|error| Problem::new("io", format!("cannot get random bytes: {error}")))?;
    // Another client may have used the code first.
    Ok(match made {
        None => Reply::unauthorized(CODE_WANTED),
        Some(made) => Reply::json(
            request.route.status,
            &NewPageSession {
                session: made.secret,
                team: caller.reach.team().map(str::to_owned),
                scope: caller.scope,
                expires_at: milliseconds(made.until),
                teams: teams(served, caller),
            },
        ),
    })
}

/// `{team, scope, expires_at, version, data_root_name, teams, now}`.
#[derive(Serialize, JsonSchema)]
pub struct PageSessionAnswer {
    /// Team of the caller; absent if the caller reaches all teams
    team: Option<String>,
    /// Allowed operations
    scope: Scope,
    /// Latest end of the page session; absent for a token
    #[schemars(with = "Option<Timestamp>")]
    expires_at: Option<String>,
    /// Version of the daemon
    version: String,
    /// Name of the data root's directory
    data_root_name: String,
    /// Teams that the caller reaches, sorted
    teams: Vec<String>,
    /// Current time
    #[schemars(with = "Timestamp")]
    now: String,
}

/// `GET /v1/session`.
pub fn show(_: Nothing, request: &mut RequestContext<'_>) -> Result<Reply, Problem> {
    let (served, caller) = (request.served, &request.call.caller);
    let about = served.about().clone();
    let shown = PageSessionAnswer {
        team: caller.reach.team().map(str::to_owned),
        scope: caller.scope,
        expires_at: caller.until.map(milliseconds),
        version: about.version,
        data_root_name: about.data_root_name,
        teams: teams(served, caller),
        now: milliseconds(served.now()),
    };
    Ok(Reply::json(request.route.status, &shown))
}

/// `{ended}`.
#[derive(Serialize, JsonSchema)]
pub struct Ended {
    /// Always true
    ended: bool,
}

/// `POST /v1/session/end`.
pub fn end(_: Nothing, request: &mut RequestContext<'_>) -> Result<Reply, Problem> {
    let Credential::PageSession(session) = &request.call.caller.credential else {
        let message = "only a page session can be ended; to replace a token, rotate it";
        let problem = Problem::new("forbidden", message);
        return Err(problem.detail("hint", "teamlog token rotate"));
    };
    let served = request.served;
    served.page_sessions().end(session, served.now());
    Ok(Reply::json(request.route.status, &Ended { ended: true }))
}

fn teams(served: &Served, caller: &Caller) -> Vec<String> {
    match &caller.reach {
        Reach::Team(team) => vec![team.clone()],
        Reach::Root => served.names(),
    }
}
