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

/// A query.
pub struct Query {
    /// Its name, also as a tool.
    pub name: &'static str,
    /// What it answers, in a line.
    pub doc: &'static str,
    /// Whether it records events.
    pub mutates: bool,
    arguments: fn() -> Map<String, Value>,
    answer: Answer,
}

/// Answers arguments about a team.
type Answer = fn(&Root, &Origin, &str, Map<String, Value>) -> Result<String, Fault>;

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

    /// The JSON schema of its arguments.
    pub fn schema(&self) -> Map<String, Value> {
        let mut schema = (self.arguments)();
        if let Some(Value::Object(properties)) = schema.get_mut("properties") {
            let about = "The team; may be left out where the server was started for one, or there is only one";
            properties.insert(
                "team".to_owned(),
                json!({"type": "string", "description": about}),
            );
        }
        schema
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
        (self.answer)(root, origin, &team, arguments)
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

/// Arguments of a query, and what answers them.
pub(crate) trait Ask: DeserializeOwned + JsonSchema {
    type Answer: Serialize;
    /// Whether it records events.
    const MUTATES: bool = false;
    /// Arguments that callers send and that mean nothing here.
    const PASSED_BY: &'static [&'static str] = &[];
    /// Arguments that take more than their type says: one of these names, each with what it means.
    const NAMES: &'static [(&'static str, &'static str, &'static [&'static str])] = &[];
    fn ask(self, team: &mut Team) -> Result<Self::Answer, Failure>;
}

pub(crate) const fn row<A: Ask>(name: &'static str, doc: &'static str) -> Query {
    Query {
        name,
        doc,
        mutates: A::MUTATES,
        arguments: arguments::<A>,
        answer: answer::<A>,
    }
}

fn arguments<A: Ask>() -> Map<String, Value> {
    let generator = SchemaGenerator::new(SchemaSettings::draft2020_12());
    let mut schema = generator.into_root_schema_for::<A>();
    for unneeded in ["$schema", "title", "description"] {
        schema.remove(unneeded);
    }
    let Value::Object(mut schema) = schema.to_value() else {
        return Map::new();
    };
    let properties = schema.entry("properties").or_insert_with(|| json!({}));
    for (name, about, names) in A::NAMES {
        properties[*name] = json!({"type": "string", "description": about, "enum": names});
    }
    // A list of names that nothing refers to any more would be taken for all there are.
    let defined = schema.remove("$defs");
    let refers = serde_json::to_string(&schema).is_ok_and(|text| text.contains("#/$defs/"));
    if let Some(defined) = defined.filter(|_| refers) {
        schema.insert("$defs".to_owned(), defined);
    }
    schema
}

fn answer<A: Ask>(
    root: &Root,
    origin: &Origin,
    team: &str,
    mut arguments: Map<String, Value>,
) -> Result<String, Fault> {
    for name in A::PASSED_BY {
        arguments.remove(*name);
    }
    let asked: A = serde_json::from_value(Value::Object(arguments))
        .map_err(|error| Fault::new("invalid_input", &error.to_string(), None))?;
    let mut team = root.team(team).map_err(|failure| Fault::of(&failure))?;
    team.under(Control {
        origin: origin.clone(),
        ..Control::default()
    });
    let answer = asked
        .ask(&mut team)
        .map_err(|failure| Fault::of(&failure))?;
    // What this process folded need not be folded by the next; a failure costs time and nothing else.
    let _ = team.finish();
    serde_json::to_string(&answer)
        .map_err(|error| Fault::new("operation_failed", &error.to_string(), None))
}

/// Every query.
pub static QUERIES: &[Query] = &[
    row::<AskReady>("ready", "Tasks that can be taken up now, most urgent first"),
    row::<AskPrime>(
        "prime",
        "What an agent should know when it wakes: its tasks, mail, blocked items, commands",
    ),
    row::<AskInbox>("inbox", "An agent's newest messages"),
    row::<AskTask>("task", "One task"),
    row::<AskTrace>(
        "trace",
        "The story of a trace id, as events in order with their causes",
    ),
    row::<AskStatus>("status", "Members, unread counts, blocked and stale tasks"),
    row::<AskEvents>("events", "Events since a seq, in order"),
];

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

/// A page is never larger than this.
fn page(limit: Option<usize>) -> Option<usize> {
    limit.map(|limit| limit.clamp(1, 1000))
}

impl Ask for AskReady {
    type Answer = teamlog_team::task::ready::ReadyAnswer;
    fn ask(self, team: &mut Team) -> Result<Self::Answer, Failure> {
        team.ready(&Ready {
            agent: self.agent,
            limit: page(self.limit),
            cursor: self.cursor,
        })
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AskPrime {
    /// The agent
    agent: String,
}

impl Ask for AskPrime {
    type Answer = teamlog_team::message::prime::PrimeAnswer;
    fn ask(self, team: &mut Team) -> Result<Self::Answer, Failure> {
        team.prime(&Prime { agent: self.agent })
    }
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

impl Ask for AskInbox {
    type Answer = teamlog_team::message::read::ReadAnswer;
    fn ask(self, team: &mut Team) -> Result<Self::Answer, Failure> {
        team.read(Read {
            agent: self.agent,
            unread: self.unread,
            limit: page(self.limit),
            cursor: self.cursor,
        })
    }
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

impl Ask for AskTask {
    type Answer = teamlog_team::task::show::TaskShowAnswer;
    fn ask(self, team: &mut Team) -> Result<Self::Answer, Failure> {
        team.task_show(TaskShow {
            task_id: self.task_id,
            history: self.history,
            ..TaskShow::default()
        })
    }
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

impl Ask for AskTrace {
    type Answer = teamlog_team::log::trace::TraceAnswer;
    fn ask(self, team: &mut Team) -> Result<Self::Answer, Failure> {
        team.trace(Trace {
            trace_id: self.trace_id,
            limit: page(self.limit),
            cursor: self.cursor,
        })
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AskStatus {
    /// Most entries of each list, 1 to 1000; 50 if left out
    #[schemars(range(min = 1, max = 1000))]
    limit: Option<usize>,
}

impl Ask for AskStatus {
    type Answer = teamlog_team::lifecycle::status::StatusAnswer;
    fn ask(self, team: &mut Team) -> Result<Self::Answer, Failure> {
        team.status(Status {
            limit: page(self.limit),
            ..Status::default()
        })
    }
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

impl Ask for AskEvents {
    type Answer = Events;
    fn ask(self, team: &mut Team) -> Result<Events, Failure> {
        let replay = Replay {
            from_seq: Some(self.since.saturating_add(1)),
            kind: self.kind,
            task_id: self.task_id,
            agent: self.agent,
            limit: Some(self.limit.unwrap_or(EVENTS).clamp(1, 1000)),
            ..Replay::default()
        };
        let mut events = Vec::new();
        let mut last_seq = self.since;
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
}
