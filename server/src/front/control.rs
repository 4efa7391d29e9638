//! What the daemon's own user may ask of it, on the Unix socket: how it is, that it ends, new tokens, and one-time codes
//! for the page.

use crate::admission::overloaded;
use crate::caller::{Reach, Scope};
use crate::pool::Undone;
use crate::reply::Reply;
use crate::state::AppState;
use crate::wire::sending;
use axum::body::Body;
use axum::extract::{Path, State};
use hyper::Response;
use serde_json::json;
use std::io;
use std::sync::Arc;
use teamlog_team::api::milliseconds;

/// What runs, and how its teams are.
pub(super) async fn status(State(state): State<Arc<AppState>>) -> Response<Body> {
    let running = state.runtimes.running();
    let body = json!({
        "pid": running.pid,
        "url": running.url,
        "socket": running.socket,
        "version": running.version,
        "startedAt": running.started_at,
        "stopping": state.served.is_stopping(),
        "teams": state.served.conditions(),
    });
    sending::whole(Reply::json(200, &body))
}

/// Ends the daemon, once this is answered.
pub(super) async fn stop(State(state): State<Arc<AppState>>) -> Response<Body> {
    state.served.stop();
    state.drain.cancel();
    sending::whole(Reply::json(
        202,
        &json!({"stopping": true, "pid": std::process::id()}),
    ))
}

/// Gives a team a new token; the old one is worth nothing from then on.
pub(super) async fn token(
    State(state): State<Arc<AppState>>,
    Path(team): Path<String>,
) -> Response<Body> {
    if !state.served.serves(&team) {
        return sending::whole(not_served(&team));
    }
    let (served, runtimes, named) = (state.served.clone(), state.runtimes.clone(), team.clone());
    let written = state
        .pool
        .run(move || runtimes.publish(&served, &named))
        .await;
    sending::whole(rotated(Some(&team), written))
}

/// Gives the root a new token; the old one is worth nothing from then on.
pub(super) async fn root_token(State(state): State<Arc<AppState>>) -> Response<Body> {
    let (served, runtimes) = (state.served.clone(), state.runtimes.clone());
    let written = state.pool.run(move || runtimes.publish_root(&served)).await;
    sending::whole(rotated(None, written))
}

fn rotated(team: Option<&str>, written: Result<io::Result<()>, Undone>) -> Reply {
    match written {
        Ok(Ok(())) => Reply::json(200, &json!({"team": team, "rotated": true})),
        Ok(Err(error)) => Reply::error(503, "io", &format!("cannot write the token: {error}")),
        Err(_) => overloaded(),
    }
}

/// Makes a one-time code for a team, with which the page lets itself in.
pub(super) async fn code(
    State(state): State<Arc<AppState>>,
    Path((scope, team)): Path<(String, String)>,
) -> Response<Body> {
    sending::whole(new_code(&state, &scope, Reach::Team(team)))
}

/// The same for all teams.
pub(super) async fn root_code(
    State(state): State<Arc<AppState>>,
    Path(scope): Path<String>,
) -> Response<Body> {
    sending::whole(new_code(&state, &scope, Reach::Root))
}

fn new_code(state: &AppState, scope: &str, reach: Reach) -> Reply {
    let Some(known) = Scope::of_name(scope) else {
        let message = format!("scope must be read or act, but is {scope:?}");
        return Reply::error(400, "invalid_input", &message);
    };
    let team = reach.team().map(str::to_owned);
    match state.served.new_code(reach, known) {
        None => not_served(team.as_deref().unwrap_or_default()),
        Some(Err(error)) => Reply::error(503, "io", &format!("cannot make a code: {error}")),
        Some(Ok(made)) => {
            let until = milliseconds(made.until);
            let url = &state.runtimes.running().url;
            let told = json!({"code": made.secret, "expires_at": until, "team": team, "scope": known, "url": url});
            Reply::json(201, &told)
        }
    }
}

fn not_served(team: &str) -> Reply {
    let message = format!("team must be one that is served, but is {team:?}");
    Reply::error(404, "team_not_found", &message)
}
