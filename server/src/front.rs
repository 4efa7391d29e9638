//! What lies in front of the calls: who may speak at all, what is told without a token, and the way to admission.

mod control;
mod health;
mod page;
mod upgrade;

use crate::admission;
use crate::call::is_known;
use crate::reply::Reply;
use crate::state::AppState;
use crate::via::Via;
use crate::wire::sending;
use axum::body::Body;
use axum::extract::State;
use axum::routing::{Router, get, post};
use hyper::service::Service;
use hyper::{Method, Request, Response};
use hyper_util::service::TowerToHyperService;
use std::sync::Arc;

/// The way in for connections that came one way.
#[derive(Clone)]
pub(crate) struct Front {
    via: Via,
    state: Arc<AppState>,
    router: TowerToHyperService<Router>,
}

impl Front {
    pub fn new(via: Via, state: Arc<AppState>) -> Front {
        let mut router = Router::new().route("/healthz", get(health::healthz));
        if via != Via::Tls {
            // What is about all teams, and the page, are for this machine.
            router = router
                .route("/", get(page::page))
                .route("/readyz", get(health::readyz))
                .route("/metrics", get(health::metrics));
        }
        if via == Via::Socket {
            router = router
                .route("/control/status", get(control::status))
                .route("/control/stop", post(control::stop))
                .route("/control/token", post(control::token))
                .route("/control/token/{team}", post(control::token))
                .route("/control/code/{scope}", post(control::code))
                .route("/control/code/{scope}/{team}", post(control::code));
        }
        let router = router
            .method_not_allowed_fallback(method_not_allowed)
            .fallback(admission::admit)
            .with_state(state.clone());
        Front {
            via,
            state,
            router: TowerToHyperService::new(router),
        }
    }

    /// Answers one request.
    pub async fn answer(&self, mut request: Request<Body>) -> Response<Body> {
        let checked = admission::host::check(&request, self.via, self.state.port)
            .and_then(|()| admission::origin::check(request.headers(), self.state.port));
        if let Err(reply) = checked {
            self.state.metrics.replied(&reply);
            return sending::whole(reply);
        }
        request.extensions_mut().insert(self.via);
        if self.via != Via::Tcp && upgrade::is_asked(&request) {
            return upgrade::answer(request, self.via, &self.state).await;
        }
        match self.router.call(request).await {
            Ok(response) => response,
            Err(never) => match never {},
        }
    }
}

/// For a path that is answered here; the router adds `Allow`.
async fn method_not_allowed(State(state): State<Arc<AppState>>, method: Method) -> Response<Body> {
    let message = format!("method must be one of Allow, but is {method}");
    let mut reply = Reply::error(405, "method_not_allowed", &message);
    if !is_known(&method) {
        reply = reply.header("connection", "close");
    }
    state.metrics.replied(&reply);
    sending::whole(reply)
}
