//! Pages of the log, and the events of one trace or task, each with its sentence. [`crate::stream`] answers `GET /v1/events` as a stream.

use super::input::shown;
use super::problem::Problem;
use super::request::{RequestContext, after};
use crate::call::Call;
use crate::reply::Reply;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use teamlog_team::Team;
use teamlog_team::engine::EventId;
use teamlog_team::log::append::{Append, AppendAnswer};
use teamlog_team::log::append_batch::{AppendFacts, BatchAnswer};
use teamlog_team::log::condition::Conditions;
use teamlog_team::log::events::{Events, EventsAnswer};
use teamlog_team::log::filter::EventFilter;
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

/// The body of `POST /v1/events`: the fields of one event, or several events in `events`. The conditions are beside them.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewEvents {
    /// Kind of the event, in snake_case and the past tense, outside of teamlog's own vocabulary
    kind: Option<String>,
    /// Actor of the event; the agent of the token if absent. Beside `events`, the actor of events without an actor
    actor: Option<String>,
    /// Trace of the event
    trace_id: Option<String>,
    /// Task that the event concerns
    task_id: Option<String>,
    /// Agent that the event concerns
    agent: Option<String>,
    /// Message that the event concerns
    message_id: Option<String>,
    /// Thread that the event concerns
    thread_id: Option<String>,
    /// Session that the event concerns
    session_id: Option<String>,
    /// Tags of the event, each NAME=VALUE; at most 16
    tags: Option<Vec<String>>,
    /// Id of the event that caused this event
    cause: Option<String>,
    /// Payload, any JSON; `{}` if absent
    payload: Option<Value>,
    /// Several events, each with the fields above and an optional `key`, recorded all together or not at all
    events: Option<Vec<Map<String, Value>>>,
    /// Condition: record nothing if the log has an event after this seq
    if_seq: Option<u64>,
    /// Condition: record nothing if an event matches one of these filters; at most 16
    if_none: Option<Vec<EventFilter>>,
    /// Only events after this seq count for `if_none`; all events if absent
    after: Option<u64>,
}

/// The answer of `POST /v1/events`: about one event, or about several.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "AppendedEvents")]
pub enum Appended {
    /// Answer about one event
    One(AppendAnswer),
    /// Answer about several events
    Several(BatchAnswer),
}

/// `POST /v1/events`.
pub fn append(new: NewEvents, request: &mut RequestContext<'_>) -> Result<Reply, Problem> {
    let mut team = request.team()?;
    let appended = match new.events {
        None => Appended::One(team.append(one(new)?)?),
        Some(_) => Appended::Several(team.append_group(several(new)?)?),
    };
    let reply = Reply::json(request.route.status, &appended);
    Ok(after(reply, &mut team))
}

fn one(new: NewEvents) -> Result<Append, Problem> {
    let Some(kind) = new.kind else {
        let message = "kind is required, or events with several events";
        return Err(Problem::invalid("kind", message.to_owned()));
    };
    let cause = |text: String| {
        let message = format!("cause must be the id of an event, but is {}", shown(&text));
        EventId::from_text(text.as_bytes()).ok_or_else(|| Problem::invalid("cause", message))
    };
    Ok(Append {
        kind,
        actor: new.actor,
        trace_id: new.trace_id,
        task_id: new.task_id,
        agent: new.agent,
        message_id: new.message_id,
        thread_id: new.thread_id,
        session_id: new.session_id,
        tags: new.tags,
        cause: new.cause.map(cause).transpose()?,
        payload: new.payload.map(|payload| payload.to_string()),
        if_seq: new.if_seq,
        if_none: new.if_none,
        after: new.after,
        ..Append::default()
    })
}

/// Returns the events of a body. Only the conditions and the actor may be beside them.
fn several(new: NewEvents) -> Result<AppendFacts, Problem> {
    let others = [
        ("kind", new.kind.is_some()),
        ("trace_id", new.trace_id.is_some()),
        ("task_id", new.task_id.is_some()),
        ("agent", new.agent.is_some()),
        ("message_id", new.message_id.is_some()),
        ("thread_id", new.thread_id.is_some()),
        ("session_id", new.session_id.is_some()),
        ("tags", new.tags.is_some()),
        ("cause", new.cause.is_some()),
        ("payload", new.payload.is_some()),
    ];
    if let Some((name, _)) = others.iter().find(|(_, is_given)| *is_given) {
        let message = format!("{name} must be in each of the events, but is beside them");
        return Err(Problem::invalid(name, message));
    }
    let events = new.events.unwrap_or_default();
    if events.is_empty() {
        let message = "events must have at least one event, but is []";
        return Err(Problem::invalid("events", message.to_owned()));
    }
    let events = events.into_iter();
    let events = events.map(|event| Value::Object(event).to_string());
    let conditions = Conditions {
        if_seq: new.if_seq,
        if_none: new.if_none.unwrap_or_default(),
        after: new.after,
    };
    Ok(AppendFacts::new(events.collect(), new.actor, conditions))
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
