//! Upgrades of connections on the Unix socket, and of agents on other machines: from HTTP to another protocol.

use crate::admission::{bearer, busy};
use crate::caller::Caller;
use crate::connection_slots::Connection;
use crate::local_slots::LocalSlot;
use crate::reply::Reply;
use crate::state::AppState;
use crate::unauthorized::unauthorized;
use crate::upgrade::{UpgradeHandler, UpgradedConnection, VERSION_HEADER};
use crate::via::Via;
use crate::wire::sending;
use crate::wire::watched::Watched;
use axum::body::Body;
use hyper::header::{CONNECTION, HeaderMap, HeaderValue, UPGRADE};
use hyper::upgrade::Upgraded;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use tokio::io::copy_bidirectional;

/// Whether the client asks for an upgrade.
pub(crate) fn is_asked(request: &Request<Body>) -> bool {
    request.headers().contains_key(UPGRADE)
}

/// Answers with 101, and hands the connection over once that is sent.
pub(crate) async fn answer(
    request: Request<Body>,
    via: Via,
    state: &Arc<AppState>,
) -> Response<Body> {
    let connection = request.extensions().get::<Arc<Connection>>().cloned();
    let caller = match caller(request.headers(), connection, via, state).await {
        Ok(caller) => caller,
        Err(reply) => return sending::whole(reply),
    };
    match accepted(request.headers(), state) {
        Ok((other, place)) => upgrade(request, (other, place, caller), state),
        Err(reply) => sending::whole(reply),
    }
}

/// Which agent asks; nothing where the daemon's own user does.
async fn caller(
    headers: &HeaderMap,
    connection: Option<Arc<Connection>>,
    via: Via,
    state: &AppState,
) -> Result<Option<Caller>, Reply> {
    match (via, connection) {
        (Via::Socket, _) => Ok(None),
        (_, Some(connection)) => {
            let admitted = bearer::caller(state, via, &connection, headers).await?;
            Ok(Some(admitted.caller))
        }
        (_, None) => Err(unauthorized("authorization must be that of an agent")),
    }
}

fn upgrade(
    mut request: Request<Body>,
    (other, place, caller): (Arc<dyn UpgradeHandler>, LocalSlot, Option<Caller>),
    state: &Arc<AppState>,
) -> Response<Body> {
    let protocol = HeaderValue::from_static(other.protocol());
    let version = state.runtimes.running().version.clone();
    let upgrade = hyper::upgrade::on(&mut request);
    let state = state.clone();
    tokio::spawn(async move {
        // A client that is gone by now has nothing to be told.
        let upgraded = upgrade.await.map_err(io::Error::other);
        let link = upgraded.and_then(|upgraded| match caller {
            None => unwrapped(upgraded, place),
            Some(caller) => bridged(upgraded, place, caller, &state),
        });
        if let Ok(link) = link {
            let served = state.served.clone();
            let thread = std::thread::Builder::new().name("upgraded".to_owned());
            let _ = thread.spawn(move || {
                // The client sees its connection end; the daemon goes on.
                let _ = catch_unwind(AssertUnwindSafe(|| other.serve(&served, link)));
            });
        }
    });
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    let headers = response.headers_mut();
    headers.insert(UPGRADE, protocol);
    headers.insert(CONNECTION, HeaderValue::from_static("upgrade"));
    if let Ok(version) = HeaderValue::from_str(&version) {
        headers.insert(VERSION_HEADER, version);
    }
    response
}

/// Who speaks the protocol that is asked for, and a slot for the connection.
fn accepted(
    headers: &HeaderMap,
    state: &AppState,
) -> Result<(Arc<dyn UpgradeHandler>, LocalSlot), Reply> {
    let request = headers.get(UPGRADE).map_or(&b""[..], HeaderValue::as_bytes);
    let spoken = |other: &Arc<dyn UpgradeHandler>| {
        let protocol = other.protocol().as_bytes();
        protocol.eq_ignore_ascii_case(request)
    };
    let Some(other) = state.upgrade_handler.clone().filter(spoken) else {
        let message = "upgrade must be a protocol that is spoken here";
        return Err(Reply::error(400, "malformed_request", message));
    };
    let ours = &state.runtimes.running().version;
    let version = headers.get(VERSION_HEADER).map(HeaderValue::as_bytes);
    // Who says no version is of one that we know nothing of.
    if version != Some(ours.as_bytes()) {
        let message = format!("{VERSION_HEADER} must be {ours}, that of the daemon");
        return Err(Reply::error(409, "daemon_version_mismatch", &message));
    }
    let message = "the daemon runs as many commands as it can; try again";
    let place = state.local_slots.take().ok_or_else(|| busy(message))?;
    Ok((other, place))
}

/// The socket beneath, blocking, and what was already read from it.
fn unwrapped(upgraded: Upgraded, place: LocalSlot) -> io::Result<UpgradedConnection> {
    let parts = upgraded
        .downcast::<TokioIo<Watched<tokio::net::UnixStream>>>()
        .map_err(|_| io::Error::other("no Unix socket"))?;
    let stream = parts.io.into_inner().into_inner().into_std()?;
    stream.set_nonblocking(false)?;
    Ok(UpgradedConnection::new(
        stream,
        parts.read_buf.to_vec(),
        place,
    ))
}

/// A socket on this machine, between which and the client bytes are carried.
fn bridged(
    upgraded: Upgraded,
    place: LocalSlot,
    caller: Caller,
    state: &AppState,
) -> io::Result<UpgradedConnection> {
    let (ours, theirs) = std::os::unix::net::UnixStream::pair()?;
    theirs.set_nonblocking(true)?;
    let mut theirs = tokio::net::UnixStream::from_std(theirs)?;
    state.bridges.spawn(async move {
        // Whichever side is gone, the other one sees its connection end.
        let _ = copy_bidirectional(&mut TokioIo::new(upgraded), &mut theirs).await;
    });
    Ok(UpgradedConnection::new(ours, Vec::new(), place).of(caller))
}
