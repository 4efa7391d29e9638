//! The OpenAPI document, generated from the table of routes, the operations and the schemas of their types.

mod schemas;

use super::endpoint::Route;
use super::input::TEAM;
use super::operations::PATTERN as OPERATION;
use super::problem::{ErrorBody, Problem};
use super::request::RequestContext;
use super::status_of;
use super::table::ROUTES;
use crate::call::Method;
use crate::reply::{JSON, Reply};
use schemas::Schemas;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::LazyLock;
use teamlog_team::Code;
use teamlog_team::api::{self, Effect, Envelope, OPERATIONS, Operation, schema};
use teamlog_team::lifecycle::read_team::ReadTeam;

/// Error codes that every request can get.
const FRONT: &str =
    "malformed_request forbidden target_too_long misdirected head_too_large internal busy";
/// Error codes that every call can get, besides those that `api::refusals` already lists.
const ALWAYS: &str = "unauthorized too_large request_timeout io locked lock_lost damaged";
/// Error codes of calls with a body.
const WITH_BODY: &str = "invalid_json unsupported_media_type";
/// Error codes of calls that record events, besides those that `api::refusals` already lists.
const RECORDING: &str = "no_space poisoned journal_busy journal_unreachable journal_unknown journal_not_durable \
    journal_behind journal_forked";

static TEXT: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let mut text = serde_json::to_vec(&document()).unwrap_or_default();
    text.push(b'\n');
    text
});

/// `GET /v1/openapi.json`.
pub(super) fn serve(_: ReadTeam, _: &mut RequestContext<'_>) -> Result<Reply, Problem> {
    Ok(Reply::new(200, JSON, &**TEXT))
}

/// Builds the document.
pub fn document() -> Value {
    let mut schemas = Schemas::default();
    let mut paths = Map::new();
    // The document has one entry per operation, instead of one entry for the route that runs all operations.
    for route in ROUTES.iter().filter(|route| route.pattern != OPERATION) {
        let described = of_route(route, &mut schemas);
        add(&mut paths, route.pattern, route.method, described);
    }
    for operation in OPERATIONS {
        let described = of_operation(operation, &mut schemas);
        let path = OPERATION.replace("{operation}", operation.name);
        add(&mut paths, &path, Method::Post, described);
    }
    for (path, described) in in_front(&mut schemas) {
        add(&mut paths, path, Method::Get, described);
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "teamlog",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "A team's tasks, threads and messages over its log. Every answer is one JSON object and a line end.",
            "license": {"name": "MIT OR Apache-2.0"},
        },
        "servers": [{"url": "/", "description": "The server of this document; runtime.json of a team has its address"}],
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "schemas": moments(schemas.into_map()),
            "parameters": parameters(),
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer", "description": "A team's token from its runtime.json; or the token of the data root's runtime.json, with `teamId` in the query; or a page session"},
            },
        },
    })
}

/// Format of times in this API. Other surfaces use six decimals.
const MOMENT: &str = "UTC, RFC 3339, with Z. Three decimals; six in events, and in answers that equal those of the command line";

fn moments(mut schemas: Map<String, Value>) -> Map<String, Value> {
    if let Some(moment) = schemas.get_mut("Timestamp") {
        moment["description"] = MOMENT.into();
    }
    schemas
}

fn add(paths: &mut Map<String, Value>, path: &str, method: Method, described: Value) {
    let item = paths.entry(path).or_insert_with(|| json!({}));
    item[method.name().to_lowercase()] = described;
}

/// Returns the descriptions of the header parameters.
fn parameters() -> Value {
    let header = |name: &str, about: &str, max: u32| {
        let about = format!("{about}. An empty value counts as absent");
        json!({"name": name, "in": "header", "required": false, "description": about,
            "schema": {"type": "string", "maxLength": max}})
    };
    json!({
        "key": header("Idempotency-Key", "Idempotency key: equal requests under one key are executed once and get the same answer", 128),
        "trace": header("X-Trace-Id", "Trace id of the recorded events; default: the one of `traceparent`, of the task or of the message", 128),
        "known": {"name": "Last-Event-ID", "in": "header", "required": false,
            "description": "Last seq that the client received; replaces `after`", "schema": {"type": "integer", "minimum": 0}},
    })
}

fn of_route(route: &Route, schemas: &mut Schemas) -> Value {
    let mutates = route.effect == Effect::Records;
    let input = schemas.inlined(route.input_schema());
    let (in_path, mut own) = split(&input, route);
    let team = text(
        "Name of the team, which must be the token's; required in the query with a token or page session for all teams",
    );
    if route.of_team {
        own.insert(TEAM.to_owned(), team.clone());
    }
    if route.of_any_time {
        let about = "Point of the past: seq of an event, or time (ISO 8601); default: now";
        own.insert("at".to_owned(), text(about));
    }
    let required = required(&input);
    let in_path = in_path.into_iter();
    let mut parameters: Vec<Value> = in_path
        .map(|(name, schema)| parameter(&name, "path", true, schema))
        .collect();
    let mut described = json!({
        "operationId": route.id,
        "summary": route.doc,
        "responses": responses(route, success(route, schemas), &error_schema(schemas)),
    });
    match route.method {
        Method::Get => parameters.extend(own.into_iter().map(|(name, schema)| {
            let required = required.contains(&name);
            parameter(&name, "query", required, without_null(schema))
        })),
        Method::Post => {
            let left: Vec<&String> = required
                .iter()
                .filter(|name| own.contains_key(*name))
                .collect();
            described["requestBody"] = json!({
                "required": !left.is_empty(),
                "content": {"application/json": {"schema": {
                    "type": "object", "required": left, "properties": own, "additionalProperties": false,
                }}},
            });
        }
    }
    if route.of_team {
        parameters.extend(mutates.then(|| parameter(TEAM, "query", false, team)));
        parameters.extend(headers(mutates));
    }
    if route.streams && route.method == Method::Get {
        parameters.push(json!({"$ref": "#/components/parameters/known"}));
    }
    described["parameters"] = parameters.into();
    described
}

fn parameters_of(operation: &Operation) -> Vec<Value> {
    let about = "Name of the team, which must be the token's; required with a token or page session for all teams";
    let team = parameter(TEAM, "query", false, text(about));
    [team]
        .into_iter()
        .chain(headers(operation.mutates()))
        .collect()
}

fn headers(mutates: bool) -> impl Iterator<Item = Value> {
    let names: &'static [&'static str] = if mutates { &["key", "trace"] } else { &[] };
    names
        .iter()
        .map(|name| json!({"$ref": format!("#/components/parameters/{name}")}))
}

fn text(about: &str) -> Value {
    json!({"type": "string", "description": about})
}

/// Splits the fields of an input into path parameters and other fields.
fn split(input: &Value, route: &Route) -> (Map<String, Value>, Map<String, Value>) {
    let properties = input.get("properties").and_then(Value::as_object);
    let (mut in_path, mut own) = (Map::new(), Map::new());
    for (name, schema) in properties.into_iter().flatten() {
        let place = match route.parameters().any(|parameter| parameter == name) {
            true => &mut in_path,
            false => &mut own,
        };
        place.insert(name.clone(), schema.clone());
    }
    (in_path, own)
}

fn required(schema: &Value) -> Vec<String> {
    let names = schema.get("required").and_then(Value::as_array);
    let names = names.into_iter().flatten().filter_map(Value::as_str);
    names.map(str::to_owned).collect()
}

fn parameter(name: &str, place: &str, required: bool, mut schema: Value) -> Value {
    let about = schema
        .as_object_mut()
        .and_then(|schema| schema.remove("description"));
    let mut parameter = json!({"name": name, "in": place, "required": required, "schema": schema});
    if let Some(about) = about {
        parameter["description"] = about;
    }
    parameter
}

/// Removes `null` from a schema, because a query parameter cannot be `null`.
fn without_null(mut schema: Value) -> Value {
    if let Some(fields) = schema.as_object_mut()
        && fields.get("default").is_some_and(Value::is_null)
    {
        fields.remove("default");
    }
    if let Some(Value::Array(types)) = schema.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = types.as_slice() {
            schema["type"] = only.clone();
        }
    }
    if let Some(Value::Array(words)) = schema.get_mut("enum") {
        words.retain(|word| !word.is_null());
    }
    for choices in ["anyOf", "oneOf"] {
        if let Some(Value::Array(kinds)) = schema.get_mut(choices) {
            kinds.retain(|kind| kind.get("type").is_none_or(|name| name != "null"));
        }
    }
    schema
}

fn success(route: &Route, schemas: &mut Schemas) -> Value {
    let mut content = json!({"application/json": {"schema": schemas.named(route.answer_schema())}});
    if route.streams {
        content["text/event-stream"] = json!({"schema": {"type": "string"}});
    }
    let mut done = done(route.effect == Effect::Records, content);
    if route.of_any_time {
        done["headers"]["X-Teamlog-At"] = json!({
            "description": "Last event that the answer includes; present if the request has `at`",
            "schema": {"type": "integer", "minimum": 1},
        });
    }
    done
}

fn done(mutates: bool, content: Value) -> Value {
    let mut headers = json!({"X-Teamlog-Note": {
        "description": "Notes about the team: bytes after the durable head, a recovery of the log",
        "schema": {"type": "string"},
    }});
    if mutates {
        headers["Idempotent-Replayed"] = json!({
            "description": "`true` if this repeats the answer to an earlier request under the same key",
            "schema": {"type": "string", "enum": ["true"]},
        });
        headers["X-Budget-Warning"] = json!({
            "description": "Warning; present if the team reached its token limit",
            "schema": {"type": "string"},
        });
    }
    json!({"description": "Done", "content": content, "headers": headers})
}

fn error_schema(schemas: &mut Schemas) -> Value {
    schemas.named(schema::of_answer::<ErrorBody<'static>>())
}

/// Returns the responses of a route by status: the success and the errors.
fn responses(route: &Route, success: Value, error: &Value) -> Value {
    let mutates = route.effect == Effect::Records;
    let has_body = route.method == Method::Post;
    let codes = codes(mutates, route.codes).chain(words(WITH_BODY, has_body));
    let of_past = [Code::PointUnknown, Code::PastBusy].into_iter();
    let of_past = of_past.filter(|_| route.of_any_time);
    let codes = codes.chain(of_past.map(Code::as_str));
    let mut responses = failures(codes, error);
    responses.insert(route.status.to_string(), success);
    responses.into()
}

/// Returns the error codes of an operation: the common codes, then its own codes.
fn codes(mutates: bool, own: &'static [Code]) -> impl Iterator<Item = &'static str> {
    let refusals = api::refusals(mutates, own).map(Code::as_str);
    let others = [(FRONT, true), (ALWAYS, true), (RECORDING, mutates)];
    refusals.chain(
        others
            .into_iter()
            .flat_map(|(codes, are)| words(codes, are)),
    )
}

/// Splits a text of error codes at blanks. Returns no code if `are` is false.
fn words(codes: &'static str, are: bool) -> impl Iterator<Item = &'static str> {
    codes.split_whitespace().filter(move |_| are)
}

fn failures<'a>(codes: impl Iterator<Item = &'a str>, error: &Value) -> Map<String, Value> {
    let mut by_status: BTreeMap<u16, Vec<&str>> = BTreeMap::new();
    for code in codes {
        let known = by_status.entry(status_of(code)).or_default();
        if !known.contains(&code) {
            known.push(code);
        }
    }
    let described = by_status.into_iter().map(|(status, codes)| {
        let names: Vec<String> = codes.iter().map(|code| format!("`{code}`")).collect();
        let response = json!({
            "description": names.join(", "),
            "content": {"application/json": {"schema": error}},
        });
        (status.to_string(), response)
    });
    let other = json!({
        "description": "Any other error; the table in docs/http.md lists the codes",
        "content": {"application/json": {"schema": error}},
    });
    described.chain([("default".to_owned(), other)]).collect()
}

fn of_operation(operation: &Operation, schemas: &mut Schemas) -> Value {
    let mut input = schemas.inlined(operation.input_schema());
    let mut required = required(&input);
    // The token determines the team.
    required.retain(|name| name != "team_name");
    let needs_body = !required.is_empty();
    input["required"] = required.into();
    let data = schemas.named(operation.data_schema());
    let envelope = json!({"type": "object",
    "required": ["schema_version", "timestamp", "command", "ok", "operation", "data"],
    "properties": {
        "schema_version": {"type": "string", "const": "1.0"},
        "timestamp": {"type": "string", "format": "date-time"},
        "command": {"type": "string"},
        "ok": {"type": "boolean", "const": true},
        "operation": {"type": "string", "const": operation.name},
        "data": data,
    }});
    let codes = codes(operation.mutates(), operation.refusals);
    let codes = codes
        .chain(words(WITH_BODY, true))
        .chain(["operation_failed"]);
    let failed = schemas.named(schema::of_answer::<Envelope<'static>>());
    let error = error_schema(schemas);
    // A call that fails in admission has no operation envelope.
    let mut responses = failures(codes, &json!({"anyOf": [failed, error]}));
    let content = json!({"application/json": {"schema": envelope}});
    responses.insert("200".to_owned(), done(operation.mutates(), content));
    json!({
        "operationId": format!("api_{}", operation.name.replace('-', "_")),
        "summary": operation.doc,
        "parameters": parameters_of(operation),
        "requestBody": {"required": needs_body, "content": {"application/json": {"schema": input}}},
        "responses": responses,
    })
}

/// Paths that `front` answers: path, operation id, description, media type, and true if no token is needed.
const IN_FRONT: [(&str, &str, &str, &str, bool); 4] = [
    (
        "/",
        "getPage",
        "Get the page for browsers",
        "text/html",
        true,
    ),
    (
        "/healthz",
        "getHealth",
        "Check that the process runs",
        "application/json",
        true,
    ),
    (
        "/readyz",
        "getReadiness",
        "Check that every team can be read and written",
        "application/json",
        true,
    ),
    (
        "/metrics",
        "getMetrics",
        "Get the metrics of the daemon",
        "application/openmetrics-text",
        false,
    ),
];

fn in_front(schemas: &mut Schemas) -> impl Iterator<Item = (&'static str, Value)> {
    let error = error_schema(schemas);
    IN_FRONT
        .into_iter()
        .map(move |(path, id, about, kind, open)| {
            let mut responses = failures(words(FRONT, true), &error);
            let mut answer = |status: &str, about: &str, kind: &str, schema: Value| {
                let content = json!({kind: {"schema": schema}});
                let answer = json!({"description": about, "content": content});
                responses.insert(status.to_owned(), answer);
            };
            let holds = match kind {
                "application/json" => json!({"type": "object"}),
                _ => json!({"type": "string"}),
            };
            answer("200", "Done", kind, holds.clone());
            if path == "/readyz" {
                answer(
                    "503",
                    "At least one team cannot be read or written",
                    kind,
                    holds,
                );
            }
            if ["/readyz", "/metrics"].contains(&path) {
                answer("401", "`unauthorized`", "application/json", error.clone());
            }
            let mut described =
                json!({"operationId": id, "summary": about, "responses": responses});
            if open {
                described["security"] = json!([]);
            }
            (path, described)
        })
}
