//! `GET /v1/events`: the log itself, in pages; as a stream it is answered beside the routes.

use super::input::shown;
use super::problem::Problem;
use super::request::RequestContext;
use crate::call::Call;
use schemars::JsonSchema;
use serde::Deserialize;
use teamlog_team::Team;
use teamlog_team::log::events::{Events, EventsAnswer};
use teamlog_team::log::replay::Replay;

/// Which events, from where on.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EventsInput {
    /// The last seq that is known. A page without begins at the beginning, a stream without at now
    pub after: Option<u64>,
    /// Most events of a page; else 100. A stream has no end
    #[schemars(range(min = 1, max = 1_000))]
    pub limit: Option<usize>,
    /// Only of that kind
    pub kind: Option<String>,
    /// Only those that name that agent
    pub agent: Option<String>,
    /// Only those that name that task
    pub task_id: Option<String>,
    /// Only those of that story
    pub trace_id: Option<String>,
    /// Only those by that actor
    pub actor: Option<String>,
}

impl EventsInput {
    /// Which events are meant.
    pub fn filter(&self) -> Replay {
        Replay {
            kind: self.kind.clone(),
            actor: self.actor.clone(),
            trace_id: self.trace_id.clone(),
            task_id: self.task_id.clone(),
            agent: self.agent.clone(),
            ..Replay::default()
        }
    }
}

/// What a client knows already, as its headers say.
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
    asked: EventsInput,
    team: &mut Team,
    request: &RequestContext<'_>,
) -> Result<EventsAnswer, Problem> {
    let known = last_event_id(request.call)?;
    let page = Events {
        after: known.or(asked.after).unwrap_or(0),
        limit: asked.limit,
        filter: asked.filter(),
    };
    Ok(team.events(&page)?)
}
