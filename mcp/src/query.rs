//! The queries: a table of tools, each of which carries out an operation that reads.
//!
//! What they and the tools of states have in common is here too: how arguments are read, which team is meant, and how a
//! fault is written.

use schemars::{JsonSchema, Schema, generate::SchemaSettings};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use std::sync::LazyLock;
use teamlog_team::api::shape::Shape;
use teamlog_team::api::{Effect, Op, schema};
use teamlog_team::command::{Control, Origin};
use teamlog_team::lifecycle::status::Status;
use teamlog_team::log::replay_events::ReplayEvents;
use teamlog_team::message::prime::Prime;
use teamlog_team::message::read::Read;
use teamlog_team::story::trace::Trace;
use teamlog_team::task::ready::Ready;
use teamlog_team::task::show::TaskShow;
use teamlog_team::{Failure, Root, Team, hint};

/// Most items of a page.
const PAGE_MAX: u64 = 1_000;

/// Answers arguments about a team.
type Answer = Box<dyn Fn(&mut Team, Map<String, Value>) -> Result<String, ToolError> + Send + Sync>;

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
    /// The arguments that the schema describes.
    pub shape: Shape,
    answer: Answer,
}

/// Why there is no answer, as JSON text.
#[derive(Debug, Clone)]
pub struct ToolError(pub String);

impl ToolError {
    /// Why, in words and in one stable word.
    pub fn new(code: &str, message: &str, hint: Option<&str>) -> ToolError {
        let mut fault = json!({"error": message, "code": code});
        if let (Some(hint), Some(fields)) = (hint, fault.as_object_mut()) {
            fields.insert("hint".to_owned(), hint.into());
        }
        ToolError(fault.to_string())
    }

    /// An argument that is refused.
    pub(crate) fn of_field(field: &str, message: &str) -> ToolError {
        let fault = json!({"error": message, "code": "invalid_input", "field": field});
        ToolError(fault.to_string())
    }

    fn of(failure: &Failure) -> ToolError {
        let Some(refusal) = failure.refusal() else {
            return ToolError::new("operation_failed", &failure.to_string(), None);
        };
        let hint = hint::for_operations(refusal);
        let fault = ToolError::new(refusal.code.as_str(), &refusal.message, hint.as_deref());
        if refusal.details.is_empty() {
            return fault;
        }
        let mut fields: Map<String, Value> = serde_json::from_str(&fault.0).unwrap_or_default();
        fields.insert("details".to_owned(), refusal.details.clone().into());
        ToolError(Value::Object(fields).to_string())
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
        effect: Effect,
        ask: fn(I, &mut Team) -> Result<A, Failure>,
    ) -> Query
    where
        I: DeserializeOwned + JsonSchema + 'static,
        A: Serialize + 'static,
    {
        let answer: Answer = Box::new(move |team, arguments| {
            let asked = serde_json::from_value(Value::Object(arguments))
                .map_err(|error| ToolError::new("invalid_input", &error.to_string(), None))?;
            let answer = ask(asked, team).map_err(|failure| ToolError::of(&failure))?;
            serde_json::to_string(&answer)
                .map_err(|error| ToolError::new("operation_failed", &error.to_string(), None))
        });
        let schema = arguments::<I>();
        Query {
            name,
            doc,
            mutates: effect == Effect::Records,
            of_states: false,
            about: None,
            shape: shape_of(&schema),
            schema,
            answer,
        }
    }

    /// Reads the shape of a schema that was changed again.
    pub(crate) fn reshape(&mut self) {
        self.shape = shape_of(&self.schema);
    }

    /// The tool of that name, which carries out an operation.
    fn of<O: Op + 'static>(name: &'static str) -> Query {
        Query::new(name, O::DOC, O::EFFECT, O::run)
    }

    /// The same without a field that only other surfaces take.
    fn without(mut self, field: &'static str) -> Query {
        if let Some(Value::Object(fields)) = self.schema.get_mut("properties") {
            fields.remove(field);
        }
        self.reshape();
        let answer = self.answer;
        self.answer = Box::new(move |team, arguments| {
            if arguments.contains_key(field) {
                let message = format!("unknown field `{field}`");
                return Err(ToolError::new("invalid_input", &message, None));
            }
            answer(team, arguments)
        });
        self
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
    ) -> Result<String, ToolError> {
        let (team, mut arguments) = meant(root, team, arguments)?;
        if !self.of_states {
            bound_page(&mut arguments);
        }
        let mut team = root
            .team(&team)
            .map_err(|failure| ToolError::of(&failure))?;
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
) -> Result<(String, Map<String, Value>), ToolError> {
    let named = match arguments.remove("team") {
        None | Some(Value::Null) => team.map(str::to_owned),
        Some(Value::String(named)) => Some(named),
        Some(other) => {
            let message = format!("team must be a string, but is {other}");
            return Err(ToolError::new("invalid_input", &message, None));
        }
    };
    let team = match named {
        Some(team) => team,
        None => root
            .only_team()
            .map_err(|failure| ToolError::of(&failure))?,
    };
    Ok((team, arguments))
}

fn shape_of(schema: &Map<String, Value>) -> Shape {
    Shape::of(&Schema::from(schema.clone()))
}

fn arguments<I: JsonSchema>() -> Map<String, Value> {
    let mut schema = schema::of::<I>(&mut SchemaSettings::draft2020_12().into_generator());
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

/// A page is never larger than this, whatever is asked for.
fn bound_page(arguments: &mut Map<String, Value>) {
    if let Some(limit) = arguments.get_mut("limit")
        && let Some(asked) = limit.as_u64()
    {
        *limit = asked.clamp(1, PAGE_MAX).into();
    }
}

/// Every query.
pub static QUERIES: LazyLock<Vec<Query>> = LazyLock::new(|| {
    vec![
        Query::of::<Ready>("ready"),
        Query::of::<Prime>("prime").about("agent"),
        Query::of::<Read>("inbox").about("agent"),
        Query::of::<TaskShow>("task").about("task_id"),
        Query::of::<Trace>("trace").about("trace_id"),
        Query::of::<Status>("status").without("stale_minutes"),
        Query::of::<ReplayEvents>("events"),
    ]
});
