//! Serves one HTTP/1.1 connection within limits.

use crate::connection_slots::Connection;
use crate::front::Front;
use crate::state::AppState;
use crate::wire::sending::{self, TrackedBody};
use crate::wire::timeouts::ConnectionTimeouts;
use crate::wire::watched::{self, Io, Watched};
use hyper::body::Incoming;
use hyper::header::{CONNECTION, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::time::Sleep;

/// Serves a connection until it ends or its slot is needed for another client.
pub(crate) async fn serve_connection(
    io: Io,
    front: Front,
    connection: Arc<Connection>,
    state: Arc<AppState>,
) {
    let timeouts = Arc::new(ConnectionTimeouts::new(state.limits.clone()));
    let watched = TokioIo::new(Watched::new(io, timeouts.clone()));
    let service = {
        let (timeouts, connection) = (timeouts.clone(), connection.clone());
        service_fn(move |request: Request<Incoming>| {
            connection.asks();
            answer(request, front.clone(), connection.clone(), timeouts.clone())
        })
    };
    let mut exchange = pin!(
        http1::Builder::new()
            .max_buf_size(state.limits.head_bytes.max(8192))
            .max_headers(state.limits.headers)
            .timer(TokioTimer::new())
            .header_read_timeout(None)
            .serve_connection(watched, service)
            .with_upgrades()
    );
    let mut asleep = Box::pin(tokio::time::sleep(state.limits.head_time));
    let mut draining = false;
    loop {
        tokio::select! {
            // Poll the connection first, because its progress determines the timeouts.
            biased;
            _ = exchange.as_mut() => return,
            () = poll_fn(|cx| too_late(&timeouts, asleep.as_mut(), cx)) => return,
            () = connection.sent_away() => return,
            () = state.drain.cancelled(), if !draining => {
                if timeouts.is_silent() {
                    return;
                }
                exchange.as_mut().graceful_shutdown();
                draining = true;
            }
        }
    }
}

/// Returns true if the client exceeded a time limit.
fn too_late(
    timeouts: &ConnectionTimeouts,
    mut asleep: Pin<&mut Sleep>,
    cx: &mut Context<'_>,
) -> Poll<()> {
    let Some(deadline) = timeouts.deadline() else {
        return Poll::Pending;
    };
    if asleep.deadline() != deadline {
        asleep.as_mut().reset(deadline);
    }
    asleep.poll(cx)
}

async fn answer(
    request: Request<Incoming>,
    front: Front,
    connection: Arc<Connection>,
    timeouts: Arc<ConnectionTimeouts>,
) -> Result<Response<TrackedBody>, Infallible> {
    let mut response = match timeouts.request() {
        Ok(()) => front.answer(request, &connection).await,
        Err(fault) => sending::whole(watched::malformed(fault)),
    };
    sending::guarded(&mut response);
    if timeouts.is_last() {
        let headers = response.headers_mut();
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
    }
    Ok(response.map(|body| TrackedBody::new(body, timeouts)))
}
