//! Sends answers.

use crate::metrics::GaugeGuard;
use crate::reply::{Answer, Reply, Streamed};
use crate::revoked::Revoked;
use crate::state::AppState;
use crate::wire::body::{self, Body};
use crate::wire::timeouts::ConnectionTimeouts;
use crate::wire::watched::MARK;
use http_body_util::BodyExt;
use hyper::body::{Body as HttpBody, Bytes, Frame, SizeHint};
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::{Response, StatusCode};
use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::{Instant, Sleep, sleep};

/// Last frame of a stream whose token or page session became invalid. With another token, the client can resume after the last
/// id that it received.
const REVOKED: &[u8] = b"event: cut\ndata: {\"why\":\"the token was revoked or has expired\"}\n\n";

/// Makes the HTTP response for a complete reply.
pub(crate) fn whole(reply: Reply) -> Response<Body> {
    let status = StatusCode::from_u16(reply.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    headed(
        status,
        reply.content_type,
        reply.headers,
        body::full(reply.body),
    )
}

/// Makes the HTTP response for any answer. Streams end when the daemon stops or when the credential in `revoked` becomes
/// invalid.
pub(crate) fn answered(answer: Answer, state: &AppState, revoked: Revoked) -> Response<Body> {
    match answer {
        Answer::Whole(reply) => whole(reply),
        Answer::Streamed(Streamed {
            content_type,
            frames,
            heartbeat: beat,
        }) => {
            let every = state.limits.heartbeat_time;
            let drain = state.drain.clone();
            let over = async move {
                tokio::select! {
                    () = drain.cancelled() => None,
                    () = revoked.over() => Some(Bytes::from_static(REVOKED)),
                }
            };
            let stream = Stream {
                frames,
                beat,
                every,
                next: Box::pin(sleep(every)),
                over: Box::pin(over),
                ending: false,
                last_frame: None,
                _counted: state.metrics.streaming(),
            };
            headed(
                StatusCode::OK,
                content_type,
                Vec::new(),
                stream.boxed_unsync(),
            )
        }
    }
}

fn headed(
    status: StatusCode,
    content_type: &'static str,
    headers: Vec<(&'static str, String)>,
    body: Body,
) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    let to = response.headers_mut();
    to.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    for (name, value) in headers {
        let name = HeaderName::from_bytes(name.as_bytes());
        if let (Ok(name), Ok(value)) = (name, HeaderValue::from_str(&value)) {
            to.append(name, value);
        }
    }
    response
}

/// Sets the headers that every answer has.
pub(crate) fn guarded(response: &mut Response<Body>) {
    let headers = response.headers_mut();
    let fixed = [
        (MARK, "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-resource-policy", "same-origin"),
    ];
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers
        .entry(CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-store"));
}

/// A body that informs the connection's timeouts when its last piece was passed on.
pub(crate) struct TrackedBody {
    inner: Body,
    timeouts: Arc<ConnectionTimeouts>,
}

impl TrackedBody {
    pub fn new(inner: Body, timeouts: Arc<ConnectionTimeouts>) -> TrackedBody {
        TrackedBody { inner, timeouts }
    }
}

impl HttpBody for TrackedBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Pin::new(&mut self.inner).poll_frame(cx)
    }
    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }
    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

impl Drop for TrackedBody {
    fn drop(&mut self) {
        self.timeouts.answered();
    }
}

/// Body of a stream: its frames, heartbeats, and the last frame.
struct Stream {
    frames: tokio::sync::mpsc::Receiver<Bytes>,
    beat: &'static [u8],
    every: Duration,
    next: Pin<Box<Sleep>>,
    /// Completes when the stream must end. The value is the last frame, if there is one.
    over: Pin<Box<dyn Future<Output = Option<Bytes>> + Send>>,
    ending: bool,
    last_frame: Option<Bytes>,
    _counted: GaugeGuard,
}

impl HttpBody for Stream {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let this = &mut *self;
        if !this.ending
            && let Poll::Ready(last_frame) = this.over.as_mut().poll(cx)
        {
            // No more frames are accepted, but queued frames are still sent.
            this.frames.close();
            this.ending = true;
            this.last_frame = last_frame;
        }
        if let Poll::Ready(frame) = this.frames.poll_recv(cx) {
            this.next.as_mut().reset(Instant::now() + this.every);
            let frame = frame.or_else(|| this.last_frame.take());
            return Poll::Ready(frame.map(|bytes| Ok(Frame::data(bytes))));
        }
        if this.next.as_mut().poll(cx).is_ready() {
            this.next.as_mut().reset(Instant::now() + this.every);
            if !this.beat.is_empty() {
                return Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(this.beat)))));
            }
            // Poll again, so that the new timer is registered with the waker.
            cx.waker().wake_by_ref();
        }
        Poll::Pending
    }
}
