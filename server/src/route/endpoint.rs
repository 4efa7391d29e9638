//! A route: method and path, schemas of input and answer, and handler.

use super::names;
use super::parts::{self, Part};
use super::problem::Problem;
use super::request::RequestContext;
use crate::call::Method;
use crate::reply::Reply;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use teamlog_team::api::schema;
use teamlog_team::api::shape::Shape;
use teamlog_team::api::{Effect, Op};
use teamlog_team::projections::agent_token::event::AgentScope;
use teamlog_team::{Code, Team};

/// Function that answers a call whose input was checked.
type Run = Box<
    dyn Fn(&mut RequestContext<'_>, Map<String, Value>) -> Result<Reply, Problem> + Send + Sync,
>;

type Describe = fn() -> Schema;

/// A row of the table of routes.
pub struct Route {
    /// HTTP method of the route.
    pub method: Method,
    /// Effect of the route on the log.
    pub effect: Effect,
    /// Scope that the token of an agent needs.
    pub scope: AgentScope,
    /// Pattern of the path. `{name}` matches one segment, which becomes a field of the input.
    pub pattern: &'static str,
    /// Operation id in the OpenAPI document.
    pub id: &'static str,
    /// Description in one line without a full stop.
    pub doc: &'static str,
    /// HTTP status of a successful answer.
    pub status: u16,
    /// Error codes of the route, without the codes that every route may return.
    pub codes: &'static [Code],
    /// True if the route also supports answers as a stream.
    pub streams: bool,
    /// True if the route can answer for a point in the past.
    pub of_any_time: bool,
    /// True if the route concerns one team.
    pub of_team: bool,
    own: Describe,
    schema: Schema,
    answer: Describe,
    pub(super) run: Run,
    /// Fields of the input, with the names of this API.
    pub(super) shape: Shape,
    /// Fields of the input that hold objects.
    pub(super) parts: Vec<Part>,
    /// Fields with another name in the input's type. Each pair has the name in this API and the name in the type.
    pub(super) renamed: Vec<(String, String)>,
}

impl Route {
    /// Makes a route that answers from the state of the team.
    pub(super) fn reads<I, A>(
        pattern: &'static str,
        id: &'static str,
        look: fn(I, &mut Team) -> Result<A, Problem>,
    ) -> Route
    where
        I: DeserializeOwned + JsonSchema + 'static,
        A: Serialize + JsonSchema + 'static,
    {
        Route::looks(pattern, id, move |input, team, _| look(input, team))
    }

    /// Makes a route that answers from the state of the team and from data of the daemon.
    pub(super) fn looks<I, A>(
        pattern: &'static str,
        id: &'static str,
        look: impl Fn(I, &mut Team, &RequestContext<'_>) -> Result<A, Problem> + Send + Sync + 'static,
    ) -> Route
    where
        I: DeserializeOwned + JsonSchema,
        A: Serialize + JsonSchema,
    {
        let run: Run = Box::new(move |request, fields| {
            let input = typed(id, fields)?;
            request.look(Box::new(|team, request| {
                Ok(Reply::json(
                    request.route.status,
                    &look(input, team, request)?,
                ))
            }))
        });
        Route {
            of_any_time: true,
            ..Route::new(Method::Get, (pattern, id), run, described::<I, A>())
        }
    }

    /// Makes a route that gives the answer of a reading operation.
    pub(super) fn answers<O>(pattern: &'static str, id: &'static str) -> Route
    where
        O: Op<Data: 'static> + 'static,
    {
        Route::reads(pattern, id, |asked: O, team| Ok(asked.run(team)?)).like::<O>()
    }

    /// Makes a route that records events.
    pub(super) fn records<I, A>(
        pattern: &'static str,
        id: &'static str,
        answer: fn(I, &mut RequestContext<'_>) -> Result<Reply, Problem>,
    ) -> Route
    where
        I: DeserializeOwned + JsonSchema + 'static,
        A: JsonSchema,
    {
        Route {
            effect: Effect::Records,
            scope: AgentScope::Act,
            ..Route::replies::<I, A>(Method::Post, pattern, id, answer)
        }
    }

    /// Makes a route whose handler builds the whole reply.
    pub(super) fn replies<I, A>(
        method: Method,
        pattern: &'static str,
        id: &'static str,
        answer: fn(I, &mut RequestContext<'_>) -> Result<Reply, Problem>,
    ) -> Route
    where
        I: DeserializeOwned + JsonSchema + 'static,
        A: JsonSchema,
    {
        let run: Run = Box::new(move |request, fields| answer(typed(id, fields)?, request));
        Route::new(method, (pattern, id), run, described::<I, A>())
    }

    fn new(
        method: Method,
        (pattern, id): (&'static str, &'static str),
        run: Run,
        (own, answer): (Describe, Describe),
    ) -> Route {
        let route = Route {
            method,
            effect: Effect::Reads,
            scope: AgentScope::Read,
            pattern,
            id,
            doc: "",
            status: 200,
            codes: &[],
            streams: false,
            of_any_time: false,
            of_team: true,
            own,
            schema: Schema::default(),
            answer,
            run,
            shape: Shape::from_schema(&Schema::default()),
            parts: Vec::new(),
            renamed: Vec::new(),
        };
        route.named(names::of_input)
    }

    /// Takes effect, scope, codes and description from operation `O`.
    pub(super) fn like<O: Op>(self) -> Route {
        let (effect, scope) = (O::EFFECT, O::SCOPE);
        Route {
            effect,
            scope,
            ..self
        }
        .doc(O::DOC)
        .codes(O::REFUSALS)
    }
    pub(super) fn doc(self, doc: &'static str) -> Route {
        Route { doc, ..self }
    }
    /// Sets the scope to `operate`, for changes that concern the whole team.
    pub(super) fn operates(self) -> Route {
        let scope = AgentScope::Operate;
        Route { scope, ..self }
    }
    pub(super) fn status(self, status: u16) -> Route {
        Route { status, ..self }
    }
    pub(super) fn codes(self, codes: &'static [Code]) -> Route {
        Route { codes, ..self }
    }
    /// Sets the method to POST, for a reading route whose input is a body, or whose call must not be repeated.
    pub(super) fn in_body(self) -> Route {
        let method = Method::Post;
        Route { method, ..self }.of_now()
    }
    /// Makes the route answer only for the present.
    pub(super) fn of_now(self) -> Route {
        let of_any_time = false;
        Route {
            of_any_time,
            ..self
        }
    }
    /// Marks the route as a route that concerns no team.
    pub(super) fn of_no_team(self) -> Route {
        let of_team = false;
        Route { of_team, ..self }
    }
    /// Lets a route with a body also answer as a stream.
    pub(super) fn also_streams(self) -> Route {
        let streams = true;
        Route { streams, ..self }
    }
    /// Lets the route also answer as a stream. The input fields of such a route keep the names of the input's type.
    pub(super) fn streams(self) -> Route {
        let streams = true;
        Route { streams, ..self }.unrenamed()
    }
    /// Keeps the names of the input's type, for fields that are also in the answers of a stream.
    pub(super) fn unrenamed(self) -> Route {
        self.named(str::to_owned)
    }
    /// Limits the number of items on a page.
    pub(super) fn page(self, max: u64) -> Route {
        self.bounded("limit", "minimum", 1)
            .bounded("limit", "maximum", max)
    }
    /// Sets a bound for the value of a field.
    pub(super) fn bounded(mut self, field: &str, bound: &str, value: u64) -> Route {
        let field = self.schema.pointer_mut(&format!("/properties/{field}"));
        if let Some(field) = field {
            field[bound] = value.into();
        }
        self.shaped()
    }

    /// Gives the two agents of a subscription's filter names of their own.
    pub(super) fn of_subscription(self) -> Route {
        self.named(names::of_subscription)
    }

    fn named(mut self, name: fn(&str) -> String) -> Route {
        (self.schema, self.renamed) = names::renamed((self.own)(), name);
        self.shaped()
    }

    fn shaped(mut self) -> Route {
        self.shape = Shape::from_schema(&self.schema);
        self.parts = parts::of_schema(&self.schema);
        self
    }

    /// Returns the self-contained schema of the input.
    pub fn input_schema(&self) -> Schema {
        self.schema.clone()
    }
    /// Returns the self-contained schema of the body of a successful answer.
    pub fn answer_schema(&self) -> Schema {
        (self.answer)()
    }
    /// Returns the names of the parameters in the path.
    pub fn parameters(&self) -> impl Iterator<Item = &'static str> {
        self.pattern.split('/').filter_map(parameter)
    }

    /// Matches a path with the pattern. Returns the values of the parameters, or `None` if the path does not match.
    pub(super) fn fits(&self, path: &[String]) -> Option<Vec<(&'static str, String)>> {
        let segments = self.pattern.split('/').skip(1);
        if path.len() != segments.clone().count() {
            return None;
        }
        let mut parameters = Vec::new();
        for (segment, given) in segments.zip(path) {
            match parameter(segment) {
                None if segment == given => {}
                Some(name) if !given.is_empty() => parameters.push((name, given.clone())),
                _ => return None,
            }
        }
        Some(parameters)
    }
}

impl std::fmt::Debug for Route {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Route").field("id", &self.id).finish()
    }
}

/// Returns the name in a segment `{name}`, or `None` for another segment.
fn parameter(segment: &'static str) -> Option<&'static str> {
    segment.strip_prefix('{')?.strip_suffix('}')
}

/// Returns functions that describe an input and its answer as schemas.
fn described<I: JsonSchema, A: JsonSchema>() -> (Describe, Describe) {
    (input_schema::<I>, schema::of_answer::<A>)
}

fn input_schema<T: JsonSchema>() -> Schema {
    let settings =
        SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    schema::of::<T>(&mut settings.into_generator())
}

/// Deserializes an input into its type.
pub(super) fn typed<T: DeserializeOwned>(
    id: &str,
    fields: Map<String, Value>,
) -> Result<T, Problem> {
    serde_json::from_value(Value::Object(fields)).map_err(|error| other_input(id, &error))
}

fn other_input(id: &str, error: &serde_json::Error) -> Problem {
    let message = format!("the input does not fit {id}: {error}");
    Problem::new("invalid_input", message)
}
