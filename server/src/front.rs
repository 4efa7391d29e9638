//! The front answers requests for health, metrics, the page and control. The front passes all other requests to
//! admission.

mod control;
mod health;
mod page;
mod upgrade;

use crate::admission;
use crate::admission::target::decode_segment;
use crate::call::is_known;
use crate::connection_slots::Connection;
use crate::reply::Reply;
use crate::state::AppState;
use crate::via::Via;
use crate::wire::body::Body;
use crate::wire::sending;
use hyper::body::Incoming;
use hyper::header::HeaderMap;
use hyper::{Method, Request, Response};
use std::sync::Arc;

/// The front of one listener.
#[derive(Clone)]
pub(crate) struct Front {
    via: Via,
    state: Arc<AppState>,
}

/// A path that the front answers itself.
#[derive(Debug, PartialEq, Eq)]
enum FrontPath<'a> {
    Page,
    Health,
    Readiness,
    Metrics,
    Status,
    Stop,
    Token {
        team: Option<&'a str>,
    },
    Code {
        scope: &'a str,
        team: Option<&'a str>,
    },
}

impl FrontPath<'_> {
    /// Returns the front's path for a request, or `None` if admission handles the request. The page and paths about all teams
    /// are available only on this machine. Control is available only to the daemon's own user.
    fn from_path(via: Via, path: &str) -> Option<FrontPath<'_>> {
        let segments: Vec<&str> = path.strip_prefix('/')?.split('/').collect();
        match (via, &segments[..]) {
            (_, ["healthz"]) => Some(FrontPath::Health),
            (Via::Tls, _) => None,
            (_, [""]) => Some(FrontPath::Page),
            (_, ["readyz"]) => Some(FrontPath::Readiness),
            (_, ["metrics"]) => Some(FrontPath::Metrics),
            (Via::Socket, ["control", rest @ ..]) => FrontPath::control(rest),
            _ => None,
        }
    }

    fn control<'a>(segments: &[&'a str]) -> Option<FrontPath<'a>> {
        match *segments {
            ["status"] => Some(FrontPath::Status),
            ["stop"] => Some(FrontPath::Stop),
            ["token"] => Some(FrontPath::Token { team: None }),
            ["token", team] => Some(FrontPath::Token { team: Some(team) }),
            ["code", scope] => Some(FrontPath::Code { scope, team: None }),
            ["code", scope, team] => Some(FrontPath::Code {
                scope,
                team: Some(team),
            }),
            _ => None,
        }
    }

    fn methods(&self) -> &'static [Method] {
        match self {
            FrontPath::Page
            | FrontPath::Health
            | FrontPath::Readiness
            | FrontPath::Metrics
            | FrontPath::Status => &[Method::GET, Method::HEAD],
            FrontPath::Stop | FrontPath::Token { .. } | FrontPath::Code { .. } => &[Method::POST],
        }
    }
}

impl Front {
    pub fn new(via: Via, state: Arc<AppState>) -> Front {
        Front { via, state }
    }

    /// Answers one request.
    pub async fn answer(
        &self,
        request: Request<Incoming>,
        connection: &Arc<Connection>,
    ) -> Response<Body> {
        let checked = admission::host::check(&request, self.via, self.state.port)
            .and_then(|()| admission::origin::check(request.headers(), self.state.port));
        if let Err(reply) = checked {
            self.state.metrics.replied(&reply);
            return sending::whole(reply);
        }
        if self.via != Via::Tcp && upgrade::is_asked(&request) {
            return upgrade::answer(request, self.via, connection, &self.state).await;
        }
        let path = request.uri().path().to_owned();
        match FrontPath::from_path(self.via, &path) {
            None => admission::admit(&self.state, (self.via, connection), request).await,
            Some(path) if path.methods().contains(request.method()) => {
                let reply = self.reply(path, connection, request.headers()).await;
                sending::whole(reply.unwrap_or_else(|reply| reply))
            }
            Some(path) => {
                let reply = method_not_allowed(request.method(), path.methods());
                self.state.metrics.replied(&reply);
                sending::whole(reply)
            }
        }
    }

    async fn reply(
        &self,
        path: FrontPath<'_>,
        connection: &Connection,
        headers: &HeaderMap,
    ) -> Result<Reply, Reply> {
        let state = &self.state;
        let decoded = |team: Option<&str>| team.map(decode_segment).transpose();
        match path {
            FrontPath::Page => Ok(page::page(state)),
            FrontPath::Health => Ok(health::healthz(state)),
            FrontPath::Readiness => health::readyz(state, (self.via, connection), headers).await,
            FrontPath::Metrics => health::metrics(state, (self.via, connection), headers).await,
            FrontPath::Status => Ok(control::status(state)),
            FrontPath::Stop => Ok(control::stop(state)),
            FrontPath::Token { team } => Ok(control::token(state, decoded(team)?).await),
            FrontPath::Code { scope, team } => Ok(control::code(
                state,
                &decode_segment(scope)?,
                decoded(team)?,
            )),
        }
    }
}

/// Makes the reply for a method that the path does not support. An unknown method closes the connection.
fn method_not_allowed(method: &Method, allowed: &[Method]) -> Reply {
    let allowed: Vec<&str> = allowed.iter().map(Method::as_str).collect();
    let allowed = allowed.join(", ");
    let message = format!("this path supports {allowed}, not {method}");
    let reply = Reply::error(405, "method_not_allowed", &message).header("allow", allowed);
    match is_known(method) {
        true => reply,
        false => reply.header("connection", "close"),
    }
}
