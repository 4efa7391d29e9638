//! What can be asked: a table of queries, each with its arguments and the answer of the command of the same name.
//!
//! What they and the tools that write have in common is here too: how arguments are read, whose team is meant, and how a
//! fault reads.

use schemars::{JsonSchema, SchemaGenerator, generate::SchemaSettings};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use std::ops::ControlFlow;
use std::sync::LazyLock;
use teamlog_team::handle::command::{Control, Origin};
use teamlog_team::lifecycle::status::Status;
use teamlog_team::log::replay::Replay;
use teamlog_team::log::trace::Trace;
use teamlog_team::message::prime::Prime;
use teamlog_team::message::read::Read;
use teamlog_team::task::ready::Ready;
use teamlog_team::task::show::TaskShow;
use teamlog_team::{Failure, Root, Team};

/// Events of an answer unless the caller says otherwise.
const EVENTS: u64 = 50;

/// Answers arguments about a team.
type Answer = Box<dyn Fn(&mut Team, Map<String, Value>) -> Result<String, Fault> + Send + Sync>;

/// A query, or another tool.
pub struct Query {
    /// Its name, also as a tool.
    pub name: &'static str,
    /// What it answers, in a line.
    pub doc: &'static str,
    /// Whether it records events.
    pub mutates: bool,
    /// Whether it is about states of modes.
    pub of_states: bool,
    /// The argument that a resource names behind the query.
    pub about: Option<&'static str>,
    /// The JSON schema of its arguments.
    pub schema: Map<String, Value>,
    answer: Answer,
}

/// Why there is no answer, as JSON text.
#[derive(Debug, Clone)]
pub struct Fault(pub String);

impl Fault {
    /// Why, in words and in one stable word.
    pub fn new(code: &str, message: &str, hint: Option<&str>) -> Fault {
        let mut fault = json!({"error": message, "code": code});
        if let (Some(hint), Some(fields)) = (hint, fault.as_object_mut()) {
            fields.insert("hint".to_owned(), hint.into());
        }
        Fault(fault.to_string())
    }

    fn of(failure: &Failure) -> Fault {
        let Some(refusal) = failure.refusal() else {
            return Fault::new("operation_failed", &failure.to_string(), None);
        };
        let hint = refusal.hint.as_deref();
        let fault = Fault::new(refusal.code.as_str(), &refusal.message, hint);
        if refusal.details.is_empty() {
            return fault;
        }
        let mut fields: Map<String, Value> = serde_json::from_str(&fault.0).unwrap_or_default();
        fields.insert("details".to_owned(), refusal.details.clone().into());
        Fault(Value::Object(fields).to_string())
    }
}

impl Query {
    /// The query of that name.
    pub fn find(name: &str) -> Option<&'static Query> {
        QUERIES.iter().find(|query| query.name == name)
    }

    /// One that is asked for what `I` holds, besides the team.
    pub(crate) fn new<I, A>(
        name: &'static str,
        doc: &'static str,
        ask: fn(I, &mut Team) -> Result<A, Failure>,
    ) -> Query
    where
        I: DeserializeOwned + JsonSchema + 'static,
        A: Serialize + 'static,
    {
        let answer: Answer = Box::new(move |team, arguments| {
            let asked = serde_json::from_value(Value::Object(arguments))
                .map_err(|error| Fault::new("invalid_input", &error.to_string(), None))?;
            let answer = ask(asked, team).map_err(|failure| Fault::of(&failure))?;
            serde_json::to_string(&answer)
                .map_err(|error| Fault::new("operation_failed", &error.to_string(), None))
        });
        Query {
            name,
            doc,
            mutates: false,
            of_states: false,
            about: None,
            schema: arguments::<I>(),
            answer,
        }
    }

    fn about(mut self, argument: &'static str) -> Query {
        self.about = Some(argument);
        self
    }

    /// The answer, as JSON, to whoever asks from there. `team` is meant where the arguments name none, else the only one
    /// that was not closed.
    pub fn answer(
        &self,
        root: &Root,
        origin: &Origin,
        team: Option<&str>,
        arguments: Map<String, Value>,
    ) -> Result<String, Fault> {
        let (team, arguments) = meant(root, team, arguments)?;
        let mut team = root.team(&team).map_err(|failure| Fault::of(&failure))?;
        team.under(Control {
            origin: origin.clone(),
            ..Control::default()
        });
        let answer = (self.answer)(&mut team, arguments)?;
        // What this process folded need not be folded by the next; a failure costs time and nothing else.
        let _ = team.finish();
        Ok(answer)
    }
}

/// The team that is meant, and the other arguments.
pub(crate) fn meant(
    root: &Root,
    team: Option<&str>,
    mut arguments: Map<String, Value>,
) -> Result<(String, Map<String, Value>), Fault> {
    let named = match arguments.remove("team") {
        None | Some(Value::Null) => team.map(str::to_owned),
        Some(Value::String(named)) => Some(named),
        Some(other) => {
            let message = format!("team must be a string, but is {other}");
            return Err(Fault::new("invalid_input", &message, None));
        }
    };
    let team = match named {
        Some(team) => team,
        None => root.only_team().map_err(|failure| Fault::of(&failure))?,
    };
    Ok((team, arguments))
}

fn arguments<I: JsonSchema>() -> Map<String, Value> {
    let generator = SchemaGenerator::new(SchemaSettings::draft2020_12());
    let mut schema = generator.into_root_schema_for::<I>();
    for unneeded in ["$schema", "title", "description"] {
        schema.remove(unneeded);
    }
    let team =
        "The team; may be left out where the server was started for one, or there is only one";
    let properties = schema
        .ensure_object()
        .entry("properties")
        .or_insert_with(|| json!({}));
    properties["team"] = json!({"type": "string", "description": team});
    match schema.to_value() {
        Value::Object(schema) => schema,
        _ => Map::new(),
    }
}

/// A page is never larger than this.
fn page(limit: Option<usize>) -> Option<usize> {
    limit.map(|limit| limit.clamp(1, 1000))
}

/// Every query.
pub static QUERIES: LazyLock<Vec<Query>> = LazyLock::new(|| {
    vec![
        Query::new(
            "ready",
            "Tasks that can be taken up now, most urgent first",
            |asked: AskReady, team| {
                team.ready(&Ready {
                    agent: asked.agent,
                    limit: page(asked.limit),
                    cursor: asked.cursor,
                })
            },
        ),
        Query::new(
            "prime",
            "What an agent should know when it wakes: its tasks, mail, blocked items, commands",
            |asked: AskPrime, team| team.prime(&Prime { agent: asked.agent }),
        )
        .about("agent"),
        Query::new(
            "inbox",
            "An agent's newest messages",
            |asked: AskInbox, team| {
                team.read(Read {
                    agent: asked.agent,
                    unread: asked.unread,
                    limit: page(asked.limit),
                    cursor: asked.cursor,
                })
            },
        )
        .about("agent"),
        Query::new("task", "One task", |asked: AskTask, team| {
            team.task_show(TaskShow {
                task_id: asked.task_id,
                history: asked.history,
                ..TaskShow::default()
            })
        })
        .about("task_id"),
        Query::new(
            "trace",
            "The story of a trace id, as events in order with their causes",
            |asked: AskTrace, team| {
                team.trace(Trace {
                    trace_id: asked.trace_id,
                    limit: page(asked.limit),
                    cursor: asked.cursor,
                })
            },
        )
        .about("trace_id"),
        Query::new(
            "status",
            "Members, unread counts, blocked and stale tasks",
            |asked: AskStatus, team| {
                team.status(Status {
                    limit: page(asked.limit),
                    ..Status::default()
                })
            },
        ),
        Query::new("events", "Events since a seq, in order", events),
    ]
});

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AskReady {
    /// Only what this agent may take up
    agent: Option<String>,
    /// Most tasks, 1 to 1000; 50 if left out
    #[schemars(range(min = 1, max = 1000))]
    limit: Option<usize>,
    /// next_cursor of the page before
    cursor: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AskPrime {
    /// The agent
    agent: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AskInbox {
    /// The agent
    agent: String,
    /// Only what it has not acknowledged
    #[serde(default)]
    unread: bool,
    /// Most messages, 1 to 1000; 50 if left out
    #[schemars(range(min = 1, max = 1000))]
    limit: Option<usize>,
    /// next_cursor of the page before
    cursor: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AskTask {
    /// The task's id
    task_id: String,
    /// Also its newest events
    #[serde(default)]
    history: bool,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AskTrace {
    /// The trace id
    trace_id: String,
    /// Most events, the newest, 1 to 1000; 50 if left out
    #[schemars(range(min = 1, max = 1000))]
    limit: Option<usize>,
    /// next_cursor of the page before
    cursor: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AskStatus {
    /// Most entries of each list, 1 to 1000; 50 if left out
    #[schemars(range(min = 1, max = 1000))]
    limit: Option<usize>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AskEvents {
    /// The last seq that is known already; 0 if left out
    #[serde(default)]
    since: u64,
    /// Only events of this kind
    kind: Option<String>,
    /// Only events of this task
    task_id: Option<String>,
    /// Only events that concern this agent
    agent: Option<String>,
    /// Most events, 1 to 1000; 50 if left out
    #[schemars(range(min = 1, max = 1000))]
    limit: Option<u64>,
}

/// `{team, events, count, last_seq}`.
#[derive(Serialize)]
struct Events {
    team: String,
    events: Vec<Box<RawValue>>,
    count: usize,
    /// What to ask for next as `since`.
    last_seq: u64,
}

fn events(asked: AskEvents, team: &mut Team) -> Result<Events, Failure> {
    let replay = Replay {
        from_seq: Some(asked.since.saturating_add(1)),
        kind: asked.kind,
        task_id: asked.task_id,
        agent: asked.agent,
        limit: Some(asked.limit.unwrap_or(EVENTS).clamp(1, 1000)),
        ..Replay::default()
    };
    let mut events = Vec::new();
    let mut last_seq = asked.since;
    team.replay(replay, &mut |event, json| {
        let text = String::from_utf8_lossy(json).into_owned();
        events.extend(RawValue::from_string(text));
        last_seq = event.seq;
        ControlFlow::Continue(())
    })?;
    Ok(Events {
        team: team.name().to_owned(),
        count: events.len(),
        events,
        last_seq,
    })
}
