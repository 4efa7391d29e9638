//! The table of queries. A query is a tool that runs an operation that only reads.
//!
//! This module also has functions for the state tools: they read arguments, choose the team, and format errors.

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
use teamlog_team::search::Search;
use teamlog_team::story::trace::Trace;
use teamlog_team::task::ready::Ready;
use teamlog_team::task::show::TaskShow;
use teamlog_team::{Failure, Root, Team, hint};

/// Maximum number of items on a page.
const PAGE_MAX: u64 = 1_000;

/// Function that runs a tool on a team with arguments.
type Answer = Box<dyn Fn(&mut Team, Map<String, Value>) -> Result<String, ToolError> + Send + Sync>;

/// A tool of this MCP server.
pub struct Query {
    /// Name of the tool.
    pub name: &'static str,
    /// Description of the tool in one line.
    pub doc: &'static str,
    /// True if the tool records events.
    pub mutates: bool,
    /// True if the tool reads or writes states of modes.
    pub of_states: bool,
    /// Argument that a resource URI contains after the name of the query.
    pub about: Option<&'static str>,
    /// JSON Schema of the tool's arguments.
    pub schema: Map<String, Value>,
    /// The arguments that the schema describes.
    pub shape: Shape,
    answer: Answer,
}

/// An error of a tool, as JSON text.
#[derive(Debug, Clone)]
pub struct ToolError(pub String);

impl ToolError {
    /// Creates an error from a stable code, a message and a hint.
    pub fn new(code: &str, message: &str, hint: Option<&str>) -> ToolError {
        let mut fault = json!({"error": message, "code": code});
        if let (Some(hint), Some(fields)) = (hint, fault.as_object_mut()) {
            fields.insert("hint".to_owned(), hint.into());
        }
        ToolError(fault.to_string())
    }

    /// Creates an error about an argument.
    pub(crate) fn of_field(field: &str, message: &str) -> ToolError {
        let fault = json!({"error": message, "code": "invalid_input", "field": field});
        ToolError(fault.to_string())
    }

    fn from_failure(failure: &Failure) -> ToolError {
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
    /// Returns the query with the given name.
    pub fn find(name: &str) -> Option<&'static Query> {
        QUERIES.iter().find(|query| query.name == name)
    }

    /// Makes a tool whose arguments are `team` and the fields of `I`.
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
            let answer = ask(asked, team).map_err(|failure| ToolError::from_failure(&failure))?;
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

    /// Computes `shape` again after a change of the schema.
    pub(crate) fn reshape(&mut self) {
        self.shape = shape_of(&self.schema);
    }

    /// Makes a tool that runs an operation.
    fn for_op<O: Op + 'static>(name: &'static str) -> Query {
        Query::new(name, O::DOC, O::EFFECT, O::run)
    }

    /// Removes a field that only other surfaces accept.
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

    /// Returns true if the tool has the given argument.
    pub fn takes(&self, argument: &str) -> bool {
        let properties = self.schema.get("properties");
        properties.is_some_and(|properties| properties.get(argument).is_some())
    }

    fn about(mut self, argument: &'static str) -> Query {
        self.about = Some(argument);
        self
    }

    /// Runs the tool and returns the answer as JSON. `team` is the default team. Without a default, uses the only open team.
    pub fn answer(
        &self,
        root: &Root,
        origin: &Origin,
        team: Option<&str>,
        arguments: Map<String, Value>,
    ) -> Result<String, ToolError> {
        let (team, mut arguments) = meant(Some(root), team, arguments)?;
        if !self.of_states {
            bound_page(&mut arguments);
        }
        let mut team = root
            .team(&team)
            .map_err(|failure| ToolError::from_failure(&failure))?;
        team.under(Control {
            origin: origin.clone(),
            ..Control::default()
        });
        let answer = (self.answer)(&mut team, arguments)?;
        // Saves the state for the next process. Ignore errors: without the saved state, the next process only needs
        // more time.
        let _ = team.finish();
        Ok(answer)
    }
}

/// Returns the team of a call and the other arguments. Without a team and a default, uses the only open team of the data root.
pub(crate) fn meant(
    root: Option<&Root>,
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
    let team = match (named, root) {
        (Some(team), _) => team,
        (None, Some(root)) => root
            .only_team()
            .map_err(|failure| ToolError::from_failure(&failure))?,
        (None, None) => return Err(ToolError::of_field("team", "team is required")),
    };
    Ok((team, arguments))
}

fn shape_of(schema: &Map<String, Value>) -> Shape {
    Shape::from_schema(&Schema::from(schema.clone()))
}

fn arguments<I: JsonSchema>() -> Map<String, Value> {
    let mut schema = schema::of::<I>(&mut SchemaSettings::draft2020_12().into_generator());
    for unneeded in ["$schema", "title", "description"] {
        schema.remove(unneeded);
    }
    let team =
        "Name of the team; optional if the server was started for a team, or if there is only one";
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

/// Limits the argument `limit` to the maximum size of a page.
fn bound_page(arguments: &mut Map<String, Value>) {
    if let Some(limit) = arguments.get_mut("limit")
        && let Some(asked) = limit.as_u64()
    {
        *limit = asked.clamp(1, PAGE_MAX).into();
    }
}

/// All queries.
pub static QUERIES: LazyLock<Vec<Query>> = LazyLock::new(|| {
    vec![
        Query::for_op::<Ready>("ready"),
        Query::for_op::<Prime>("prime").about("agent"),
        Query::for_op::<Read>("inbox").about("agent"),
        Query::for_op::<TaskShow>("task").about("task_id"),
        Query::for_op::<Trace>("trace").about("trace_id"),
        Query::for_op::<Status>("status").without("stale_minutes"),
        Query::for_op::<ReplayEvents>("events"),
        Query::for_op::<Search>("find").about("query"),
    ]
});
