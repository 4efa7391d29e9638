//! `GET /v1/openapi.json`: the document of all this.

use super::problem::Problem;
use super::request::RequestContext;
use super::teams::Nothing;
use crate::openapi;
use crate::reply::{JSON, Reply};

/// `GET /v1/openapi.json`.
pub fn document(_: Nothing, _: &mut RequestContext<'_>) -> Result<Reply, Problem> {
    Ok(Reply {
        status: 200,
        content_type: JSON,
        headers: Vec::new(),
        body: openapi::text().to_vec(),
    })
}
