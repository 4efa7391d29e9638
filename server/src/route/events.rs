//! Pages of the log, and the events of one trace or task, each with its sentence. [`crate::stream`] answers `GET /v1/events` as a stream.

use super::input::shown;
use super::problem::Problem;
use super::request::RequestContext;
use crate::call::Call;
use teamlog_team::Team;
use teamlog_team::log::events::{Events, EventsAnswer};
use teamlog_team::story::sentence::add_sentences;
use teamlog_team::story::trace::{Trace, TraceAnswer};
use teamlog_team::task::history::{TaskHistory, TaskHistoryAnswer};

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
    let mut answer = team.events(&asked)?;
    add_sentences(&mut answer.events);
    Ok(answer)
}

/// `GET /v1/trace/{traceId}`.
pub fn trace(mut asked: Trace, team: &mut Team) -> Result<TraceAnswer, Problem> {
    asked.limit.get_or_insert(TRACE_EVENTS as usize);
    let mut answer = team.trace(asked)?;
    add_sentences(&mut answer.events);
    Ok(answer)
}

/// `GET /v1/tasks/{taskId}/history`.
pub fn task_history(asked: TaskHistory, team: &mut Team) -> Result<TaskHistoryAnswer, Problem> {
    let mut answer = team.task_history(&asked)?;
    add_sentences(&mut answer.events);
    Ok(answer)
}
