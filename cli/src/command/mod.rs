//! The subcommands, one a file: what may be typed, and the run from there to an answer.

mod ack;
pub mod all_teams;
pub mod api;
pub mod append;
mod artifact;
pub mod await_event;
mod backup;
mod bootstrap;
mod can_write;
mod completions;
mod config;
mod convert;
mod dead_letter;
mod demo;
mod diff;
mod doctor;
mod effects;
mod export;
pub mod given;
pub mod guard;
mod head;
mod hooks;
mod import;
mod init;
mod keygen;
mod man;
mod mcp;
mod mode;
mod nudge;
mod prime;
mod purge;
mod read;
mod ready;
mod rehydrate;
mod replay;
mod restore;
pub mod schema;
mod send;
pub mod serve;
mod session;
mod setup;
mod stamp;
mod state;
mod status;
mod tail;
mod task;
mod task_assign;
mod task_update;
mod tasks;
mod teams;
mod thread;
mod tick;
pub mod token;
mod trace;
mod traces;
mod usage;
pub mod verify;
mod wait;
mod who;

use crate::context::Context;
use crate::exit::Outcome;
use crate::when::{Spot, When};
use clap::error::ErrorKind;
use clap::{ArgMatches, Args as _, FromArgMatches};
use teamlog_team::engine::Format;

/// From the table of subcommands to what clap asks for. Written out rather than derived, because a derived tree defines
/// every option of every subcommand before it looks at argv, and that is a good part of a short process.
macro_rules! commands {
    ($($variant:ident($module:ident) = $name:literal: $about:literal,)*) => {
        /// What was typed.
        #[derive(Debug)]
        pub enum Command {
            $($variant($module::Args),)*
        }

        impl Command {
            /// Runs it.
            ///
            /// # Errors
            /// Everything that ends in another exit code than the command's own.
            pub fn run(self, context: &mut Context) -> Outcome {
                match self {
                    $(Command::$variant(args) => args.run(context),)*
                }
            }

            /// Whether it is one tool, which a server for agents hands to the process that has the team.
            pub fn is_one_tool(&self) -> bool {
                matches!(self, Command::Mcp(mcp) if mcp.is_one_tool())
            }
        }

        impl Command {
            /// Adds the subcommands of these names to a definition. Each carries a copy of every global flag, and most of
            /// a short process would go into copies for subcommands that nobody typed.
            pub fn augment_only(teamlog: clap::Command, wanted: impl Fn(&str) -> bool) -> clap::Command {
                let mut teamlog = teamlog;
                $(if wanted($name) {
                    teamlog = teamlog.subcommand(
                        clap::Command::new($name).about($about).defer($module::Args::augment_args),
                    );
                })*
                teamlog
            }
        }

        impl clap::Subcommand for Command {
            fn augment_subcommands(teamlog: clap::Command) -> clap::Command {
                Self::augment_only(teamlog, |_| true)
            }
            fn augment_subcommands_for_update(teamlog: clap::Command) -> clap::Command {
                Self::augment_subcommands(teamlog)
            }
            fn has_subcommand(name: &str) -> bool {
                [$($name),*].contains(&name)
            }
        }

        impl FromArgMatches for Command {
            fn from_arg_matches(matches: &ArgMatches) -> Result<Command, clap::Error> {
                match matches.subcommand() {
                    $(Some(($name, matches)) => $module::Args::from_arg_matches(matches).map(Command::$variant),)*
                    _ => Err(clap::Error::new(ErrorKind::MissingSubcommand)),
                }
            }
            fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
                *self = Command::from_arg_matches(matches)?;
                Ok(())
            }
        }
    };
}

commands! {
    Init(init) = "init": "Create a team, or add members to one; repeating it is harmless",
    Send(send) = "send": "Send a message to an agent",
    TaskAssign(task_assign) = "task-assign": "Give a task to an agent",
    TaskUpdate(task_update) = "task-update": "Report on a task",
    Read(read) = "read": "Show an agent's inbox: the newest messages, oldest of the page first",
    Ack(ack) = "ack": "Acknowledge a message; only its recipient can",
    Tick(tick) = "tick": "Record what is due by now: retries and dead letters; for a timer",
    Nudge(nudge) = "nudge": "Tell idle agents that they have mail, once per cooldown; for a timer",
    DeadLetter(dead_letter) = "dead-letter": "Look at messages that nobody acknowledged in time, or try one again",
    Config(config) = "config": "Look at a team's settings, or change one",
    Tasks(tasks) = "tasks": "List tasks, in natural order of their ids",
    Task(task) = "task": "Look at one task, or take, finish and give back work under claims",
    CanWrite(can_write) = "can-write": "Say whether an agent may write a path now",
    Guard(guard) = "guard": "Say whether a coding agent may carry out a tool call; for its hooks",
    Setup(setup) = "setup": "Set up a coding agent for a team: guard, hooks, MCP server, skill, AGENTS.md",
    Hooks(hooks) = "hooks": "Make a coding agent ask the guard before it writes, and check that it does",
    Bootstrap(bootstrap) = "bootstrap": "Follow the bootstrap contract: from creating a team to its final synthesis, step by step",
    Ready(ready) = "ready": "List what can be taken up now: unblocked and unclaimed, most urgent first",
    Mode(mode) = "mode": "Say which workflow modes are active: start them, end them, look at them",
    State(state) = "state": "Read and write states of modes as callers of `rcs state` do",
    Thread(thread) = "thread": "Talk in threads: start one, say something, read it, find it, link it to a task",
    Artifact(artifact) = "artifact": "Leave files for others, and get them: patches, summaries",
    Usage(usage) = "usage": "Show how many tokens a team used and may use; report some, or set the budget",
    Prime(prime) = "prime": "Show what an agent should know when it wakes, in few words",
    Wait(wait) = "wait": "Wait until something arrives for an agent",
    Await(await_event) = "await": "Wait until something happens to a team that is worth waking up for",
    Teams(teams) = "teams": "List the teams of the data root",
    Status(status) = "status": "Show members, unread messages, blocked and stale tasks",
    Who(who) = "who": "Show who does what: tasks, leases, last events, what was reported and what blocks",
    Trace(trace) = "trace": "Show a story as a timeline, from the log itself",
    Traces(traces) = "traces": "List traces, that of the newest event first",
    Replay(replay) = "replay": "Print events in order; --actor shows only what that actor did",
    Tail(tail) = "tail": "Print the newest events; -f goes on with those to come",
    Diff(diff) = "diff": "Show what changed between two points: tasks field by field, inboxes, members",
    Api(api) = "api": "Carry out an operation of the team API, for brokers and agents",
    Append(append) = "append": "Record facts of your own kinds: ordered, traced and indexed, they move no state",
    Rehydrate(rehydrate) = "rehydrate": "Rebuild state, index and view files from the log alone",
    Verify(verify) = "verify": "Check every byte of the log, and that it still holds what a receipt says",
    Doctor(doctor) = "doctor": "Check that everything is as it should be; mend a damaged log",
    Head(head) = "head": "Make a receipt for everything up to now, to be held against the log later",
    Keygen(keygen) = "keygen": "Make a pair of keys, to sign receipts with",
    Import(import) = "import": "Bring in history: message envelopes in any order, or what `export` wrote",
    Export(export) = "export": "Print every event as JSON lines, lossless: `import --events` takes them back",
    Convert(convert) = "convert": "Store a team's log in the other format, in place; the original is kept",
    Backup(backup) = "backup": "Back up a team, or all of them, while writers go on; a second run copies what is new",
    Restore(restore) = "restore": "Restore a team from its backup: whole, or not at all",
    Purge(purge) = "purge": "Delete a team that was closed, log and all",
    Serve(serve) = "serve": "Serve the teams over HTTP, and keep them open for the command line",
    Token(token) = "token": "Look after the tokens that let HTTP clients in",
    Demo(demo) = "demo": "Show the whole story: append, crash, recover, replay, trace, rebuild, verify",
    Mcp(mcp) = "mcp": "Serve an agent that speaks the Model Context Protocol, on standard input and output",
    Schema(schema) = "schema": "Print the JSON Schema of a command's --json answer",
    Completions(completions) = "completions": "Print the lines that make a shell complete teamlog's arguments",
    Man(man) = "man": "Print a manual page, or write all of them",
}

/// A count or a position.
fn whole<N: TryFrom<u64>>(text: &str) -> Result<N, String> {
    let number = text
        .parse()
        .ok()
        .and_then(|number| N::try_from(number).ok());
    number.ok_or_else(|| format!("must be a whole number from 0 to {}", u64::MAX))
}

/// `jsonl` or `binary`.
fn format(text: &str) -> Result<Format, String> {
    match text {
        "jsonl" => Ok(Format::Jsonl),
        "binary" => Ok(Format::Binary),
        _ => Err("must be jsonl or binary".to_owned()),
    }
}

/// A point of a log's past as people write it.
fn point(text: &str) -> Result<Spot, String> {
    Spot::parse(text)
}

/// A time as people write it.
fn time(text: &str) -> Result<When, String> {
    When::parse(text)
}
