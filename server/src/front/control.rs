//! What the daemon's own user may ask of it, on the Unix socket: how it is, that it ends, new tokens, and one-time codes
//! for the page.

use crate::admission::overloaded;
use crate::caller::{Reach, Scope};
use crate::reply::Reply;
use crate::state::AppState;
use serde_json::json;
use std::sync::Arc;
use teamlog_team::api::milliseconds;

/// What runs, and how its teams are.
pub(super) fn status(state: &AppState) -> Reply {
    let running = state.runtimes.running();
    let body = json!({
        "pid": running.pid,
        "url": running.url,
        "socket": running.socket,
        "version": running.version,
        "startedAt": running.started_at,
        "stopping": state.served.is_stopping(),
        "teams": state.served.conditions(),
        "certificateFailure": state.certificate.as_ref().and_then(|certificate| certificate.failure()),
    });
    Reply::json(200, &body)
}

/// Ends the daemon, once this is answered.
pub(super) fn stop(state: &AppState) -> Reply {
    state.served.stop();
    state.drain.cancel();
    Reply::json(202, &json!({"stopping": true, "pid": std::process::id()}))
}

/// Gives a team a new token, or the root; the old one is worth nothing from then on.
pub(super) async fn token(state: &Arc<AppState>, team: Option<String>) -> Reply {
    if let Some(team) = team.as_ref().filter(|team| !state.served.serves(team)) {
        return not_served(team);
    }
    let (served, runtimes, named) = (state.served.clone(), state.runtimes.clone(), team.clone());
    let publish = move || runtimes.publish(&served, named.as_deref());
    match state.pool.run(publish).await {
        Ok(Ok(())) => Reply::json(200, &json!({"team": team, "rotated": true})),
        Ok(Err(error)) => Reply::error(503, "io", &format!("cannot write the token: {error}")),
        Err(_) => overloaded(),
    }
}

/// Makes a one-time code, with which the page lets itself in: for a team, or without one for all.
pub(super) fn code(state: &AppState, scope: &str, team: Option<String>) -> Reply {
    let Some(known) = Scope::of_name(scope) else {
        let message = format!("scope must be read or act, but is {scope:?}");
        return Reply::error(400, "invalid_input", &message);
    };
    let reach = team.clone().map_or(Reach::Root, Reach::Team);
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
