//! `POST /v1/api/{operation}`: runs an operation of the team API. The answer has the JSON envelope of operations.

use super::codes;
use super::input::{brief, shown};
use super::problem::Problem;
use super::request::{RequestContext, after};
use crate::reply::Reply;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use teamlog_team::api::{self, Envelope, Fault, Operation, OperationAnswer};
use teamlog_team::command::Control;
use teamlog_team::engine::Timestamp;

/// Program name in the envelope.
const PROGRAM: &str = "teamlog api";
/// Input field of operations that names the team.
const TEAM_NAME: &str = "team_name";

/// Pattern of the route that runs operations.
pub const PATTERN: &str = "/v1/api/{operation}";
/// Body of the answer.
pub type Answer = Envelope<'static>;

/// The operation and its input.
#[derive(Deserialize, JsonSchema)]
pub struct CallInput {
    /// Name of the operation
    operation: String,
    /// Input of the operation; `team_name` is optional
    #[serde(flatten)]
    input: Map<String, Value>,
}

/// `POST /v1/api/{operation}`.
pub fn call(input: CallInput, request: &mut RequestContext<'_>) -> Result<Reply, Problem> {
    let began = request.now();
    let Some(operation) = api::find(&input.operation) else {
        let name: String = input.operation.chars().take(80).collect();
        let message = format!("unknown operation {name:?}");
        let listed = "teamlog api --list shows all operations";
        let hint = match api::meant(&name) {
            Some(meant) => format!("did you mean {meant}? {listed}"),
            None => listed.to_owned(),
        };
        let fault = Fault::new("unknown_operation", message).detail("hint", hint);
        return Ok(failed(None, began, &fault));
    };
    let given = input.input.get("key").and_then(Value::as_str);
    let key = given.map(str::to_owned).or(request.call.key.clone());
    let key = key.filter(|_| operation.mutates());
    Ok(match carry_out(request, operation, input.input) {
        Ok(answered) => done(key.as_deref(), operation, began, answered)?,
        Err(fault) => failed(Some(operation.name), began, &fault),
    })
}

fn carry_out(
    request: &RequestContext<'_>,
    operation: &Operation,
    mut input: Map<String, Value>,
) -> Result<OperationAnswer, Fault> {
    check_team(&input, request.call.team.as_str())?;
    input.insert(TEAM_NAME.to_owned(), request.call.team.as_str().into());
    // `api::call` derives the bytes of the request from the operation's input, so that a repeat with this key over
    // another surface counts as equal.
    let control = Control {
        key: request.call.key.clone(),
        trace_id: request.call.trace_id.clone(),
        deadline: request.call.deadline.clone(),
        ..Control::default()
    };
    api::call(&request.root, operation, input, control)
}

/// Checks that `team_name` is absent or names the team of the token.
fn check_team(input: &Map<String, Value>, own: &str) -> Result<(), Fault> {
    let (code, message) = match input.get(TEAM_NAME) {
        None | Some(Value::Null) => return Ok(()),
        Some(Value::String(team)) if team.trim().is_empty() || team.trim() == own => return Ok(()),
        Some(Value::String(team)) => {
            let rule = format!("{TEAM_NAME} must be the team of the token, {own}");
            ("team_not_found", format!("{rule}, but is {}", shown(team)))
        }
        Some(other) => {
            let message = format!("{TEAM_NAME} must be a string, but is {}", brief(other));
            ("invalid_input", message)
        }
    };
    Err(Fault::new(code, message).detail("field", TEAM_NAME))
}

fn done(
    key: Option<&str>,
    operation: &'static Operation,
    began: Timestamp,
    answered: OperationAnswer,
) -> Result<Reply, Problem> {
    let Some(mut team) = answered.team else {
        let envelope = Envelope::done(PROGRAM, operation.name, began, &answered.data);
        return Ok(Reply::json(200, &envelope));
    };
    // A repeated request must get equal bytes, including the time of the first answer.
    let began = match key {
        Some(key) => team.answered_at(key)?.unwrap_or(began),
        None => began,
    };
    let envelope = Envelope::done(PROGRAM, operation.name, began, &answered.data);
    let reply = Reply::json(200, &envelope);
    Ok(match operation.mutates() {
        true => after(reply, &mut team),
        false => reply,
    })
}

fn failed(operation: Option<&str>, began: Timestamp, fault: &Fault) -> Reply {
    let envelope = Envelope::failed(PROGRAM, operation, began, fault);
    // If our error code is more precise than the code of the team API, the answer has both codes.
    let precise = fault.details.get("code").and_then(Value::as_str);
    codes::row_of(precise.unwrap_or(&fault.code)).reply(&envelope)
}
