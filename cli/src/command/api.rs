//! `api`: the operations of the mutation contract, for brokers and agents.
//!
//! Its words have a grammar of their own, and what is wrong with them is an answer in the contract's envelope, exit 1:
//! clap only hands them through.

mod help;
mod words;

use crate::context::{Context, Unknown};
use crate::exit::{CommandError, Exit, Outcome};
use crate::forward::Place;
use crate::link::Called;
use crate::render::escape::{visible, visible_json, visible_lines};
use crate::render::pretty;
use crate::surroundings::Surroundings;
use serde_json::{Map, Value};
use std::io::Read;
use std::path::Path;
use teamlog_team::act::Control;
use teamlog_team::api::{self, Answered, Envelope, Fault, Operation};
use teamlog_team::engine::{Clock, SystemClock, Timestamp};
use words::{Asked, Source};

pub use help::{Listing, Schemas};

#[derive(Debug, clap::Args)]
#[command(
    disable_help_flag = true,
    override_usage = "teamlog api <OPERATION> [--input <JSON|@FILE|->] [--json]\n       \
        teamlog api <OPERATION> --help|--schema\n       \
        teamlog api --list|--help",
    long_about = "Carry out an operation of the team API\n\nWith --json the answer is one line on standard output, \
        {schema_version, timestamp, command, ok, operation, data | error}, and exit 0 or 1. The input is a JSON object, \
        by default {}; an operation's fields are told by --help and, as JSON Schema, by --schema.",
    after_help = help::behind()
)]
pub struct Args {
    /// The operation's name, then --input with its fields; --help, --schema and --list tell more
    #[arg(
        value_name = "OPERATION",
        allow_hyphen_values = true,
        trailing_var_arg = true
    )]
    words: Vec<std::ffi::OsString>,
}

/// Most bytes of an input: an event may have a mebibyte, and a task's text may say the same in more.
const INPUT_BYTES_MAX: u64 = 8 << 20;

impl Args {
    /// Runs it. Whatever is wrong is an answer.
    pub fn run(self, context: &mut Context) -> Outcome {
        let called = context.called();
        let began = SystemClock.now();
        let asked = match words::read(&self.words, called, context.wants_receipt()) {
            Ok(asked) => asked,
            Err(fault) => return unread(context, began, &fault),
        };
        match asked {
            Asked::Help(None) => help::of_all(context),
            Asked::Help(Some(operation)) => help::of_one(context, operation),
            Asked::List => help::list(context),
            Asked::Schema(operation) => help::schemas(context, operation),
            Asked::Call(operation, source) => match read(context.surroundings(), &source) {
                Ok(input) => carry_out(context, began, operation, input),
                Err(fault) => unread(context, began, &fault),
            },
        }
    }
}

/// Answers that the call could not be read.
fn unread(context: &mut Context, began: Timestamp, fault: &Fault) -> Outcome {
    let program = context.called().words("api");
    if context.out.is_json() {
        let envelope = Envelope::failed(&program, None, began, fault);
        context.out.json(&envelope)?;
    } else {
        let line = format!("Error: {}", visible_lines(&fault.message));
        say(context.surroundings(), &line, fault);
    }
    Ok(Exit::Refused)
}

/// The same where there is not even a context.
pub fn unreadable(surroundings: &Surroundings, json: bool, error: &CommandError) -> Exit {
    let called = Called::of(surroundings.program().as_deref());
    let fault = Fault::new("invalid_input", error.message()).detail("code", error.code());
    if !json {
        let line = format!("Error: {}", visible_lines(&fault.message));
        say(surroundings, &line, &fault);
        return Exit::Refused;
    }
    let program = called.words("api");
    let envelope = Envelope::failed(&program, None, SystemClock.now(), &fault);
    let mut out = crate::output::Output::stdout(true, surroundings);
    match out.json(&envelope).and_then(|()| out.flush()) {
        Ok(()) => Exit::Refused,
        Err(error) => error.report(json, surroundings),
    }
}

fn carry_out(
    context: &mut Context,
    began: Timestamp,
    operation: &'static Operation,
    input: Map<String, Value>,
) -> Outcome {
    let answered = call(context, operation, input);
    let program = context.called().words("api");
    match answered {
        Ok(answered) => {
            let data = &answered.data;
            if context.out.is_json() {
                let envelope = Envelope::done(&program, operation.name, began, data);
                context.out.json(&envelope)?;
            } else {
                let shown = pretty::indented(&visible_json(data.get()));
                context
                    .out
                    .line(format!("ok operation={}", operation.name))?;
                context.out.line(shown)?;
            }
            match answered.team {
                Some(team) => context.done(team, Exit::Done),
                None => Ok(Exit::Done),
            }
        }
        Err(fault) => {
            if context.out.is_json() {
                let envelope = Envelope::failed(&program, Some(operation.name), began, &fault);
                context.out.json(&envelope)?;
            } else {
                let (name, code) = (operation.name, &fault.code);
                let message = visible(&fault.message);
                say(
                    context.surroundings(),
                    &format!("error operation={name} code={code}: {message}"),
                    &fault,
                );
            }
            Ok(Exit::Refused)
        }
    }
}

fn call(
    context: &mut Context,
    operation: &'static Operation,
    input: Map<String, Value>,
) -> Result<Answered, Fault> {
    if operation.mutates {
        context.records(Unknown::Look);
    }
    if let Some(Value::String(team)) = input.get("team_name") {
        context.check_last_receipt(team).map_err(failed)?;
    }
    let root = context.data().map_err(failed)?;
    let control = Control {
        actor: context.actor_flag(),
        ..Control::default()
    };
    api::call(&root, operation, input, control)
}

/// What went wrong around an operation, as the contract says it.
fn failed(error: CommandError) -> Fault {
    Fault::new("operation_failed", error.message()).detail("code", error.code())
}

/// The input as an object.
fn read(surroundings: &Surroundings, source: &Source) -> Result<Map<String, Value>, Fault> {
    let invalid = |why: &str| Fault::new("invalid_input", format!("Invalid --input JSON: {why}"));
    let text = match source {
        Source::Given(text) => text.clone(),
        Source::Standard => read_all("standard input", &mut surroundings.stdin())?,
        Source::File(path) => {
            let mut file = super::append::open(surroundings, "--input", Path::new(path))
                .map_err(failed_input)?;
            read_all(path, &mut file)?
        }
    };
    // Stricter than the parser below: no key twice, no number out of bounds, nothing nested without end.
    let json =
        teamlog_team::engine::Json::parse(&text).map_err(|error| invalid(&error.to_string()))?;
    match serde_json::from_str(json.as_str()) {
        Ok(Value::Object(input)) => Ok(input),
        Ok(_) => Err(invalid("input must be a JSON object")),
        Err(error) => Err(invalid(&error.to_string())),
    }
}

fn failed_input(error: CommandError) -> Fault {
    Fault::new("invalid_input", error.message()).detail("code", error.code())
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

/// Says it on standard error, with what to do next.
fn say(surroundings: &Surroundings, line: &str, fault: &Fault) {
    let mut text = line.to_owned();
    if let Some(Value::String(hint)) = fault.details.get("hint") {
        text.push_str(&format!("\nhint: {}", visible(hint)));
    }
    surroundings.say(&format!("{text}\n"));
}

/// Where the input is of words that ask for an operation that records.
pub fn recording_input(words: &[std::ffi::OsString], called: Called) -> Option<Place> {
    match words::read(words, called, false) {
        Ok(Asked::Call(operation, source)) if operation.mutates => Some(match source {
            Source::Given(text) => Place::Given(text),
            Source::File(path) => Place::File(path),
            Source::Standard => Place::Standard,
        }),
        _ => None,
    }
}
