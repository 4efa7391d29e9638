//! How the team stands, and what happened in a story: as the command line answers it.

use super::problem::Problem;
use super::request::RequestContext;
use schemars::JsonSchema;
use serde::Deserialize;
use teamlog_team::Team;
use teamlog_team::lifecycle::status::{Status, StatusAnswer};
use teamlog_team::log::trace::{Trace, TraceAnswer};

/// Events of a story on a page, unless the caller says otherwise.
const EVENTS: usize = 100;

/// What counts as stale, and how long lists get.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StatusInput {
    /// Minutes without update or ack after which something is stale; else 90
    stale_minutes: Option<u64>,
    /// Items that each list holds at most; else 1,000
    #[schemars(range(min = 1, max = 1_000))]
    limit: Option<usize>,
}

/// `GET /v1/status`.
pub fn status(
    asked: StatusInput,
    team: &mut Team,
    _: &RequestContext<'_>,
) -> Result<StatusAnswer, Problem> {
    let status = Status {
        stale_minutes: asked.stale_minutes,
        limit: asked.limit,
        ..Status::default()
    };
    Ok(team.status(status)?)
}

/// Which story.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TraceInput {
    /// The story
    trace_id: String,
    /// Most events on the page, the newest ones; else 100
    #[schemars(range(min = 1, max = 1_000))]
    limit: Option<usize>,
    /// The oldest event of the page before, by id
    cursor: Option<String>,
}

/// `GET /v1/trace/{traceId}`.
pub fn trace(
    asked: TraceInput,
    team: &mut Team,
    _: &RequestContext<'_>,
) -> Result<TraceAnswer, Problem> {
    let trace = Trace {
        trace_id: asked.trace_id,
        limit: Some(asked.limit.unwrap_or(EVENTS)),
        cursor: asked.cursor,
    };
    Ok(team.trace(trace)?)
}
