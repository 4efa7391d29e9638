//! Admission: the checks that turn a request into a [`Call`]. Their order is fixed, from the cheapest to the most
//! expensive, and no byte of a body is read before the client has presented a valid token.

pub(crate) mod bearer;
mod body;
pub(crate) mod host;
pub(crate) mod origin;
pub(crate) mod target;

use crate::call::{Call, Method, is_known};
use crate::caller::Admitted;
use crate::connection_slots::Connection;
use crate::pool::NoResult;
use crate::reply::{Answer, Reply};
use crate::revoked::Revoked;
use crate::route::{self, Problem};
use crate::state::AppState;
use crate::via::Via;
use crate::wire::body::Body;
use crate::wire::sending;
use hyper::body::Incoming;
use hyper::header::{ACCEPT, CONTENT_ENCODING, CONTENT_TYPE, HeaderMap};
use hyper::{Request, Response, Uri};
use std::sync::Arc;
use std::time::Instant;
use teamlog_team::api::Effect;
use teamlog_team::command::deadline::Deadline;

/// Checks a request and passes the call to its handler.
pub(crate) async fn admit(
    state: &Arc<AppState>,
    way: (Via, &Connection),
    request: Request<Incoming>,
) -> Response<Body> {
    let since = Instant::now();
    let (answer, revoked) = match call(state, way, request).await {
        Ok((call, revoked, held)) => {
            let answer = answer(state, call, &revoked).await;
            drop(held);
            (answer, revoked)
        }
        Err(reply) => (Answer::Whole(reply), Revoked::default()),
    };
    state.metrics.answered(&answer, since.elapsed());
    sending::answered(answer, state, revoked)
}

/// Runs the checks in their order.
async fn call(
    state: &Arc<AppState>,
    (via, connection): (Via, &Connection),
    request: Request<Incoming>,
) -> Result<(Call, Revoked, body::BodyPermits), Reply> {
    let (head, body) = request.into_parts();
    if !is_known(&head.method) {
        return Err(unknown_method(&head.method, &head.uri));
    }
    let method = match head.method {
        hyper::Method::POST => Method::Post,
        // The wire layer omits the body of an answer to HEAD.
        _ => Method::Get,
    };
    let headers = head.headers;
    if method == Method::Post {
        check_content(&headers)?;
    }
    let admitted = match method == Method::Post && head.uri.path() == route::TRADES_A_CODE {
        true => bearer::code(state, via, connection, &headers).await?,
        false => bearer::caller(state, via, connection, &headers).await?,
    };
    let (body, held) = body::read(state, &headers, body).await?;
    let (path, query) = target::decode(&head.uri)?;
    let Admitted {
        caller, revoked, ..
    } = admitted;
    let team = route::team(&state.served, &caller, method, &path, &query)?;
    let revoked = Revoked::new(revoked, &state.served, &caller, &team);
    let wants_stream = head.method != hyper::Method::HEAD && accepts_stream(&headers);
    let call = Call {
        method,
        path,
        query,
        caller,
        team,
        key: text(&headers, "Idempotency-Key")?,
        trace_id: trace_id(&headers)?,
        last_event_id: text(&headers, "Last-Event-ID")?,
        wants_stream,
        deadline: Deadline::new(state.limits.wait_time),
        batch: None,
        body,
    };
    Ok((call, revoked, held))
}

/// Builds the reply for a method that no route accepts. The reply closes the connection.
fn unknown_method(method: &hyper::Method, target: &Uri) -> Reply {
    let path = target::decode(target).map(|(path, _)| path);
    let allow = path.ok().and_then(|path| route::allowed(&path));
    let reply = match allow {
        Some(allow) => route::refused_method(&allow, method.as_str()),
        // An unknown path has no methods, so answer 404.
        None => Reply::error(
            405,
            "method_not_allowed",
            &format!("the method must be GET, HEAD or POST, but is {method}"),
        )
        .header("Allow", ""),
    };
    reply.header("connection", "close")
}

/// Ends the deadline of a call when the call's answer is dropped.
struct DeadlineEnd(Deadline);

impl Drop for DeadlineEnd {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// Answers the call on a thread that may block.
async fn answer(state: &Arc<AppState>, call: Call, revoked: &Revoked) -> Answer {
    let (served, answering) = (state.served.clone(), state.answer.clone());
    let team = call.team.clone();
    let (effect, _) = route::effect(call.method, &call.path);
    let _gone = DeadlineEnd(call.deadline.clone());
    let answered = match effect {
        Effect::Records => {
            let _turn = state.per_team_limit.next(&team).await;
            state.batches.run(call).await
        }
        Effect::Reads => {
            let _turn = state.per_team_limit.next(&team).await;
            state.pool.run(move || answering(&served, &call)).await
        }
        // A waiting call has changed nothing, so it may end early. The client repeats the call with the next daemon or the next token.
        Effect::Waits => tokio::select! {
            answered = state.awaiting.run(move || answering(&served, &call)) => answered,
            () = state.drain.cancelled() => return busy("the daemon is stopping").into(),
            () = revoked.over() => {
                let message = "the token or page session of this request is no longer valid; runtime.json holds the \
                    current token";
                return Reply::unauthorized(message).into();
            }
        },
    };
    match answered {
        Ok(answer) => answer,
        Err(NoResult::Full) => overloaded().into(),
        Err(NoResult::Panicked) => Reply::error(
            500,
            "internal",
            "the daemon failed; the request may have been executed",
        )
        .into(),
    }
}

/// Builds the 503 reply for cases in which a retry helps.
pub(crate) fn busy(message: &str) -> Reply {
    Reply::error(503, "busy", message).header("retry-after", "1")
}

/// Builds the 503 reply for a full queue: no thread is free, and no more calls may wait.
pub(crate) fn overloaded() -> Reply {
    busy("the daemon is overloaded; try again")
}

/// Checks that the content type is JSON or missing. An HTML form always sends another content type.
fn check_content(headers: &HeaderMap) -> Result<(), Reply> {
    let unsupported = |message: &str| Reply::error(415, "unsupported_media_type", message);
    let mut encodings = headers.get_all(CONTENT_ENCODING).iter();
    if encodings.any(|encoding| !encoding.as_bytes().eq_ignore_ascii_case(b"identity")) {
        return Err(unsupported("content-encoding must be absent"));
    }
    let mut types = headers.get_all(CONTENT_TYPE).iter();
    match (types.next(), types.next()) {
        (None, _) => Ok(()),
        (Some(only), None) if is_json(only.as_bytes()) => Ok(()),
        _ => Err(unsupported("content-type must be application/json")),
    }
}

fn is_json(content_type: &[u8]) -> bool {
    let essence = content_type.split(|byte| *byte == b';').next();
    essence.is_some_and(|essence| {
        essence
            .trim_ascii()
            .eq_ignore_ascii_case(b"application/json")
    })
}

fn accepts_stream(headers: &HeaderMap) -> bool {
    headers.get_all(ACCEPT).iter().any(|value| {
        value.as_bytes().split(|byte| *byte == b',').any(|range| {
            let mut parts = range.split(|byte| *byte == b';').map(<[u8]>::trim_ascii);
            let essence = parts.next().unwrap_or_default();
            essence.eq_ignore_ascii_case(b"text/event-stream") && !parts.any(is_unwanted)
        })
    })
}

/// Returns true if the parameter is `q=0`, which excludes a media type.
fn is_unwanted(parameter: &[u8]) -> bool {
    let weight = parameter.strip_prefix(b"q=");
    let weight = weight.or_else(|| parameter.strip_prefix(b"Q="));
    weight.is_some_and(|weight| weight.iter().all(|digit| matches!(digit, b'0' | b'.')))
}

/// Returns the value of a header that may occur once. An empty header counts as absent.
fn text(headers: &HeaderMap, name: &'static str) -> Result<Option<String>, Reply> {
    let fault = |rule: &str| Problem::invalid(name, format!("{name} {rule}")).into_reply();
    let mut values = headers.get_all(name).iter();
    let (first, more) = (values.next(), values.next());
    let Some(first) = first else { return Ok(None) };
    if more.is_some() {
        return Err(fault("must be given once"));
    }
    match std::str::from_utf8(first.as_bytes()) {
        Ok("") => Ok(None),
        Ok(text) => Ok(Some(text.to_owned())),
        Err(_) => Err(fault("must be UTF-8")),
    }
}

/// Returns the trace id of the request. `X-Trace-Id` takes precedence over `traceparent`, which is used only if it is
/// well-formed.
fn trace_id(headers: &HeaderMap) -> Result<Option<String>, Reply> {
    if let Some(own) = text(headers, "X-Trace-Id")? {
        return Ok(Some(own));
    }
    let Ok(Some(parent)) = text(headers, "traceparent") else {
        return Ok(None);
    };
    let mut parts = parent.split('-');
    let (_version, trace) = (parts.next(), parts.next());
    let sound = |trace: &&str| {
        trace.len() == 32
            && trace
                .bytes()
                .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
            && trace.bytes().any(|byte| byte != b'0')
    };
    Ok(trace.filter(sound).map(str::to_owned))
}
