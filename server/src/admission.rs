//! Admission: what a request must be to become a [`Call`]. The order of the checks is fixed, from the cheapest to the
//! dearest, and nothing of a body is read before its sender has shown a token.

pub(crate) mod bearer;
mod body;
pub(crate) mod host;
pub(crate) mod origin;
pub(crate) mod target;

use crate::call::{Call, Method, is_known};
use crate::caller::Admitted;
use crate::connection_slots::Connection;
use crate::pool::Undone;
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

/// Lets a request through to what answers it.
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

/// The checks, in their order.
async fn call(
    state: &Arc<AppState>,
    (via, connection): (Via, &Connection),
    request: Request<Incoming>,
) -> Result<(Call, Revoked, body::Held), Reply> {
    let (head, body) = request.into_parts();
    if !is_known(&head.method) {
        return Err(unknown_method(&head.method, &head.uri));
    }
    let method = match head.method {
        hyper::Method::POST => Method::Post,
        // The body of an answer to HEAD is left out on the wire.
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
    let wants_stream = head.method == hyper::Method::GET && accepts_stream(&headers);
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
        deadline: Deadline::of(state.limits.wait_time),
        batch: None,
        body,
    };
    Ok((call, revoked, held))
}

/// What is answered to a method that no call has. The connection ends with it.
fn unknown_method(method: &hyper::Method, target: &Uri) -> Reply {
    let path = target::decode(target).map(|(path, _)| path);
    let allow = path.ok().and_then(|path| route::allowed(&path));
    let reply = match allow {
        Some(allow) => route::refused_method(&allow, method.as_str()),
        // A path that is not served takes none.
        None => Reply::error(
            405,
            "method_not_allowed",
            &format!("the method must be GET, HEAD or POST, but is {method}"),
        )
        .header("Allow", ""),
    };
    reply.header("connection", "close")
}

/// Ends the deadline of a call whose answer nobody takes any more.
struct Gone(Deadline);

impl Drop for Gone {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// Has the call answered by a thread that may block.
async fn answer(state: &Arc<AppState>, call: Call, revoked: &Revoked) -> Answer {
    let (served, answering) = (state.served.clone(), state.answer.clone());
    let team = call.team.clone();
    let (effect, _) = route::effect(call.method, &call.path);
    let _gone = Gone(call.deadline.clone());
    let answered = match effect {
        Effect::Records => {
            let _turn = state.per_team_limit.next(&team).await;
            state.batches.run(call).await
        }
        Effect::Reads => {
            let _turn = state.per_team_limit.next(&team).await;
            state.pool.run(move || answering(&served, &call)).await
        }
        // What waits has changed nothing, and may wait on with the next daemon, or under the next token.
        Effect::Waits => tokio::select! {
            answered = state.patient.run(move || answering(&served, &call)) => answered,
            () = state.drain.cancelled() => return busy("the daemon is stopping").into(),
            () = revoked.over() => {
                let message = "authorization must be that of runtime.json, where there is another token now, or a page \
                    session that has not ended";
                return Reply::unauthorized(message).into();
            }
        },
    };
    match answered {
        Ok(answer) => answer,
        Err(Undone::Full) => overloaded().into(),
        Err(Undone::Panicked) => Reply::error(
            500,
            "internal",
            "the daemon failed; what was asked may have happened",
        )
        .into(),
    }
}

/// What is answered where waiting helps.
pub(crate) fn busy(message: &str) -> Reply {
    Reply::error(503, "busy", message).header("retry-after", "1")
}

/// What is answered where no thread is free, and as many calls wait for one as may.
pub(crate) fn overloaded() -> Reply {
    busy("the daemon has more to do than it can; try again")
}

/// JSON as it is, or nothing that says otherwise: what a form of a web page can send is none of it.
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

/// Whether a parameter says that the type before it is not wanted: `q=0`.
fn is_unwanted(parameter: &[u8]) -> bool {
    let weight = parameter.strip_prefix(b"q=");
    let weight = weight.or_else(|| parameter.strip_prefix(b"Q="));
    weight.is_some_and(|weight| weight.iter().all(|digit| matches!(digit, b'0' | b'.')))
}

/// A header that may stand once; absent is the same as empty.
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

/// What the request belongs to: our own header goes before that of others, which is only looked at if it is well-formed.
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
