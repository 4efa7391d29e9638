//! The table of routes. Dispatch and the OpenAPI document are derived from it.

mod admitted;
mod attention;
mod codes;
mod comments;
mod deliveries;
mod endpoint;
mod events;
mod inbox;
mod input;
mod names;
pub mod openapi;
mod operations;
mod page_session;
mod parts;
mod paths;
mod problem;
mod record;
mod request;
mod root;
mod runs;
mod subscriptions;
mod table;
mod tasks;
mod teams;
mod threads;
mod usage;

pub(crate) use admitted::team;
pub use codes::{CODES, CodeRow};
pub use endpoint::Route;
pub(crate) use events::last_event_id;
pub(crate) use page_session::TRADES_A_CODE;
pub use problem::{ErrorBody, Problem};
pub use table::ROUTES;

use crate::call::{Call, Method};
use crate::reply::Reply;
use crate::served::{DAMAGED, Served};
use request::{RequestContext, noting};
use serde::de::DeserializeOwned;
use table::RouteLookup;
use teamlog_team::api::{self, Effect, Operation};
use teamlog_team::projections::agent_token::event::AgentScope;
use teamlog_team::redaction::redact;
use teamlog_team::task::show::TaskShow;
use teamlog_team::{Code, Notes, RootOptions, Team};

/// Path parameter that names a task.
const TASK: &str = "taskId";

/// Answers a call. May wait for the disk, but reads nothing from the network.
pub fn answer(served: &Served, call: &Call) -> Reply {
    let reply = redacted(answered(served, call), call);
    if reply.status == 503 && reply.code().as_deref() == Some(DAMAGED) {
        served.suspect(&call.team);
    }
    reply
}

/// Removes from a reply the claim tokens that belong to other agents than the caller.
fn redacted(reply: Reply, call: &Call) -> Reply {
    let body = std::str::from_utf8(&reply.body).unwrap_or_default();
    let agent = call.caller.agent.as_ref();
    match agent.and_then(|agent| redact(body.trim_end(), &agent.name)) {
        Some(redacted) => Reply {
            body: format!("{redacted}\n").into_bytes(),
            ..reply
        },
        None => reply,
    }
}

fn answered(served: &Served, call: &Call) -> Reply {
    match table::find(call.method, &call.path) {
        RouteLookup::Route(route, parameters) => {
            let answered = carry_out(served, call, route, parameters);
            answered.unwrap_or_else(Problem::into_reply)
        }
        RouteLookup::OtherMethods(methods) => refused_method(&listed(&methods), call.method.name()),
        RouteLookup::Nothing => {
            let path = format!("/{}", call.path.join("/"));
            let message = format!("no such path: {path:?}");
            Problem::new("not_found", message).into_reply()
        }
    }
}

/// Returns the methods of a path in the form of the `Allow` header, or `None` for an unknown path. Paths of `front` are not
/// included.
pub fn allowed(path: &[String]) -> Option<String> {
    let methods = table::methods(path);
    match methods.is_empty() {
        true => None,
        false => Some(listed(&methods)),
    }
}

fn carry_out(
    served: &Served,
    call: &Call,
    route: &'static Route,
    parameters: Vec<(&'static str, String)>,
) -> Result<Reply, Problem> {
    let task = task_of(&parameters);
    let answered = input::read(route, call, parameters).and_then(|read| {
        let mut request = RequestContext::new(served, call, route, (read.canonical, read.at));
        let reply = (route.run)(&mut request, read.fields)?;
        Ok(noting(reply, &request.root.options().notes))
    });
    answered.map_err(|problem| {
        let missing = task.filter(|_| BEHIND_THE_TASK.contains(&problem.code()));
        let missing = missing.and_then(|task| missing_task(served, call, task));
        missing.unwrap_or(problem).in_terms_of(&route.shape)
    })
}

/// Codes of errors that can be reported only for tasks that exist.
const BEHIND_THE_TASK: [&str; 4] = [
    "invalid_input",
    "too_large",
    "worker_not_found",
    "budget_exceeded",
];

/// Returns the task id in a path, if the path has one.
fn task_of(parameters: &[(&'static str, String)]) -> Option<String> {
    let task = parameters.iter().find(|(name, _)| *name == TASK);
    task.map(|(_, id)| id.clone())
}

/// Returns the error for an unknown task if the task does not exist.
fn missing_task(served: &Served, call: &Call, task_id: String) -> Option<Problem> {
    let show = TaskShow {
        task_id,
        ..TaskShow::default()
    };
    let failure = served.team(&call.team).ok()?.task_show(show).err()?;
    let refusal = failure.refusal()?;
    (refusal.code == Code::TaskNotFound).then(|| Problem::from(refusal.clone()))
}

fn status_of(code: &str) -> u16 {
    codes::row_of(code).status
}

/// Returns the effect of a call, and the scope that an agent's token needs for the call.
pub(crate) fn effect(method: Method, path: &[String]) -> (Effect, AgentScope) {
    let reads = (Effect::Reads, AgentScope::Read);
    if let Some(operation) = operation(path) {
        return operation.map_or(reads, |operation| (operation.effect, operation.scope));
    }
    match (table::find(method, path), method) {
        (RouteLookup::Route(route, _), _) => (route.effect, route.scope),
        (_, Method::Post) => (Effect::Records, AgentScope::Act),
        (_, Method::Get) => reads,
    }
}

/// Returns the operation that a path below `/v1/api/` names. The path may contain any name of the operation.
fn operation(path: &[String]) -> Option<Option<&'static Operation>> {
    match path {
        [version, api, operation] if version == "v1" && api == "api" => Some(api::find(operation)),
        _ => None,
    }
}

/// Reads the input of a call as the call's route does.
pub(crate) fn input_of<T: DeserializeOwned>(call: &Call) -> Result<T, Problem> {
    let RouteLookup::Route(route, parameters) = table::find(call.method, &call.path) else {
        return Err(Problem::new("not_found", "no such path"));
    };
    let read = input::read(route, call, parameters)?;
    if read.at.is_some() {
        let rule = "is not supported for a stream, which continues with new events";
        return Err(Problem::invalid(input::AT, format!("{} {rule}", input::AT)));
    }
    endpoint::typed(route.id, read.fields)
}

/// Opens the team of a call, with the rights of its caller.
pub(crate) fn team_of(served: &Served, call: &Call) -> Result<Team, Problem> {
    let options = RootOptions {
        notes: Notes::default(),
        authenticated: call.caller.authenticated(),
        ..served.root().options().clone()
    };
    Ok(served.root().with_options(options).team(&call.team)?)
}

/// Makes the reply for a method that the path does not support.
pub(crate) fn refused_method(allow: &str, method: &str) -> Reply {
    let message = format!("this path supports {allow}, not {method}");
    Problem::new("method_not_allowed", message)
        .into_reply()
        .header("Allow", allow)
}

/// Lists the methods of a path. `GET` implies `HEAD`.
fn listed(methods: &[Method]) -> String {
    let names: Vec<&str> = methods
        .iter()
        .map(|method| match method {
            Method::Get => "GET, HEAD",
            Method::Post => "POST",
        })
        .collect();
    names.join(", ")
}
