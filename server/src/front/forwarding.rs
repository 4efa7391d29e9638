//! The way out of HTTP, on the Unix socket.

use crate::door::Door;
use crate::forward::{Forward, PROTOCOL};
use crate::gate::busy;
use crate::reply::Reply;
use crate::wire::sending;
use crate::wire::watched::Watched;
use axum::body::Body;
use hyper::header::{CONNECTION, HeaderValue, UPGRADE};
use hyper::upgrade::Upgraded;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use std::io;
use std::os::unix::net::UnixStream;
use std::sync::Arc;

/// Whether the client asks for it.
pub(crate) fn is_asked(request: &Request<Body>) -> bool {
    request.headers().contains_key(UPGRADE)
}

/// Says yes, and hands the connection over once that is sent.
pub(crate) fn take_over(mut request: Request<Body>, door: &Arc<Door>) -> Response<Body> {
    let asked = request.headers().get(UPGRADE);
    let known =
        asked.is_some_and(|asked| asked.as_bytes().eq_ignore_ascii_case(PROTOCOL.as_bytes()));
    let (Some(forward), true) = (door.forward.clone(), known) else {
        let message = format!("upgrade must be {PROTOCOL}, where that is spoken");
        return sending::whole(Reply::error(400, "malformed_request", &message));
    };
    let Ok(place) = door.forwards.clone().try_acquire_owned() else {
        return sending::whole(busy(
            "the daemon runs as many commands as it can; try again",
        ));
    };
    let upgrade = hyper::upgrade::on(&mut request);
    let door = door.clone();
    tokio::spawn(async move {
        // A client that is gone by now has nothing to be told.
        if let Ok((stream, early)) = upgrade.await.map_err(io::Error::other).and_then(plain) {
            let served = door.served.clone();
            let thread = std::thread::Builder::new().name("forward".to_owned());
            let _ = thread.spawn(move || {
                serve(&*forward, &served, stream, early);
                drop(place);
            });
        }
    });
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    let headers = response.headers_mut();
    headers.insert(UPGRADE, HeaderValue::from_static(PROTOCOL));
    headers.insert(CONNECTION, HeaderValue::from_static("upgrade"));
    response
}

fn serve(forward: &dyn Forward, served: &Arc<crate::Served>, stream: UnixStream, early: Vec<u8>) {
    let run = std::panic::AssertUnwindSafe(|| forward.serve(served, stream, early));
    // The client sees its connection end; the daemon goes on.
    let _ = std::panic::catch_unwind(run);
}

/// The socket beneath, blocking, and what was already read from it.
fn plain(upgraded: Upgraded) -> io::Result<(UnixStream, Vec<u8>)> {
    let parts = upgraded
        .downcast::<TokioIo<Watched<tokio::net::UnixStream>>>()
        .map_err(|_| io::Error::other("no Unix socket"))?;
    let stream = parts.io.into_inner().into_inner().into_std()?;
    stream.set_nonblocking(false)?;
    Ok((stream, parts.read_buf.to_vec()))
}
