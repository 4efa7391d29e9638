//! The subcommands, one a file: what may be typed, and the run from there to an answer.

#[macro_use]
mod actions;

mod ack;
pub mod all_teams;
pub mod api;
pub mod append;
mod artifact;
mod attention;
mod await_event;
mod backup;
mod board;
mod bootstrap;
mod can_write;
mod child;
mod choice;
mod completions;
mod config;
mod convert;
mod dashboard;
mod dead_letter;
mod deliveries;
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
mod join;
mod journal;
mod keygen;
mod man;
mod mcp;
mod mode;
mod nudge;
mod prelude;
mod prime;
mod printed;
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

use crate::agents::event::ContextAnswer;
use crate::board::BoardAnswer;
use crate::context::Context;
use crate::exit::Outcome;
use crate::render::awaited;
use crate::when::{Spot, When};
use all_teams::AllAnswer;
use clap::error::ErrorKind;
use clap::{ArgMatches, Args as _, FromArgMatches};
use printed::{AnySchema, Either, Printed, answer, changed, lines, of, read, recorded, text};
use setup::SetupAnswer;
use teamlog_guard::Effect;
use teamlog_team::api::Envelope;
use teamlog_team::attention::Attention;
use teamlog_team::backup::restore::RestoreAnswer;
use teamlog_team::backup::take::{BackupAllAnswer, BackupAnswer};
use teamlog_team::engine::Format;
use teamlog_team::import::report::ImportAnswer;
use teamlog_team::import::team_chat::ChatAnswer;
use teamlog_team::task::list::ReadTasks;
use teamlog_team::task::ready::Ready;
use teamlog_team::usage::report::UsageAnswer;
use teamlog_team::{Recorded, lifecycle, log, message, receipt, resource, story, worker};
use verify::{VerifiedLog, VerifiedTeam};

/// From the table of subcommands to what clap, the guard and `schema` ask for. A row says the module, what is printed, the
/// name, what the command does to files (in parentheses the words by which it may write elsewhere than into a team's data,
/// or run a program), and what it is for. What is printed may be the answer of a call; a module with several
/// commands says itself what each prints.
///
/// For clap it is written out rather than derived, because a derived tree defines
/// every option of every subcommand before it looks at argv, and that is a good part of a short process.
macro_rules! commands {
    ($(
        $variant:ident($module:ident $($way:ident $row:ident)? $(: $printed:expr)?) = $name:literal,
        $effect:ident$(($($raised:literal),+))?: $about:literal,
    )*) => {
        /// What each subcommand does to files, for the guard: an agent that types one is asked only where that says nothing
        /// of it.
        pub const EFFECTS: &[teamlog_guard::Command] = &[
            $(teamlog_guard::Command {
                name: $name,
                effect: Effect::$effect,
                raised: &[$($($raised),+)?],
            },)*
        ];

        /// What each subcommand prints, by its name.
        const PRINTED: &[(&str, &[Printed])] = &[$(($name, printed!($module $($way $row)? $($printed)?)),)*];

        #[derive(Debug)]
        pub enum Command {
            $($variant($module::Args),)*
        }

        impl Command {
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

macro_rules! printed {
    ($module:ident) => {
        $module::PRINTED
    };
    ($module:ident $printed:expr) => {
        &[$printed("")]
    };
}

commands! {
    // Where no team is, it makes the place for them in the working directory.
    Init(init: recorded::<lifecycle::init::InitAnswer>) = "init", Files:
        "Create a team, or add members to one; repeating it is harmless",
    Send(send: of::<message::send::Send>) = "send", TeamData: "Send a message to an agent",
    TaskAssign(task_assign: of::<message::send::Send>) = "task-assign", TeamData: "Give a task to an agent",
    TaskUpdate(task_update: of::<message::send::Send>) = "task-update", TeamData: "Report on a task",
    Read(read: of::<message::read::Read>) = "read", Reads: "Show an agent's inbox: the newest messages, oldest of the page first",
    Ack(ack: of::<message::ack::Ack>) = "ack", TeamData: "Acknowledge a message; only its recipient can",
    Tick(tick: recorded::<Either<lifecycle::tick::TickAnswer, AllAnswer<lifecycle::tick::TickAnswer>>>) = "tick", TeamData:
        "Record what is due by now: retries and dead letters; for a timer",
    Nudge(nudge: recorded::<Either<message::nudge::NudgeAnswer, AllAnswer<message::nudge::NudgeAnswer>>>) = "nudge", TeamData("--exec"):
        "Tell idle agents that they have mail, once per cooldown; for a timer",
    DeadLetter(dead_letter) = "dead-letter", TeamData:
        "Look at messages that nobody acknowledged in time, or try one again",
    Deliveries(deliveries: of::<message::deliveries::DeliveryList>) = "deliveries", Reads:
        "List the messages that wait for their ack, the next one that is due first",
    // An agent that changes a setting may change what the guard believes.
    Config(config) = "config", TeamData("set", "unset"): "Look at a team's settings, or change one",
    Tasks(tasks: of::<ReadTasks>) = "tasks", Reads: "List tasks, in natural order of their ids",
    Task(task) = "task", TeamData: "Look at one task, or take, finish and give back work under claims",
    CanWrite(can_write: of::<resource::can_write::CanWrite>) = "can-write", Reads: "Say whether an agent may write a path now",
    // `guard exec` runs a program.
    Guard(guard) = "guard", Reads("exec"): "Say whether a coding agent may carry out a tool call; for its hooks",
    Setup(setup: answer::<SetupAnswer>) = "setup", Files:
        "Set up a coding agent for a team: guard, hooks, MCP server, skill, AGENTS.md",
    // `hooks doctor` runs what a hook runs.
    Hooks(hooks) = "hooks", Reads("--write", "doctor"):
        "Make a coding agent ask the guard before it writes, and check that it does",
    Bootstrap(bootstrap) = "bootstrap", TeamData:
        "Follow the bootstrap contract: from creating a team to its final synthesis, step by step",
    Ready(ready: of::<Ready>) = "ready", Reads:
        "List what can be taken up now: unblocked and unclaimed, most urgent first",
    Mode(mode) = "mode", TeamData: "Say which workflow modes are active: start them, end them, look at them",
    State(state) = "state", TeamData: "Read and write states of modes as callers of `rcs state` do",
    Thread(thread) = "thread", TeamData:
        "Talk in threads: start one, say something, read it, find it, link it to a task",
    Artifact(artifact) = "artifact", TeamData("--out"): "Leave files for others, and get them: patches, summaries",
    Usage(usage: recorded::<UsageAnswer>) = "usage", TeamData:
        "Show how many tokens a team used and may use; report some, or set the budget",
    Prime(prime: read::<Either<message::prime::PrimeAnswer, ContextAnswer>>) = "prime", Reads:
        "Show what an agent should know when it wakes, in few words",
    Wait(wait: of::<message::wait::Wait>) = "wait", Reads: "Wait until something arrives for an agent",
    Await(await_event: read::<awaited::Answer>) = "await", Reads:
        "Wait until something happens to a team that is worth waking up for",
    Teams(teams: answer::<AllAnswer<lifecycle::teams::TeamListed>>) = "teams", Reads:
        "List the teams of the data root",
    Status(status: of::<lifecycle::status::Status>) = "status", Reads: "Show members, unread messages, blocked and stale tasks",
    Views(views) = "views", TeamData: "Wait for the view files, which a daemon writes behind its answers",
    Who(who: of::<worker::who::Who>) = "who", Reads:
        "Show who does what: tasks, leases, last events, what was reported and what blocks",
    Attention(attention: of::<Attention>) = "attention", Reads:
        "Show what somebody has to see to, each with the command that mends it",
    Board(board: answer::<BoardAnswer>) = "board", Reads:
        "Watch a team in the terminal: crew, tasks, what needs somebody, what happens",
    Trace(trace: of::<story::trace::Trace>) = "trace", Reads: "Show a story as a timeline, from the log itself",
    Traces(traces: of::<log::traces::Traces>) = "traces", Reads: "List traces, that of the newest event first",
    Replay(replay: lines::<Recorded>) = "replay", Reads:
        "Print events in order; --actor shows only what that actor did",
    Tail(tail: lines::<Recorded>) = "tail", Reads: "Print the newest events; -f goes on with those to come",
    Diff(diff: of::<log::points::ReadDiff>) = "diff", Reads:
        "Show what changed between two points: tasks field by field, inboxes, members",
    Api(api: changed::<Either<Envelope<'static>, Either<api::Listing, api::Schemas>>>) = "api", TeamData:
        "Carry out an operation of the team API, for brokers and agents",
    Append(append: recorded::<Either<log::append::AppendAnswer, log::append_batch::BatchAnswer>>) = "append", TeamData:
        "Record facts of your own kinds: ordered, traced and indexed, they move no state",
    // A salvage leaves out what it cannot read.
    Rehydrate(rehydrate: changed::<log::rehydrate::RehydrateAnswer>) = "rehydrate", TeamData("--salvage"):
        "Rebuild state, index and view files from the log alone",
    Verify(verify: answer::<Either<VerifiedLog, AllAnswer<VerifiedTeam>>>) = "verify", Reads:
        "Check every byte of the log, and that it still holds what a receipt says",
    // A repair cuts a log, or accepts a shorter one; `clean` removes teams.
    Doctor(doctor) = "doctor", TeamData("repair", "clean"): "Check that everything is as it should be; mend a damaged log",
    Head(head: read::<receipt::head::HeadAnswer>) = "head", Reads:
        "Make a receipt for everything up to now, to be held against the log later",
    Keygen(keygen: answer::<receipt::keygen::KeygenAnswer>) = "keygen", Files:
        "Make a pair of keys, to sign receipts with",
    Import(import: recorded::<Either<ImportAnswer, ChatAnswer>>) = "import", TeamData:
        "Bring in history: message envelopes in any order, or what `export` wrote",
    Export(export: lines::<Recorded>) = "export", Reads:
        "Print every event as JSON lines, lossless: `import --events` takes them back",
    // It replaces the whole log.
    Convert(convert: recorded::<log::convert::ConvertAnswer>) = "convert", Files:
        "Store a team's log in the other format, in place; the original is kept",
    Backup(backup: answer::<Either<BackupAnswer, BackupAllAnswer>>) = "backup", Files:
        "Back up a team, or all of them, while writers go on; a second run copies what is new",
    // It replaces the whole log.
    Restore(restore: recorded::<RestoreAnswer>) = "restore", Files:
        "Restore a team from its backup: whole, or not at all",
    // It brings a whole log.
    Join(join: changed::<lifecycle::join::JoinAnswer>) = "join", Files:
        "Take a team in that another host began on a journal",
    // It gives a whole log away, and takes it back.
    Journal(journal) = "journal", Files:
        "Look after the journals that order the events of teams on several hosts",
    // It removes the whole log.
    Purge(purge: changed::<lifecycle::purge::PurgeAnswer>) = "purge", Files:
        "Delete a team that was closed, log and all",
    Serve(serve: answer::<Either<serve::Ready, serve::Served>>) = "serve", Runs:
        "Serve the teams over HTTP, and keep them open for the command line",
    Dashboard(dashboard: answer::<dashboard::Opened>) = "dashboard", Runs:
        "Open the page that shows what the teams do, in a browser; starts the daemon where none runs",
    Token(token) = "token", Files: "Look after the tokens that let HTTP clients in",
    Demo(demo: answer::<demo::Answer>) = "demo", Runs:
        "Show the whole story: append, crash, recover, replay, trace, rebuild, verify",
    Mcp(mcp: text) = "mcp", Runs:
        "Serve an agent that speaks the Model Context Protocol, on standard input and output",
    Schema(schema: answer::<Either<schema::Listing, AnySchema>>) = "schema", Reads:
        "Print the JSON Schema of a command's --json answer",
    Completions(completions: text) = "completions", Reads:
        "Print the lines that make a shell complete teamlog's arguments",
    Man(man: answer::<man::Answer>) = "man", Reads("--out"): "Print a manual page, or write all of them",
}

// The point of a team's past that is meant. (A doc comment would become the text of every command that takes this.)
#[derive(Debug, clap::Args)]
#[group(skip)]
pub struct Past {
    /// As it was then: once that event was recorded, or at that time: 1h, 14:00, yesterday, ISO 8601
    #[arg(long, value_name = "SEQ|TIME", value_parser = point)]
    at: Option<Spot>,
}

impl From<Past> for Option<Spot> {
    fn from(past: Past) -> Option<Spot> {
        past.at
    }
}

/// A count or a position.
fn whole<N: TryFrom<u64>>(text: &str) -> Result<N, String> {
    let number = text.parse().ok();
    let number = number.and_then(|number| N::try_from(number).ok());
    number.ok_or_else(|| format!("must be a whole number from 0 to {}", u64::MAX))
}

fn format(text: &str) -> Result<Format, String> {
    match text {
        "jsonl" => Ok(Format::Jsonl),
        "binary" => Ok(Format::Binary),
        _ => Err("must be jsonl or binary".to_owned()),
    }
}

fn point(text: &str) -> Result<Spot, String> {
    Spot::parse(text)
}

fn time(text: &str) -> Result<When, String> {
    When::parse(text)
}
