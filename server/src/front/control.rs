//! Control of the daemon by its own user, over the Unix socket: status, stop, new tokens, and one-time codes for the
//! page.

use crate::admission::overloaded;
use crate::caller::{Reach, Scope};
use crate::reply::Reply;
use crate::state::AppState;
use serde_json::json;
use std::sync::Arc;
use teamlog_team::api::milliseconds;

/// Returns the daemon's description and the condition of its teams.
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

/// Stops the daemon after this reply is sent.
pub(super) fn stop(state: &AppState) -> Reply {
    state.served.stop();
    state.drain.cancel();
    Reply::json(202, &json!({"stopping": true, "pid": std::process::id()}))
}

/// Creates a new token for a team or for the root. The old token becomes invalid.
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

/// Creates a one-time code for the page. The code is for one team, or for all teams if `team` is `None`.
pub(super) fn code(state: &AppState, scope: &str, team: Option<String>) -> Reply {
    let Some(known) = Scope::from_name(scope) else {
        let message = format!("scope must be read or act, but is {scope:?}");
        return Reply::error(400, "invalid_input", &message);
    };
    let reach = team.clone().map_or(Reach::Root, Reach::Team);
    match state.served.new_code(reach, known) {
        None => not_served(team.as_deref().unwrap_or_default()),
        Some(Err(error)) => Reply::error(
            503,
            "io",
            &format!("cannot create a one-time code: {error}"),
        ),
        Some(Ok(made)) => {
            let until = milliseconds(made.until);
            let url = &state.runtimes.running().url;
            let told = json!({"code": made.secret, "expires_at": until, "team": team, "scope": known, "url": url});
            Reply::json(201, &told)
        }
    }
}

fn not_served(team: &str) -> Reply {
    let message = format!("this daemon serves no team {team:?}");
    Reply::error(404, "team_not_found", &message)
}
