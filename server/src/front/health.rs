//! Health of the daemon: liveness, readiness, metrics.

use crate::admission::{bearer, overloaded};
use crate::connection_slots::Connection;
use crate::reply::Reply;
use crate::served::Condition;
use crate::state::AppState;
use crate::via::Via;
use hyper::header::{AUTHORIZATION, HeaderMap};
use serde_json::json;
use std::sync::Arc;

const NUMBERS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Replies that the process runs, with its version.
pub(super) fn healthz(state: &AppState) -> Reply {
    let version = &state.runtimes.running().version;
    Reply::json(200, &json!({"status": "ok", "version": version}))
}

/// Replies 200 if every team can be read and written, and 503 otherwise or while the daemon is stopping. A caller with a token also gets
/// the names of the failing teams and the reasons.
pub(super) async fn readyz(
    state: &AppState,
    way: (Via, &Connection),
    headers: &HeaderMap,
) -> Result<Reply, Reply> {
    let teams = state.served.conditions();
    let unready = teams
        .values()
        .filter(|condition| !matches!(condition, Condition::Sound))
        .count();
    let (status, word) = match (state.served.is_stopping(), unready) {
        (true, _) => (503, "stopping"),
        (false, 0) => (200, "ready"),
        (false, _) => (503, "unready"),
    };
    let mut body = json!({"status": word, "served": teams.len(), "unready": unready});
    if knows(state, way, headers).await? {
        body["teams"] = json!(teams);
    }
    let reply = Reply::json(status, &body);
    Ok(match status {
        200 => reply,
        _ => reply.header("retry-after", "1"),
    })
}

/// Replies with the metrics. Callers need a token, except on the socket.
pub(super) async fn metrics(
    state: &Arc<AppState>,
    way: (Via, &Connection),
    headers: &HeaderMap,
) -> Result<Reply, Reply> {
    if !knows(state, way, headers).await? {
        let message = "this path requires the header Authorization: Bearer TOKEN, with the token in runtime.json";
        return Err(Reply::unauthorized(message));
    }
    let all = state.clone();
    let text = state.pool.run(move || {
        let (waiting, running) = all.pool.load();
        let calls = (waiting, running, all.awaiting.load().1);
        all.metrics.text(&all.served, calls, all.local_slots.load())
    });
    match text.await {
        Err(_) => Err(overloaded()),
        Ok(Ok(text)) => Ok(Reply::new(200, NUMBERS, text)),
        Ok(Err(error)) => Err(Reply::error(500, "internal", &error.to_string())),
    }
}

/// Returns true if the caller may see the names of teams. Refuses an invalid token. Without a token, returns false.
async fn knows(
    state: &AppState,
    (via, connection): (Via, &Connection),
    headers: &HeaderMap,
) -> Result<bool, Reply> {
    match (via, headers.contains_key(AUTHORIZATION)) {
        (Via::Socket, _) => Ok(true),
        (Via::Tcp | Via::Tls, false) => Ok(false),
        (Via::Tcp | Via::Tls, true) => {
            let admitted = bearer::caller(state, via, connection, headers).await?;
            match admitted.caller.agent {
                None => Ok(true),
                Some(_) => Err(Reply::unauthorized(
                    "an agent token is not sufficient for this path",
                )),
            }
        }
    }
}
