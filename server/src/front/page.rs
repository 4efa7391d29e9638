//! `GET /`: a page for whoever opens the daemon's address in a browser. It shows no data, for it asks for no token.

use crate::reply::Reply;
use crate::state::AppState;
use crate::wire::sending;
use axum::body::Body;
use axum::extract::State;
use hyper::Response;
use std::sync::Arc;

const HTML: &str = "text/html; charset=utf-8";
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; \
                      form-action 'none'; frame-ancestors 'none'";

/// The page.
pub(super) async fn page(State(state): State<Arc<AppState>>) -> Response<Body> {
    let version = escaped(&state.runtimes.running().version);
    let body = format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>teamlog</title>\n\
         <style>body{{font:16px/1.5 system-ui,sans-serif;max-width:40em;margin:3em auto;padding:0 1em}}</style>\n\
         <h1>teamlog {version}</h1>\n<p>Serves {} of one data root.</p>\n<ul>\n\
         <li><a href=\"/healthz\">/healthz</a>: that it is alive</li>\n\
         <li><a href=\"/readyz\">/readyz</a>: whether every team can be read and written</li>\n</ul>\n\
         <p>Everything else wants <code>Authorization: Bearer TOKEN</code>, with the token of \
         <code>teams/TEAM/runtime.json</code>: <code>/v1/status</code>, <code>/v1/tasks</code>, \
         <code>/v1/events</code>, <code>/metrics</code>, and what <code>/v1/openapi.json</code> lists.</p>\n</html>\n",
        teams(state.served.names().len()),
    );
    let reply = Reply::new(200, HTML, body).header("content-security-policy", POLICY);
    sending::whole(reply.header("x-frame-options", "DENY"))
}

fn teams(count: usize) -> String {
    match count {
        1 => "one team".to_owned(),
        more => format!("{more} teams"),
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
