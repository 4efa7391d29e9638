//! The subcommands, one a file: what may be typed, and the run from there to an answer.

mod ack;
mod append;
mod demo;
mod export;
mod head;
mod import;
mod init;
mod read;
mod rehydrate;
mod replay;
mod send;
mod status;
mod task;
mod task_assign;
mod task_update;
mod tasks;
mod trace;
mod verify;

use crate::context::Context;
use crate::exit::Outcome;
use teamlog_team::engine::{Format, Timestamp};

/// What teamlog can do.
#[derive(Debug, clap::Subcommand)]
pub enum Command {
    Init(init::Args),
    Send(send::Args),
    TaskAssign(task_assign::Args),
    TaskUpdate(task_update::Args),
    Read(read::Args),
    Ack(ack::Args),
    Tasks(tasks::Args),
    Task(task::Args),
    Status(status::Args),
    Trace(trace::Args),
    Replay(replay::Args),
    Append(append::Args),
    Rehydrate(rehydrate::Args),
    Verify(verify::Args),
    Head(head::Args),
    Import(import::Args),
    Export(export::Args),
    Demo(demo::Args),
}

impl Command {
    /// Runs it.
    ///
    /// # Errors
    /// Everything that ends in another exit code than the command's own.
    pub fn run(self, context: &mut Context) -> Outcome {
        let team = self.team().map(str::to_owned);
        let outcome = match self {
            Command::Init(args) => args.run(context),
            Command::Send(args) => args.run(context),
            Command::TaskAssign(args) => args.run(context),
            Command::TaskUpdate(args) => args.run(context),
            Command::Read(args) => args.run(context),
            Command::Ack(args) => args.run(context),
            Command::Tasks(args) => args.run(context),
            Command::Task(args) => args.run(context),
            Command::Status(args) => args.run(context),
            Command::Trace(args) => args.run(context),
            Command::Replay(args) => args.run(context),
            Command::Append(args) => args.run(context),
            Command::Rehydrate(args) => args.run(context),
            Command::Verify(args) => args.run(context),
            Command::Head(args) => args.run(context),
            Command::Import(args) => args.run(context),
            Command::Export(args) => args.run(context),
            Command::Demo(args) => args.run(context),
        };
        match team {
            Some(team) => outcome.map_err(|error| error.for_team(&team)),
            None => outcome,
        }
    }

    fn team(&self) -> Option<&str> {
        match self {
            Command::Init(args) => Some(&args.team),
            Command::Send(args) => Some(&args.team),
            Command::TaskAssign(args) => Some(&args.team),
            Command::TaskUpdate(args) => Some(&args.team),
            Command::Read(args) => Some(&args.team),
            Command::Ack(args) => Some(&args.team),
            Command::Tasks(args) => Some(&args.team),
            Command::Task(args) => Some(args.team()),
            Command::Status(args) => Some(&args.team),
            Command::Trace(args) => Some(&args.team),
            Command::Replay(args) => Some(&args.team),
            Command::Append(args) => Some(&args.team),
            Command::Rehydrate(args) => Some(&args.team),
            Command::Verify(args) => Some(&args.team),
            Command::Head(args) => Some(&args.team),
            Command::Import(args) => Some(&args.team),
            Command::Export(args) => Some(&args.team),
            Command::Demo(_) => None,
        }
    }
}

/// `jsonl` or `binary`.
fn format(text: &str) -> Result<Format, String> {
    match text {
        "jsonl" => Ok(Format::Jsonl),
        "binary" => Ok(Format::Binary),
        _ => Err("must be jsonl or binary".to_owned()),
    }
}

/// A time as people write it.
fn time(text: &str) -> Result<Timestamp, String> {
    Timestamp::parse(text)
}
