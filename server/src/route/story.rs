//! How the team stands, who does what, what happened in a story, which modes are active: as the command line answers it.

use super::endpoint::{Endpoint, Facts};
use super::problem::Problem;
use super::request::RequestContext;
use crate::reply::Reply;
use schemars::JsonSchema;
use serde::Deserialize;
use teamlog_team::lifecycle::status::{self, StatusAnswer};
use teamlog_team::log::trace::{self, TraceAnswer};
use teamlog_team::mode::show::{ModeList, ModeListAnswer};
use teamlog_team::worker::who::{self, WhoAnswer};

/// Events of a story on a page, unless the caller says otherwise.
const EVENTS: usize = 100;

/// `GET /v1/status`.
pub struct Status;

/// What counts as stale, and how long lists get.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct StatusInput {
    /// Minutes without update or ack after which something is stale; else 90
    stale_minutes: Option<u64>,
    /// Items that each list holds at most; else 1,000
    #[schemars(range(min = 1, max = 1_000))]
    limit: Option<usize>,
}

impl Endpoint for Status {
    type Input = StatusInput;
    type Answer = StatusAnswer;
    const FACTS: Facts = Facts::get(
        "/v1/status",
        "getStatus",
        "The state of the team in one answer",
    );

    fn answer(input: StatusInput, request: &mut RequestContext<'_>) -> Result<Reply, Problem> {
        request.look(|team| {
            team.status(status::Status {
                stale_minutes: input.stale_minutes,
                limit: input.limit,
                ..status::Status::default()
            })
        })
    }
}

/// `GET /v1/who`.
pub struct Who;

/// Which agents.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WhoInput {
    /// Most agents on the page; else 1,000
    #[schemars(range(min = 1, max = 1_000))]
    limit: Option<usize>,
    /// The last agent of the page before
    cursor: Option<String>,
}

impl Endpoint for Who {
    type Input = WhoInput;
    type Answer = WhoAnswer;
    const FACTS: Facts = Facts::get(
        "/v1/who",
        "getWho",
        "Who does what: tasks, leases, last events, what was reported and what blocks",
    );

    fn answer(input: WhoInput, request: &mut RequestContext<'_>) -> Result<Reply, Problem> {
        request.look(|team| {
            team.who(&who::Who {
                limit: input.limit,
                cursor: input.cursor,
            })
        })
    }
}

/// `GET /v1/trace/{traceId}`.
pub struct Trace;

/// Which story.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct TraceInput {
    /// The story
    trace_id: String,
    /// Most events on the page, the newest ones; else 100
    #[schemars(range(min = 1, max = 1_000))]
    limit: Option<usize>,
    /// The oldest event of the page before, by id
    cursor: Option<String>,
}

impl Endpoint for Trace {
    type Input = TraceInput;
    type Answer = TraceAnswer;
    const FACTS: Facts = Facts::get("/v1/trace/{traceId}", "getTrace", "The events of a story")
        .codes(&["cursor_unknown"]);

    fn answer(input: TraceInput, request: &mut RequestContext<'_>) -> Result<Reply, Problem> {
        request.look(|team| {
            team.trace(trace::Trace {
                trace_id: input.trace_id,
                limit: Some(input.limit.unwrap_or(EVENTS)),
                cursor: input.cursor,
            })
        })
    }
}

/// `GET /v1/modes`.
pub struct Modes;

/// Whose modes.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct ModesInput {
    /// The session, whose states count before those of the root
    session_id: Option<String>,
    /// Whether the states of the root and of every session are listed, each by itself
    all_sessions: Option<bool>,
    /// Whether only active modes are listed
    active: Option<bool>,
    /// Of all sessions: how many at most; else 50
    #[schemars(range(min = 1, max = 1_000))]
    limit: Option<usize>,
    /// Of all sessions: behind which one to go on
    cursor: Option<String>,
}

impl Endpoint for Modes {
    type Input = ModesInput;
    type Answer = ModeListAnswer;
    const FACTS: Facts = Facts::get("/v1/modes", "listModes", "The states of the workflow modes");

    fn answer(input: ModesInput, request: &mut RequestContext<'_>) -> Result<Reply, Problem> {
        request.look(|team| {
            team.mode_list(ModeList {
                session_id: input.session_id,
                all_sessions: input.all_sessions.unwrap_or(false),
                active: input.active.unwrap_or(false),
                limit: input.limit,
                cursor: input.cursor,
            })
        })
    }
}
