//! The subcommands. Each file has the arguments of one subcommand, and the code that runs this subcommand.

#[macro_use]
mod subcommand;

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
mod close;
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
mod find;
pub mod guard;
mod head;
pub mod help;
mod hooks;
mod import;
mod init;
mod join;
mod journal;
mod keygen;
mod list;
mod log;
mod man;
mod mcp;
mod mode;
mod nudge;
mod prelude;
mod prime;
mod printed;
mod project;
mod purge;
mod read;
mod ready;
mod rehydrate;
mod rename;
mod replay;
mod restore;
mod retire;
pub mod schema;
mod send;
pub mod serve;
mod session;
mod setup;
mod stamp;
mod state;
mod status;
mod subscribe;
mod subscription;
mod tail;
mod talk;
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
mod words;
mod work;

use crate::agents::event::ContextAnswer;
use crate::board::BoardAnswer;
use crate::context::Context;
use crate::exit::Outcome;
use crate::render::awaited;
use crate::team_argument;
use crate::when::{PastPoint, When};
use all_teams::AllAnswer;
use clap::error::ErrorKind;
use clap::{ArgMatches, Args as _, FromArgMatches};
use help::{Group, Listed, Place};
use printed::{AnySchema, Either, Printed, answer, changed, lines, of, read, recorded, text};
use setup::SetupAnswer;
use talk::{ask, inbox, reply, say};
use teamlog_guard::Effect;
use teamlog_team::api::Envelope;
use teamlog_team::argv::whole;
use teamlog_team::backup::restore::RestoreAnswer;
use teamlog_team::backup::take::{BackupAllAnswer, BackupAnswer};
use teamlog_team::engine::Format;
use teamlog_team::import::report::ImportAnswer;
use teamlog_team::import::team_chat::ChatAnswer;
use teamlog_team::task as team_task;
use teamlog_team::usage::report::UsageAnswer;
use teamlog_team::{Recorded, lifecycle, log as events, message, receipt, story};
use verify::{VerifiedLog, VerifiedTeam};
use work::{
    add, approve, assign, comment, discard, done, edit, fail, next, note, reject, release, reopen,
    review, show, take, undo,
};

/// Builds everything that depends on the table of subcommands: the clap definition, the effects for the guard, and
/// `schema`. A row names the module, the printed answer, the name of the command, its effect on files, and its help line.
/// The parentheses after the effect list the words with which the command may write outside of a team's data or run a
/// program. A module with several commands defines the printed answer of each command itself.
///
/// The clap definition is not derived. A derived definition builds every option of every subcommand before it reads argv,
/// which would take a large part of a short process.
macro_rules! commands {
    ($(
        $variant:ident($module:ident $(: $printed:expr)?) = $name:literal,
        $group:ident$(($place:ident))?, $effect:ident$(($($raised:literal),+))?: $about:literal,
    )*) => {
        /// Effect of each subcommand on files. The guard asks about a subcommand only if its effect is not listed.
        pub const EFFECTS: &[teamlog_guard::Command] = &[
            $(teamlog_guard::Command {
                name: $name,
                effect: Effect::$effect,
                raised: &[$($($raised),+)?],
            },)*
        ];

        /// Group of each subcommand in the help.
        pub const LISTED: &[Listed] = &[
            $(Listed { name: $name, group: Group::$group, place: place!($($place)?), about: $about },)*
        ];

        /// Printed answers of each subcommand, by name.
        const PRINTED: &[(&str, fn() -> Vec<Printed>)] = &[$(($name, printed!($module $($printed)?)),)*];

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
            /// Adds the wanted subcommands to a clap definition. Each subcommand gets a copy of every global flag, so
            /// adding all subcommands would take most of a short process.
            pub fn augment_only(teamlog: clap::Command, wanted: impl Fn(&str) -> bool) -> clap::Command {
                let mut teamlog = teamlog;
                $(if wanted($name) {
                    teamlog = teamlog.subcommand(
                        clap::Command::new($name).about($about).defer(|command| {
                            team_argument::documented($module::Args::augment_args(command))
                        }),
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
                Command::from_arg_matches_mut(&mut matches.clone())
            }
            fn from_arg_matches_mut(matches: &mut ArgMatches) -> Result<Command, clap::Error> {
                let Some((name, mut typed)) = matches.remove_subcommand() else {
                    return Err(clap::Error::new(ErrorKind::MissingSubcommand));
                };
                match &*name {
                    $($name => $module::Args::from_arg_matches_mut(&mut typed).map(Command::$variant),)*
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

macro_rules! place {
    () => {
        Place::Short
    };
    ($place:ident) => {
        Place::$place
    };
}

macro_rules! printed {
    ($module:ident) => {
        $module::printed
    };
    ($module:ident $printed:expr) => {
        || vec![$printed("")]
    };
}

commands! {
    // `init` creates a data root in the working directory if there is none.
    Init(init: recorded::<lifecycle::init::InitAnswer>) = "init", Work, Files:
        "Create a team, or add members to one; safe to repeat",
    Add(add) = "add", Work, TeamData: "Create a task",
    Next(next) = "next", Work, TeamData: "Claim the best ready task, and show it",
    Claim(take) = "claim", Work(All), TeamData: "Claim a task for a limited time, and show it",
    Note(note: of::<message::send::Send>) = "note", Work, TeamData: "Report on a task",
    Comment(comment) = "comment", Work, TeamData: "Comment on a task, for everyone concerned with it",
    Done(done) = "done", Work, TeamData: "Complete a task that you claimed",
    Fail(fail) = "fail", Work(All), TeamData: "Mark a task that you claimed as failed",
    Release(release) = "release", Work(All), TeamData: "Release a task that you claimed, for other agents",
    Drop(discard) = "drop", Work(All), TeamData: "Cancel a task",
    Reopen(reopen) = "reopen", Work(All), TeamData: "Make a failed task pending again",
    Show(show) = "show", Work, Reads: "Show a task; with --history also its newest events",
    Edit(edit) = "edit", Work, TeamData: "Change texts, priority, labels, times or dependencies",
    Assign(assign) = "assign", Work, TeamData: "Say which agent is to take a task",
    Undo(undo) = "undo", Work, TeamData: "Reverse your last command, or the command of an event",
    List(list: of::<team_task::list::ReadTasks>) = "list", Work, Reads: "List tasks: your own, or by status or owner",
    Review(review) = "review", Work(All), TeamData: "Ask for the review of a task that you claimed",
    Approve(approve: of::<team_task::approval::WriteApproval>) = "approve", Work(All), TeamData:
        "Approve a task, which may need it to be completed",
    Reject(reject: of::<team_task::approval::WriteApproval>) = "reject", Work(All), TeamData: "Reject a task, with the reason",
    Say(say: of::<message::send::Send>) = "say", Talk, TeamData: "Send a text to an agent",
    Inbox(inbox) = "inbox", Talk, Reads: "Show unread messages",
    Ask(ask: recorded::<talk::ask::AskAnswer>) = "ask", Talk, TeamData: "Ask an agent a question; --wait waits for the answer",
    Reply(reply: of::<message::send::Send>) = "reply", Talk(All), TeamData: "Answer a question",
    Find(find) = "find", Watch, Reads: "Find tasks, messages and posts by words, fields, times",
    Log(log: lines::<Recorded>) = "log", Watch, Reads: "Show the newest events, by agent, time or task",
    Send(send: of::<message::send::Send>) = "send", Talk(All), TeamData: "Send a message to an agent",
    TaskAssign(task_assign: of::<message::send::Send>) = "task-assign", Work(All), TeamData: "Give a task to an agent",
    TaskUpdate(task_update: of::<message::send::Send>) = "task-update", Work(All), TeamData: "Report on a task or change its status",
    Read(read) = "read", Talk(All), Reads: "Show an agent's inbox",
    Ack(ack: recorded::<Either<message::ack::AckAnswer, ack::AckAllAnswer>>) = "ack", Talk, TeamData:
        "Acknowledge a message as its recipient, or all unread ones",
    Tick(tick: recorded::<Either<lifecycle::tick::TickAnswer, AllAnswer<lifecycle::tick::TickAnswer>>>) = "tick", Operate(All), TeamData:
        "Record due retries, dead letters and expired leases; for a timer",
    Nudge(nudge: recorded::<Either<message::nudge::NudgeAnswer, AllAnswer<message::nudge::NudgeAnswer>>>) = "nudge", Talk(All), TeamData("--exec"):
        "Notify idle agents of unread messages, once per cooldown; for a timer",
    DeadLetter(dead_letter) = "dead-letter", Talk(All), TeamData:
        "Show messages that were not acknowledged in time, or retry one",
    Deliveries(deliveries) = "deliveries", Talk(All), Reads:
        "List messages without an ack, next due first",
    // `config` can change the guard's own settings.
    Config(config) = "config", Operate(All), TeamData("set", "unset"): "Show a team's settings, or change one",
    Tasks(tasks) = "tasks", Work(Old), Reads: "List tasks, in natural order of their ids",
    Task(task) = "task", Work(All), TeamData: "Create, show, claim, finish and release tasks",
    CanWrite(can_write) = "can-write", Work(All), Reads: "Check if an agent may write a path now",
    // `guard exec` runs a program.
    Guard(guard) = "guard", Integrate(All), Reads("exec"): "Decide if a coding agent may carry out a tool call; for its hooks",
    Setup(setup: answer::<SetupAnswer>) = "setup", Integrate, Files:
        "Set up a coding agent: guard, hooks, MCP, skill, AGENTS.md",
    // `hooks doctor` runs the command of a hook.
    Hooks(hooks) = "hooks", Integrate(Old), Reads("--write", "doctor"):
        "Install and check the guard's hook in a coding agent",
    Bootstrap(bootstrap) = "bootstrap", Work(All), TeamData:
        "Follow the bootstrap contract, from the creation of a team to its final synthesis",
    Ready(ready) = "ready", Work(All), Reads:
        "List tasks that can be claimed now, most urgent first",
    Mode(mode) = "mode", Work(All), TeamData: "Show, start and end workflow modes",
    State(state) = "state", Work(Old), TeamData: "Read and write mode states as `rcs state` does",
    Thread(thread) = "thread", Talk(All), TeamData:
        "Start, read, search and post in threads, and link them to tasks",
    Artifact(artifact) = "artifact", Talk(All), TeamData("--out"): "Store and fetch files for others: patches, summaries",
    Usage(usage: recorded::<UsageAnswer>) = "usage", Watch(All), TeamData:
        "Show and report token use, or set the budget",
    Prime(prime: read::<Either<message::prime::PrimeAnswer, ContextAnswer>>) = "prime", Watch(All), Reads:
        "Show an agent's briefing: its tasks, messages and next commands",
    Wait(wait) = "wait", Talk(All), Reads: "Wait for news of an agent: messages, posts, its tasks",
    Await(await_event: read::<awaited::Answer>) = "await", Talk(Old), Reads:
        "Wait for an important event of a team",
    Teams(teams: answer::<AllAnswer<lifecycle::teams::TeamListed>>) = "teams", Watch(All), Reads:
        "List the teams of the data root",
    Status(status) = "status", Watch, Reads: "Show members, unread messages, blocked and stale tasks",
    Views(views) = "views", Operate(All), TeamData: "Wait for the view files, which a daemon writes after its answers",
    Who(who) = "who", Watch(All), Reads:
        "Show each agent's tasks, leases, last event and blockers",
    RetireAgent(retire) = "retire-agent", Operate(All), TeamData:
        "Retire an agent: it can no longer act, and its tasks are for others",
    RenameAgent(rename) = "rename-agent", Operate(All), TeamData:
        "Rename an agent: the new name gets its tasks and later mail",
    Attention(attention) = "attention", Watch(All), Reads:
        "Show what needs attention, each with the command that resolves it",
    Board(board: answer::<BoardAnswer>) = "board", Watch, Reads:
        "Watch agents, tasks, attention and events in the terminal",
    Trace(trace: read::<Either<story::trace::TraceAnswer, events::traces::TracesAnswer>>) = "trace", Watch, Reads:
        "Show a trace as a timeline; without --trace-id list them",
    Traces(traces) = "traces", Watch(Old), Reads: "List traces, newest event first",
    Replay(replay: lines::<Recorded>) = "replay", Watch, Reads:
        "Print events in order; --actor selects one actor's",
    Tail(tail: lines::<Recorded>) = "tail", Watch(Old), Reads: "Print the newest events; -f follows new ones",
    Diff(diff) = "diff", Watch(All), Reads:
        "Show changes between two points: task fields, inboxes, members",
    Api(api: changed::<Either<Envelope<'static>, Either<api::Listing, api::Schemas>>>) = "api", Integrate(All), TeamData:
        "Call an operation of the team API; for brokers and agents",
    Append(append: recorded::<Either<events::append::AppendAnswer, events::append_batch::BatchAnswer>>) = "append", Integrate, TeamData:
        "Record events of your own kinds, which change no task",
    Subscribe(subscribe: lines::<Recorded>) = "subscribe", Integrate(All), TeamData("--exec"):
        "Receive events in order, from a position that survives a restart",
    Subscription(subscription) = "subscription", Integrate(All), TeamData:
        "List, show and delete subscriptions, and deliver parked events again",
    Project(project) = "project", Integrate(All), TeamData:
        "Declare a projection: a script that folds events into states, shown as a table",
    // `rehydrate --salvage` leaves out unreadable events.
    Rehydrate(rehydrate: changed::<events::rehydrate::RehydrateAnswer>) = "rehydrate", Trust, TeamData("--salvage"):
        "Rebuild state, index and view files from the log",
    Verify(verify: answer::<Either<VerifiedLog, AllAnswer<VerifiedTeam>>>) = "verify", Trust, Reads:
        "Check every byte of the log, and the log against a receipt",
    // `doctor repair` can cut a log or accept a shorter log. `doctor clean` removes teams.
    Doctor(doctor) = "doctor", Operate, TeamData("repair", "clean"): "Check a team, or repair a damaged log",
    Head(head: read::<receipt::head::HeadAnswer>) = "head", Trust(All), Reads:
        "Make a receipt of the log's present state, for a later check",
    Keygen(keygen: answer::<receipt::keygen::KeygenAnswer>) = "keygen", Trust(All), Files:
        "Generate a key pair for signed receipts",
    Import(import: recorded::<Either<ImportAnswer, ChatAnswer>>) = "import", Operate(All), TeamData:
        "Import history: message envelopes in any order, or the output of `export`",
    Export(export: lines::<Recorded>) = "export", Operate(All), Reads("--to"):
        "Print every event as JSON lines; `import --events` reads them",
    // `convert` replaces the whole log.
    Convert(convert: recorded::<events::convert::ConvertAnswer>) = "convert", Operate(All), Files:
        "Store a team's log in the other format, in place; the original is kept",
    Backup(backup: answer::<Either<BackupAnswer, BackupAllAnswer>>) = "backup", Trust(All), Files:
        "Back up a team, or all teams, without stopping writers; a second run copies new events only",
    // `restore` replaces the whole log.
    Restore(restore: recorded::<RestoreAnswer>) = "restore", Trust(All), Files:
        "Restore a team from its backup",
    // `join` adds a whole log to the data root.
    Join(join: changed::<lifecycle::join::JoinAnswer>) = "join", Operate(All), Files:
        "Join a team that another host put on a journal",
    // `journal` moves a whole log to a journal and back.
    Journal(journal) = "journal", Operate(All), Files:
        "Manage journals, which order the events of teams on several hosts",
    Close(close: recorded::<lifecycle::cleanup::CleanupAnswer>) = "close", Operate(All), TeamData: "Close a team, which can then only be read",
    // `purge` deletes the whole log.
    Purge(purge: changed::<lifecycle::purge::PurgeAnswer>) = "purge", Operate(All), Files:
        "Delete a closed team and its log",
    Serve(serve: answer::<Either<serve::Ready, serve::Served>>) = "serve", Operate, Runs:
        "Run the daemon: HTTP, and open teams for the command line",
    Dashboard(dashboard: answer::<dashboard::DashboardAnswer>) = "dashboard", Watch(All), Runs:
        "Open the teams' page in a browser; starts the daemon if needed",
    Token(token) = "token", Operate(All), Files: "Manage the tokens of HTTP clients and remote agents",
    Demo(demo: answer::<demo::Answer>) = "demo", Operate(All), Runs:
        "Show the main job: append, crash, recover, replay, trace, rebuild, verify",
    Mcp(mcp: text) = "mcp", Integrate(All), Runs:
        "Run a Model Context Protocol server on standard input and output",
    Schema(schema: answer::<Either<schema::Listing, AnySchema>>) = "schema", Integrate(All), Reads:
        "Print the JSON Schema of a command's --json answer",
    Completions(completions: text) = "completions", Integrate(All), Reads:
        "Generate shell completions",
    Man(man: answer::<man::Answer>) = "man", Integrate(All), Reads("--out"): "Print a manual page, or write all of them",
}

// A point in a team's past. Not a doc comment, because clap would print it in the help of each command.
#[derive(Debug, clap::Args)]
#[group(skip)]
pub struct Past {
    /// State at a past point: a seq, or a time such as 1h, 14:00, yesterday, ISO 8601
    #[arg(long, value_name = "SEQ|TIME", value_parser = point)]
    at: Option<PastPoint>,
}

impl From<Past> for Option<PastPoint> {
    fn from(past: Past) -> Option<PastPoint> {
        past.at
    }
}

fn format(text: &str) -> Result<Format, String> {
    match text {
        "jsonl" => Ok(Format::Jsonl),
        "binary" => Ok(Format::Binary),
        _ => Err("must be jsonl or binary".to_owned()),
    }
}

fn point(text: &str) -> Result<PastPoint, String> {
    PastPoint::parse(text)
}

fn time(text: &str) -> Result<When, String> {
    When::parse(text)
}
