//! What a route is.

use super::problem::Problem;
use super::request::RequestContext;
use crate::call::Method;
use crate::reply::Reply;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// What is known of a route beside its types.
#[derive(Debug, Clone, Copy)]
pub struct Facts {
    /// The method.
    pub method: Method,
    /// The path; `{name}` stands for one segment, which is a field of the input.
    pub pattern: &'static str,
    /// The operation's id in documents.
    pub id: &'static str,
    /// What it does, in a line without a full stop.
    pub doc: &'static str,
    /// The status of success.
    pub status: u16,
    /// Whether it records events.
    pub mutates: bool,
    /// The codes of what can go wrong, beside those that every route has.
    pub codes: &'static [&'static str],
    /// Whether it is also answered as a stream.
    pub streams: bool,
}

impl Facts {
    /// Of a route that reads.
    pub(super) const fn get(pattern: &'static str, id: &'static str, doc: &'static str) -> Facts {
        Facts {
            method: Method::Get,
            pattern,
            id,
            doc,
            status: 200,
            mutates: false,
            codes: &[],
            streams: false,
        }
    }
    /// Of one that records.
    pub(super) const fn post(pattern: &'static str, id: &'static str, doc: &'static str) -> Facts {
        Facts {
            method: Method::Post,
            mutates: true,
            ..Facts::get(pattern, id, doc)
        }
    }
    pub(super) const fn status(self, status: u16) -> Facts {
        Facts { status, ..self }
    }
    pub(super) const fn streams(self) -> Facts {
        Facts {
            streams: true,
            ..self
        }
    }
    pub(super) const fn codes(self, codes: &'static [&'static str]) -> Facts {
        Facts { codes, ..self }
    }
}

/// A route as a type: its input is what the path, the query and the body say.
pub(super) trait Endpoint {
    /// The input: parameters of the path, then fields of the query (where it reads) or of the body (where it records).
    type Input: DeserializeOwned + JsonSchema;
    /// The body of success.
    type Answer: Serialize + JsonSchema;
    /// What else is known of it.
    const FACTS: Facts;

    /// Answers.
    fn answer(input: Self::Input, request: &mut RequestContext<'_>) -> Result<Reply, Problem>;
}

/// Carries a route out on an input that was checked.
pub(super) type Run = fn(&mut RequestContext<'_>, Map<String, Value>) -> Result<Reply, Problem>;

/// A row of the table.
pub struct Route {
    /// What is known of it.
    pub facts: Facts,
    input: fn() -> Schema,
    answer: fn() -> Schema,
    pub(super) run: Run,
}

impl Route {
    /// The schema of the input, self-contained.
    pub fn input_schema(&self) -> Schema {
        (self.input)()
    }
    /// The schema of the body of success, self-contained.
    pub fn answer_schema(&self) -> Schema {
        (self.answer)()
    }
    /// The parameters of the path.
    pub fn parameters(&self) -> impl Iterator<Item = &'static str> {
        self.facts.pattern.split('/').filter_map(parameter)
    }
}

impl std::fmt::Debug for Route {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Route").field("facts", &self.facts).finish()
    }
}

/// The name of a segment that stands for any.
pub(super) fn parameter(segment: &'static str) -> Option<&'static str> {
    segment.strip_prefix('{')?.strip_suffix('}')
}

pub(super) const fn row<E: Endpoint>() -> Route {
    Route {
        facts: E::FACTS,
        input: input_schema::<E::Input>,
        answer: answer_schema::<E::Answer>,
        run: run::<E>,
    }
}

fn input_schema<T: JsonSchema>() -> Schema {
    let settings =
        SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    settings.into_generator().into_root_schema_for::<T>()
}

/// The schema of what is answered: what may be left out is not required.
pub(crate) fn answer_schema<T: JsonSchema>() -> Schema {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    settings.into_generator().into_root_schema_for::<T>()
}

fn run<E: Endpoint>(
    request: &mut RequestContext<'_>,
    fields: Map<String, Value>,
) -> Result<Reply, Problem> {
    E::answer(typed(E::FACTS.id, fields)?, request)
}

/// An input as its type.
pub(super) fn typed<T: DeserializeOwned>(
    id: &str,
    fields: Map<String, Value>,
) -> Result<T, Problem> {
    serde_json::from_value(Value::Object(fields)).map_err(|error| {
        let message = format!("the input must be that of {id}, but {error}");
        Problem::new("invalid_input", message)
    })
}
