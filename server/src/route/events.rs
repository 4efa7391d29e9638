//! Pages of the log, and the events of one trace. [`crate::stream`] answers `GET /v1/events` as a stream.

use super::input::shown;
use super::problem::Problem;
use super::request::RequestContext;
use crate::call::Call;
use teamlog_team::Team;
use teamlog_team::log::events::{Events, EventsAnswer};
use teamlog_team::story::trace::{Trace, TraceAnswer};

/// Default number of events on a page of a trace.
pub const TRACE_EVENTS: u64 = 100;

pub fn last_event_id(call: &Call) -> Result<Option<u64>, Problem> {
    let Some(text) = &call.last_event_id else {
        return Ok(None);
    };
    text.parse().map(Some).map_err(|_| {
        let message = format!(
            "Last-Event-ID must be the seq of an event, but is {}",
            shown(text)
        );
        Problem::invalid("Last-Event-ID", message)
    })
}

/// `GET /v1/events`.
pub fn events(
    mut asked: Events,
    team: &mut Team,
    request: &RequestContext<'_>,
) -> Result<EventsAnswer, Problem> {
    asked.after = last_event_id(request.call)?.or(asked.after);
    Ok(team.events(&asked)?)
}

/// `GET /v1/trace/{traceId}`.
pub fn trace(mut asked: Trace, team: &mut Team) -> Result<TraceAnswer, Problem> {
    asked.limit.get_or_insert(TRACE_EVENTS as usize);
    Ok(team.trace(asked)?)
}
