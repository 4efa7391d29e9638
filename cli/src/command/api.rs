//! `api`: runs the operations of the team API for brokers and agents.
//!
//! clap does not parse the words after `api`, because these words have a separate grammar. A usage error is printed
//! in the JSON envelope of the API, and the exit code is 1.

mod help;
mod words;

use crate::command::prelude::*;
use crate::forward::{API, ApiAnswer, ApiInput};
use crate::hint::Cause;
use crate::link::Called;
use crate::render::escape::{visible_json, visible_lines};
use crate::render::pretty;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::io::Read;
use teamlog_team::api::{Envelope, Fault, Operation};
use teamlog_team::engine::{Clock, SystemClock, Timestamp};
use teamlog_team::names;
use words::{ApiRequest, Source};

pub use help::{Listing, Schemas};

#[derive(Debug, clap::Args)]
#[command(
    disable_help_flag = true,
    override_usage = "teamlog api <OPERATION> [--input <JSON|@FILE|->] [--json]\n       \
        teamlog api <OPERATION> --help|--schema\n       \
        teamlog api --list|--help",
    long_about = "Carry out an operation of the team API\n\nWith --json the answer is one line on standard output, \
        {schema_version, timestamp, command, ok, operation, data | error}, and exit 0 or 1. The input is a JSON object, \
        by default {}; --help describes an operation's fields, --schema prints them as JSON Schema.",
    after_help = help::behind()
)]
pub struct Args {
    /// Name of the operation, then --input with its fields. --help, --schema and --list say more
    #[arg(
        value_name = "OPERATION",
        allow_hyphen_values = true,
        trailing_var_arg = true
    )]
    words: Vec<std::ffi::OsString>,
}

/// Maximum size of an input in bytes. An event may have 1 MiB, and JSON escapes can make its text several times longer.
const INPUT_BYTES_MAX: u64 = 8 << 20;

impl Args {
    /// Returns the operation that the command line names, or `None` if the command line cannot be parsed.
    pub fn operation(&self, env: &ProcessEnv) -> Option<&'static Operation> {
        let called = Called::from_program(env.program().as_deref());
        match words::read(&self.words, called, false) {
            Ok(ApiRequest::Call(operation, _)) => Some(operation),
            _ => None,
        }
    }

    /// Runs the command. Every failure is printed as an answer in the JSON envelope.
    pub fn run(self, context: &mut Context) -> Outcome {
        let called = context.called();
        let began = SystemClock.now();
        let asked = match words::read(&self.words, called, context.wants_receipt()) {
            Ok(asked) => asked,
            Err(fault) => return failed(context, None, began, &fault),
        };
        match asked {
            ApiRequest::Help(None) => help::of_all(context),
            ApiRequest::Help(Some(operation)) => help::of_one(context, operation),
            ApiRequest::List => help::list(context),
            ApiRequest::Schema(operation) => help::schemas(context, operation),
            ApiRequest::Call(operation, source) => match read(context.env(), &source) {
                Ok(input) => carry_out(context, began, operation, input),
                Err(fault) => failed(context, None, began, &explained(context, operation, fault)),
            },
        }
    }
}

/// Adds the help of the operation to a fault of the input. The envelope of `--json` stays as it is.
fn explained(context: &Context, operation: &Operation, fault: Fault) -> Fault {
    let help = context.hint(&Cause::HelpOf(&format!("api {}", operation.name)));
    match help.filter(|_| !context.out.is_json()) {
        Some(help) => fault.detail("hint", help),
        None => fault,
    }
}

/// Prints an answer that says that the operation was not carried out.
fn failed(
    context: &mut Context,
    operation: Option<&'static Operation>,
    began: Timestamp,
    fault: &Fault,
) -> Outcome {
    if context.out.is_json() {
        let program = context.called().words("api");
        let name = operation.map(|operation| operation.name);
        let envelope = Envelope::failed(&program, name, began, fault);
        context.out.json(&envelope)?;
    } else {
        say_failed(context.env(), operation, fault);
    }
    Ok(Exit::Refused)
}

/// Prints an answer for a failure outside of the operation, such as a held lock, a daemon that does not answer, or wrong
/// flags. The operation was not carried out, or its outcome is unknown. `operation` is `None` if the command line could
/// not be parsed.
pub fn undone(
    env: &ProcessEnv,
    json: bool,
    operation: Option<&'static Operation>,
    error: CommandError,
) -> Exit {
    let fault = match (operation, error.exit()) {
        // The message contains the hint already.
        (None, _) => Fault::new("invalid_input", error.message()).detail("code", error.code()),
        (Some(_), Exit::Usage | Exit::Refused) => fault_of("invalid_input", error),
        (Some(_), _) => fault_of(FAILED, error),
    };
    if !json {
        say_failed(env, operation, &fault);
        return Exit::Refused;
    }
    let program = Called::from_program(env.program().as_deref()).words("api");
    let name = operation.map(|operation| operation.name);
    let envelope = Envelope::failed(&program, name, SystemClock.now(), &fault);
    let mut out = crate::output::Output::stdout(true, env);
    match out.json(&envelope).and_then(|()| out.flush()) {
        Ok(()) => Exit::Refused,
        Err(error) => error.report(json, env),
    }
}

/// Outer error code of failures that are not refusals.
const FAILED: &str = "operation_failed";

/// Converts a command error into a fault of the API.
fn fault_of(code: &str, error: CommandError) -> Fault {
    let message = error.message().to_owned();
    Fault {
        details: error.into_details(),
        ..Fault::new(code, message)
    }
}

fn carry_out(
    context: &mut Context,
    began: Timestamp,
    operation: &'static Operation,
    input: Input,
) -> Outcome {
    let data = match call(context, operation, input)? {
        Ok(data) => data,
        Err(fault) => return failed(context, Some(operation), began, &fault),
    };
    if context.out.is_json() {
        let program = context.called().words("api");
        let envelope = Envelope::done(&program, operation.name, began, &data);
        let envelope = envelope.replayed(context.replayed());
        context.out.json(&envelope)?;
    } else {
        let shown = pretty::indented(&visible_json(data.get()));
        context
            .out
            .line(format!("ok operation={}", operation.name))?;
        context.out.line(shown)?;
    }
    context.ended(Exit::Done)
}

/// Carries out the operation in the daemon if a daemon serves the team, else in this process.
fn call(
    context: &mut Context,
    operation: &'static Operation,
    input: Input,
) -> Result<ApiAnswer, CommandError> {
    let text = |field: &str| input.fields.get(field).and_then(Value::as_str);
    let team = text("team_name").unwrap_or_default().to_owned();
    if operation.mutates() {
        context.records(Repeat::of_key(text("key")));
    }
    let failed = |error| Ok(Err(fault_of(FAILED, error)));
    if input.fields.contains_key("team_name")
        && let Err(error) = context.check_last_receipt(&team)
    {
        return failed(error);
    }
    // Do not build a path from a text that is not a valid team name.
    let forwards =
        (operation.mutates() || context.is_remote()) && names::check_known("team", &team).is_ok();
    let asked = ApiInput {
        operation: operation.name.to_owned(),
        input: input.text,
    };
    let who = context.who();
    if forwards && let Some(answer) = context.forwarded(&who, &API, &team, &asked)? {
        return Ok(answer);
    }
    let root = match context.data() {
        Ok(root) => root,
        Err(error) => return failed(error),
    };
    let answer = context.here(root, &who, &API, &team, asked.clone())?;
    match &answer {
        // A daemon started in the meantime and holds the lock until the daemon ends.
        Err(fault) if forwards && is_locked(fault) => {
            let forwarded = context.forwarded(&who, &API, &team, &asked)?;
            Ok(forwarded.unwrap_or(answer))
        }
        _ => Ok(answer),
    }
}

/// Returns true if the call failed because another process holds the lock. In this case, nothing was recorded.
fn is_locked(fault: &Fault) -> bool {
    let code = fault.details.get("code");
    code.is_some_and(|code| code == "locked")
}

struct Input {
    fields: Map<String, Value>,
    text: Box<RawValue>,
}

fn read(env: &ProcessEnv, source: &Source) -> Result<Input, Fault> {
    let invalid = |why: &str| Fault::new("invalid_input", format!("Invalid --input JSON: {why}"));
    let text = match source {
        Source::Given(text) => text.clone(),
        Source::Standard => read_all("standard input", &mut env.stdin())?,
        Source::File(path) => {
            let file = crate::file::open(env, "--input", Path::new(path));
            let file = file.map_err(|error| {
                Fault::new("invalid_input", error.message()).detail("code", error.code())
            });
            read_all(path, &mut file?)?
        }
    };
    // This parser is stricter than serde_json: it refuses duplicate keys, numbers out of range and unlimited nesting.
    let json =
        teamlog_team::engine::Json::parse(&text).map_err(|error| invalid(&error.to_string()))?;
    if let Some(number) = json.rounded_integer() {
        let why = format!("{number} is an integer beyond 64 bits; give it as text");
        return Err(invalid(&why));
    }
    match serde_json::from_str(json.as_str()) {
        Ok(Value::Object(fields)) => Ok(Input {
            fields,
            text: RawValue::from_string(json.as_str().to_owned())
                .map_err(|error| invalid(&error.to_string()))?,
        }),
        Ok(_) => Err(invalid("input must be a JSON object")),
        Err(error) => Err(invalid(&error.to_string())),
    }
}

fn read_all(what: &str, from: &mut dyn Read) -> Result<String, Fault> {
    let mut text = String::new();
    let read = Read::take(from, INPUT_BYTES_MAX + 1).read_to_string(&mut text);
    let error = match read {
        Ok(_) if text.len() as u64 <= INPUT_BYTES_MAX => return Ok(text),
        Ok(_) => format!("{what} must have at most {INPUT_BYTES_MAX} bytes, but has more"),
        Err(error) => format!("cannot read {what}: {error}"),
    };
    Err(Fault::new(
        "invalid_input",
        format!("Invalid --input JSON: {error}"),
    ))
}

/// Prints the fault and its hint to standard error.
fn say_failed(env: &ProcessEnv, operation: Option<&Operation>, fault: &Fault) {
    let mut text = match operation {
        Some(operation) => format!(
            "error operation={} code={}: {}",
            operation.name,
            fault.code,
            visible(&fault.message)
        ),
        None => format!("Error: {}", visible_lines(&fault.message)),
    };
    if let Some(Value::String(hint)) = fault.details.get("hint") {
        text.push_str(&format!("\nhint: {}", visible(hint)));
    }
    env.say(&format!("{text}\n"));
}
