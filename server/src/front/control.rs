//! What the daemon's own user may ask of it, on the Unix socket: how it is, that it ends, and new tokens.

use crate::door::Door;
use crate::reply::Reply;
use crate::wire::sending;
use axum::body::Body;
use axum::extract::{Path, State};
use hyper::Response;
use serde_json::json;
use std::sync::Arc;

/// What runs, and how its teams are.
pub(super) async fn status(State(door): State<Arc<Door>>) -> Response<Body> {
    let running = door.runtimes.running();
    let body = json!({
        "pid": running.pid,
        "url": running.url,
        "socket": running.socket,
        "version": running.version,
        "startedAt": running.started_at,
        "stopping": door.served.is_stopping(),
        "teams": door.served.conditions(),
    });
    sending::whole(Reply::json(200, &body))
}

/// Ends the daemon, once this is answered.
pub(super) async fn stop(State(door): State<Arc<Door>>) -> Response<Body> {
    door.served.stop();
    door.drain.cancel();
    sending::whole(Reply::json(
        202,
        &json!({"stopping": true, "pid": std::process::id()}),
    ))
}

/// Gives a team a new token; the old one is worth nothing from then on.
pub(super) async fn token(
    State(door): State<Arc<Door>>,
    Path(team): Path<String>,
) -> Response<Body> {
    if !door.served.serves(&team) {
        let message = format!("team must be one that is served, but is {team:?}");
        return sending::whole(Reply::error(404, "team_not_found", &message));
    }
    let (served, runtimes, named) = (door.served.clone(), door.runtimes.clone(), team.clone());
    let written = door
        .pool
        .run(move || runtimes.publish(&served, &named))
        .await;
    sending::whole(match written {
        Ok(Ok(())) => Reply::json(200, &json!({"team": team, "rotated": true})),
        Ok(Err(error)) => Reply::error(503, "io", &format!("cannot write the token: {error}")),
        Err(_) => crate::admission::busy("the daemon has more to do than it can; try again"),
    })
}
