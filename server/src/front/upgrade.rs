//! Upgrades of connections from HTTP to another protocol, on the Unix socket and for agents on other machines.

use crate::admission::{bearer, busy};
use crate::caller::Admitted;
use crate::connection_slots::Connection;
use crate::forward::{self, Forward, PROTOCOL, PROTOCOL_NAME};
use crate::local_slots::LocalSlot;
use crate::reply::Reply;
use crate::state::AppState;
use crate::upgrade::{UpgradedConnection, VERSION_HEADER};
use crate::via::Via;
use crate::wire::body::{self, Body};
use crate::wire::sending;
use crate::wire::watched::{Io, Watched};
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONNECTION, HeaderMap, HeaderValue, UPGRADE};
use hyper::upgrade::Upgraded;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::sync::OwnedSemaphorePermit;
use tokio_util::either::Either;

/// Returns true if the client requests an upgrade.
pub(crate) fn is_asked(request: &Request<Incoming>) -> bool {
    request.headers().contains_key(UPGRADE)
}

/// An agent on another machine.
struct Remote {
    admitted: Admitted,
    connection: Arc<Connection>,
    /// Permit for one of the concurrent commands of the agent's token.
    place: OwnedSemaphorePermit,
}

/// Replies with 101. Passes the connection to the handler after the reply is sent.
pub(crate) async fn answer(
    request: Request<Incoming>,
    via: Via,
    connection: &Arc<Connection>,
    state: &Arc<AppState>,
) -> Response<Body> {
    let remote = remote(request.headers(), connection, via, state).await;
    let accepted = remote.and_then(|remote| {
        let (forward, place) = accepted(request.headers(), via, state)?;
        Ok((forward, place, remote))
    });
    match accepted {
        Ok(accepted) => upgrade(request, accepted, state),
        Err(reply) => sending::whole(reply),
    }
}

/// Returns the agent if the client is on another machine. Returns `None` for the daemon's own user.
async fn remote(
    headers: &HeaderMap,
    connection: &Arc<Connection>,
    via: Via,
    state: &AppState,
) -> Result<Option<Remote>, Reply> {
    match via {
        Via::Tls => {}
        Via::Socket => return Ok(None),
        Via::Tcp => {
            return Err(Reply::unauthorized(
                "this path requires the header Authorization: Bearer TOKEN, with an agent's token",
            ));
        }
    }
    let admitted = bearer::caller(state, via, connection, headers).await?;
    let places = admitted.places.clone();
    let Some(place) = places.and_then(|places| places.try_acquire_owned().ok()) else {
        let most = state.limits.agent_connections;
        let message = format!(
            "the token is used for {most} commands at a time already, its limit; try again"
        );
        return Err(busy(&message));
    };
    Ok(Some(Remote {
        admitted,
        connection: connection.clone(),
        place,
    }))
}

fn upgrade(
    mut request: Request<Incoming>,
    (forward, place, remote): (Arc<dyn Forward>, LocalSlot, Option<Remote>),
    state: &Arc<AppState>,
) -> Response<Body> {
    let version = version(state);
    let upgrade = hyper::upgrade::on(&mut request);
    let state = state.clone();
    tokio::spawn(async move {
        // The upgrade fails if the client disconnected.
        let upgraded = upgrade.await.map_err(io::Error::other);
        let link = upgraded.and_then(|upgraded| match remote {
            None => unwrapped(upgraded, place),
            Some(remote) => bridged(upgraded, place, remote, &state),
        });
        if let Ok(link) = link {
            let served = state.served.clone();
            let thread = std::thread::Builder::new().name("upgraded".to_owned());
            let _ = thread.spawn(move || {
                // After a panic, the connection ends and the daemon continues.
                let _ = catch_unwind(AssertUnwindSafe(|| {
                    forward::exchange(&served, link, &*forward)
                }));
            });
        }
    });
    let mut response = Response::new(body::full(Bytes::new()));
    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    let headers = response.headers_mut();
    headers.insert(UPGRADE, HeaderValue::from_static(PROTOCOL));
    headers.insert(CONNECTION, HeaderValue::from_static("upgrade"));
    if let Ok(version) = HeaderValue::from_str(&version) {
        headers.insert(VERSION_HEADER, version);
    }
    response
}

/// Returns the version that clients must have.
fn version(state: &AppState) -> String {
    state.runtimes.running().version.clone()
}

/// Returns the handler for the requested protocol, and a slot for the connection.
fn accepted(
    headers: &HeaderMap,
    via: Via,
    state: &AppState,
) -> Result<(Arc<dyn Forward>, LocalSlot), Reply> {
    let request = headers.get(UPGRADE).map_or(&b""[..], HeaderValue::as_bytes);
    let is_spoken = request.eq_ignore_ascii_case(PROTOCOL.as_bytes());
    let name = request.split(|byte| *byte == b'/').next();
    if !is_spoken && name.is_some_and(|name| name.eq_ignore_ascii_case(PROTOCOL_NAME.as_bytes())) {
        let message = format!("the daemon supports the protocol {PROTOCOL} only");
        return Err(Reply::error(409, "daemon_version_mismatch", &message));
    }
    let Some(forward) = state.forward.clone().filter(|_| is_spoken) else {
        let message = "the daemon does not support the requested protocol";
        return Err(Reply::error(400, "malformed_request", message));
    };
    let ours = version(state);
    let version = headers.get(VERSION_HEADER).map(HeaderValue::as_bytes);
    // Clients without the header have an unknown version.
    if version != Some(ours.as_bytes()) {
        let message = format!("{VERSION_HEADER} must be {ours}, the version of the daemon");
        return Err(Reply::error(409, "daemon_version_mismatch", &message));
    }
    let message = "the daemon has reached its limit of commands; try again";
    // Other machines have separate slots, so that they cannot block the local command line.
    let slots = match via {
        Via::Tls => &state.remote_slots,
        Via::Tcp | Via::Socket => &state.local_slots,
    };
    let place = slots.take().ok_or_else(|| busy(message))?;
    Ok((forward, place))
}

/// Returns the connection below the upgrade, and the bytes that were already read from it.
fn beneath(upgraded: Upgraded) -> io::Result<(Io, Bytes)> {
    let parts = upgraded.downcast::<TokioIo<Watched>>();
    let parts = parts.map_err(|_| io::Error::other("no connection of this daemon's"))?;
    Ok((parts.io.into_inner().into_inner(), parts.read_buf))
}

/// Returns the socket below the upgrade in blocking mode, and the bytes that were already read from it.
fn unwrapped(upgraded: Upgraded, place: LocalSlot) -> io::Result<UpgradedConnection> {
    let (io, early) = beneath(upgraded)?;
    let Either::Left(stream) = io else {
        return Err(io::Error::other("no Unix socket"));
    };
    let stream = stream.into_std()?;
    stream.set_nonblocking(false)?;
    Ok(UpgradedConnection::new(stream, early.to_vec(), place))
}

/// Returns a local socket. Bytes are copied between this socket and the client until either side ends or the token
/// becomes invalid.
fn bridged(
    upgraded: Upgraded,
    place: LocalSlot,
    remote: Remote,
    state: &AppState,
) -> io::Result<UpgradedConnection> {
    let (client, early) = beneath(upgraded)?;
    let (ours, theirs) = std::os::unix::net::UnixStream::pair()?;
    theirs.set_nonblocking(true)?;
    let theirs = tokio::net::UnixStream::from_std(theirs)?;
    let Remote {
        admitted,
        connection,
        place: of_token,
    } = remote;
    let (revoked, linger) = (admitted.revoked.clone(), state.limits.linger_time);
    tokio::spawn(async move {
        tokio::select! {
            () = carry(client, theirs, &early, linger) => {}
            () = revoked.cancelled() => {}
        }
        drop((connection, of_token));
    });
    let link = UpgradedConnection::new(ours, Vec::new(), place);
    Ok(link.for_agent(admitted.caller, admitted.revoked, state.bodies.clone()))
}

/// Copies bytes in both directions until both sides have ended. After the last byte, waits briefly so that the client can read
/// all bytes.
async fn carry(client: Io, theirs: tokio::net::UnixStream, early: &[u8], linger: Duration) {
    let (mut from_client, mut to_client) = tokio::io::split(client);
    let (mut from_us, mut to_us) = theirs.into_split();
    let up = async {
        let _ = to_us.write_all(early).await;
        let _ = tokio::io::copy(&mut from_client, &mut to_us).await;
        // Shutting down tells the handler that the client disconnected.
        let _ = to_us.shutdown().await;
    };
    let down = async {
        let _ = tokio::io::copy(&mut from_us, &mut to_client).await;
        let _ = to_client.shutdown().await;
    };
    let (mut up, mut down) = (pin!(up), pin!(down));
    tokio::select! {
        () = &mut down => {
            let _ = tokio::time::timeout(linger, up).await;
        }
        () = &mut up => down.await,
    }
}
