//! What the daemon's own user may ask of it, on the Unix socket: how it is, that it ends, and new tokens.

use crate::admission::overloaded;
use crate::reply::Reply;
use crate::state::AppState;
use crate::wire::sending;
use axum::body::Body;
use axum::extract::{Path, State};
use hyper::Response;
use serde_json::json;
use std::sync::Arc;

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
        let message = format!("team must be one that is served, but is {team:?}");
        return sending::whole(Reply::error(404, "team_not_found", &message));
    }
    let (served, runtimes, named) = (state.served.clone(), state.runtimes.clone(), team.clone());
    let written = state
        .pool
        .run(move || runtimes.publish(&served, &named))
        .await;
    sending::whole(match written {
        Ok(Ok(())) => Reply::json(200, &json!({"team": team, "rotated": true})),
        Ok(Err(error)) => Reply::error(503, "io", &format!("cannot write the token: {error}")),
        Err(_) => overloaded(),
    })
}
