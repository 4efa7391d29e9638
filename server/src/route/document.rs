//! `GET /v1/openapi.json`: the document of all this.

use super::endpoint::{Endpoint, Facts};
use super::problem::Problem;
use super::request::RequestContext;
use super::teams::Nothing;
use crate::openapi;
use crate::reply::{JSON, Reply};
use serde_json::{Map, Value};

/// `GET /v1/openapi.json`.
pub struct Document;

impl Endpoint for Document {
    type Input = Nothing;
    type Answer = Map<String, Value>;
    const FACTS: Facts = Facts::get(
        "/v1/openapi.json",
        "getDocument",
        "The OpenAPI document of this server",
    );

    fn answer(_: Nothing, _: &mut RequestContext<'_>) -> Result<Reply, Problem> {
        Ok(Reply {
            status: 200,
            content_type: JSON,
            headers: Vec::new(),
            body: openapi::text().to_vec(),
        })
    }
}
