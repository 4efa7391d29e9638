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
#[cfg(test)]
mod effects;
mod export;
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
mod views;
mod wait;
mod who;

use crate::context::Context;
use crate::exit::Outcome;
use crate::when::{Spot, When};
use clap::error::ErrorKind;
use clap::{ArgMatches, Args as _, FromArgMatches};
use teamlog_guard::Effect;
use teamlog_team::engine::Format;

/// From the table of subcommands to what clap and the guard ask for. A row says the module, the name, what the command does
/// to files (in parentheses the words by which it may write elsewhere than into a team's data, or run a program), and what
/// it is for.
///
/// For clap it is written out rather than derived, because a derived tree defines
/// every option of every subcommand before it looks at argv, and that is a good part of a short process.
macro_rules! commands {
    ($($variant:ident($module:ident) = $name:literal, $effect:ident$(($($raised:literal),+))?: $about:literal,)*) => {
        /// What each subcommand does to files, for the guard: an agent that types one is asked only where that says nothing
        /// of it.
        pub const EFFECTS: &[teamlog_guard::Command] = &[
            $(teamlog_guard::Command {
                name: $name,
                effect: Effect::$effect,
                raised: &[$($($raised),+)?],
            },)*
        ];

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
    // Where no team is, it makes the place for them in the working directory.
    Init(init) = "init", Files: "Create a team, or add members to one; repeating it is harmless",
    Send(send) = "send", TeamData: "Send a message to an agent",
    TaskAssign(task_assign) = "task-assign", TeamData: "Give a task to an agent",
    TaskUpdate(task_update) = "task-update", TeamData: "Report on a task",
    Read(read) = "read", Reads: "Show an agent's inbox: the newest messages, oldest of the page first",
    Ack(ack) = "ack", TeamData: "Acknowledge a message; only its recipient can",
    Tick(tick) = "tick", TeamData: "Record what is due by now: retries and dead letters; for a timer",
    Nudge(nudge) = "nudge", TeamData("--exec"): "Tell idle agents that they have mail, once per cooldown; for a timer",
    DeadLetter(dead_letter) = "dead-letter", TeamData: "Look at messages that nobody acknowledged in time, or try one again",
    // An agent that changes a setting may change what the guard believes.
    Config(config) = "config", TeamData("set", "unset"): "Look at a team's settings, or change one",
    Tasks(tasks) = "tasks", Reads: "List tasks, in natural order of their ids",
    Task(task) = "task", TeamData: "Look at one task, or take, finish and give back work under claims",
    CanWrite(can_write) = "can-write", Reads: "Say whether an agent may write a path now",
    // `guard exec` runs a program.
    Guard(guard) = "guard", Reads("exec"): "Say whether a coding agent may carry out a tool call; for its hooks",
    Setup(setup) = "setup", Files: "Set up a coding agent for a team: guard, hooks, MCP server, skill, AGENTS.md",
    // `hooks doctor` runs what a hook runs.
    Hooks(hooks) = "hooks", Reads("--write", "doctor"): "Make a coding agent ask the guard before it writes, and check that it does",
    Bootstrap(bootstrap) = "bootstrap", TeamData: "Follow the bootstrap contract: from creating a team to its final synthesis, step by step",
    Ready(ready) = "ready", Reads: "List what can be taken up now: unblocked and unclaimed, most urgent first",
    Mode(mode) = "mode", TeamData: "Say which workflow modes are active: start them, end them, look at them",
    State(state) = "state", TeamData: "Read and write states of modes as callers of `rcs state` do",
    Thread(thread) = "thread", TeamData: "Talk in threads: start one, say something, read it, find it, link it to a task",
    Artifact(artifact) = "artifact", TeamData("--out"): "Leave files for others, and get them: patches, summaries",
    Usage(usage) = "usage", TeamData: "Show how many tokens a team used and may use; report some, or set the budget",
    Prime(prime) = "prime", Reads: "Show what an agent should know when it wakes, in few words",
    Wait(wait) = "wait", Reads: "Wait until something arrives for an agent",
    Await(await_event) = "await", Reads: "Wait until something happens to a team that is worth waking up for",
    Teams(teams) = "teams", Reads: "List the teams of the data root",
    Status(status) = "status", Reads: "Show members, unread messages, blocked and stale tasks",
    Views(views) = "views", TeamData: "Wait for the view files, which a daemon writes behind its answers",
    Who(who) = "who", Reads: "Show who does what: tasks, leases, last events, what was reported and what blocks",
    Trace(trace) = "trace", Reads: "Show a story as a timeline, from the log itself",
    Traces(traces) = "traces", Reads: "List traces, that of the newest event first",
    Replay(replay) = "replay", Reads: "Print events in order; --actor shows only what that actor did",
    Tail(tail) = "tail", Reads: "Print the newest events; -f goes on with those to come",
    Diff(diff) = "diff", Reads: "Show what changed between two points: tasks field by field, inboxes, members",
    Api(api) = "api", TeamData: "Carry out an operation of the team API, for brokers and agents",
    Append(append) = "append", TeamData: "Record facts of your own kinds: ordered, traced and indexed, they move no state",
    Rehydrate(rehydrate) = "rehydrate", TeamData: "Rebuild state, index and view files from the log alone",
    Verify(verify) = "verify", Reads: "Check every byte of the log, and that it still holds what a receipt says",
    Doctor(doctor) = "doctor", TeamData: "Check that everything is as it should be; mend a damaged log",
    Head(head) = "head", Reads: "Make a receipt for everything up to now, to be held against the log later",
    Keygen(keygen) = "keygen", Files: "Make a pair of keys, to sign receipts with",
    Import(import) = "import", TeamData: "Bring in history: message envelopes in any order, or what `export` wrote",
    Export(export) = "export", Reads: "Print every event as JSON lines, lossless: `import --events` takes them back",
    // It replaces the whole log.
    Convert(convert) = "convert", Files: "Store a team's log in the other format, in place; the original is kept",
    Backup(backup) = "backup", Files: "Back up a team, or all of them, while writers go on; a second run copies what is new",
    // It replaces the whole log.
    Restore(restore) = "restore", Files: "Restore a team from its backup: whole, or not at all",
    // It removes the whole log.
    Purge(purge) = "purge", Files: "Delete a team that was closed, log and all",
    Serve(serve) = "serve", Runs: "Serve the teams over HTTP, and keep them open for the command line",
    Token(token) = "token", Files: "Look after the tokens that let HTTP clients in",
    Demo(demo) = "demo", Runs: "Show the whole story: append, crash, recover, replay, trace, rebuild, verify",
    Mcp(mcp) = "mcp", Runs: "Serve an agent that speaks the Model Context Protocol, on standard input and output",
    Schema(schema) = "schema", Reads: "Print the JSON Schema of a command's --json answer",
    Completions(completions) = "completions", Reads: "Print the lines that make a shell complete teamlog's arguments",
    Man(man) = "man", Reads("--out"): "Print a manual page, or write all of them",
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
