//! `GET /v1/openapi.json`: the document of all this.

use super::openapi;
use super::problem::Problem;
use super::request::RequestContext;
use crate::reply::{JSON, Reply};
use teamlog_team::lifecycle::read_team::ReadTeam;

/// `GET /v1/openapi.json`.
pub fn document(_: ReadTeam, _: &mut RequestContext<'_>) -> Result<Reply, Problem> {
    Ok(Reply::new(200, JSON, openapi::text()))
}
