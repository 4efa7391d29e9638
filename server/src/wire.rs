//! One connection: HTTP/1.1 within limits, from the first byte to the last.

mod head;
pub(crate) mod pulse;
pub(crate) mod sending;
pub(crate) mod watched;

use crate::door::Door;
use crate::front::Front;
use crate::places::Guest;
use crate::wire::pulse::Pulse;
use crate::wire::sending::Told;
use crate::wire::watched::Watched;
use axum::body::Body;
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
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::Sleep;

/// Serves one connection to its end, or until somebody else needs its place more.
pub(crate) async fn converse<T>(io: T, front: Front, guest: Arc<Guest>, door: Arc<Door>)
where
    T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let pulse = Arc::new(Pulse::new(door.limits.clone()));
    let watched = TokioIo::new(Watched::new(io, pulse.clone()));
    let service = {
        let (pulse, guest) = (pulse.clone(), guest.clone());
        service_fn(move |mut request: Request<hyper::body::Incoming>| {
            guest.asks();
            request.extensions_mut().insert(guest.clone());
            answer(request.map(Body::new), front.clone(), pulse.clone())
        })
    };
    let mut connection = pin!(
        http1::Builder::new()
            .max_buf_size(door.limits.head_bytes.max(8192))
            .max_headers(door.limits.headers)
            .timer(TokioTimer::new())
            .header_read_timeout(None)
            .serve_connection(watched, service)
            .with_upgrades()
    );
    let mut asleep = Box::pin(tokio::time::sleep(door.limits.head_time));
    let mut draining = false;
    loop {
        tokio::select! {
            // Time is looked at after the connection had its turn, for what it did decides how long it has.
            biased;
            _ = connection.as_mut() => return,
            () = poll_fn(|cx| too_late(&pulse, asleep.as_mut(), cx)) => return,
            () = guest.sent_away() => return,
            () = door.drain.cancelled(), if !draining => {
                if pulse.is_silent() {
                    return;
                }
                connection.as_mut().graceful_shutdown();
                draining = true;
            }
        }
    }
}

/// Whether the client had its time.
fn too_late(pulse: &Pulse, mut asleep: Pin<&mut Sleep>, cx: &mut Context<'_>) -> Poll<()> {
    let Some(deadline) = pulse.deadline() else {
        return Poll::Pending;
    };
    if asleep.deadline() != deadline {
        asleep.as_mut().reset(deadline);
    }
    asleep.poll(cx)
}

async fn answer(
    request: Request<Body>,
    front: Front,
    pulse: Arc<Pulse>,
) -> Result<Response<Told>, Infallible> {
    let mut response = match pulse.asked() {
        Ok(()) => front.answer(request).await,
        Err(fault) => sending::whole(watched::malformed(fault)),
    };
    sending::guarded(&mut response);
    if pulse.is_last() {
        let headers = response.headers_mut();
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
    }
    Ok(response.map(|body| Told::new(body, pulse)))
}
