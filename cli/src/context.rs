//! The context of a command: its data root, its caller and its output.

mod advice;
mod afterwards;
mod answer;
mod ask;
mod caller;
mod damage;
mod execute;
mod lines;
mod open;
mod place;
mod receipt;
mod unmatched;

pub use answer::Note;
pub use execute::{again, not_served};
pub use receipt::{check_own_signature, receipt_file};

use crate::boot;
use crate::env::ProcessEnv;
use crate::exit::CommandError;
use crate::forward::{GaveWay, Remote, Repeat};
use crate::global::Global;
use crate::journals::KnownJournals;
use crate::link::Called;
use crate::output::Output;
use crate::root::{self, DataRoot};
use std::cell::OnceCell;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use teamlog_team::engine::{Receipt, Timestamp};
use teamlog_team::lifecycle::freshness::AsOf;
use teamlog_team::resource::refused::RefusedWrites;
use teamlog_team::shell::quoted;
use teamlog_team::{GivenReceipt, RootOptions, Team};

/// Time limit of a hook for each step of a daemon.
const HOOK_STEP_LIMIT: Duration = Duration::from_secs(1);
/// Maximum wait of a hook for the lock of a log.
const HOOK_LOCK_DEADLINE: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub struct Context {
    pub out: Output,
    env: ProcessEnv,
    /// The data root, or the error that explains why the data root must not be used.
    data_root: Result<DataRoot, CommandError>,
    /// Value of `--data-root`, if set.
    data_root_flag: Option<PathBuf>,
    /// True if a daemon on another machine carries out the commands.
    is_remote: bool,
    /// The daemon on another machine, set at its first use.
    remote: OnceCell<Remote>,
    actor: Option<String>,
    actor_flag: Option<String>,
    options: RootOptions,
    /// Time limit for each step of a daemon, set for hooks.
    step_limit: Option<Duration>,
    journals: Arc<KnownJournals>,
    /// The current team, used by hints.
    team: Option<String>,
    /// The effect of repeating the command after an unknown outcome. `None` for commands that only read.
    repeat: Option<Repeat>,
    /// True if recording commands add a receipt to their answer.
    receipt: bool,
    /// True if the answer is the stored answer of an earlier call with the same key.
    replayed: bool,
    /// Receipt that every opened team must match.
    last_receipt: Option<GivenReceipt>,
    /// `--fresh` is `Some(None)`: first read all new groups of other hosts. `--at-least` is `Some(Some(seq))`: read up
    /// to `seq`.
    fresh: Option<Option<u64>>,
    /// Value of `--max-stale`: first read new groups of other hosts if the last read is older.
    max_stale: Option<Duration>,
    /// Time up to which the answer has the events of other hosts, if other hosts record events.
    as_of: Option<AsOf>,
    /// Time of the past point that the answer describes, if any.
    now: Option<Timestamp>,
    /// True if long answers are printed in full.
    whole: bool,
    /// True if times of day on the command line are in UTC.
    utc: bool,
    called: Called,
    /// The agent that an option of the subcommand names, used by hints.
    acting: OnceCell<String>,
    definition: fn() -> clap::Command,
    /// The team that this process opened for a call.
    held: Option<Team>,
    /// Receipt of the daemon's answer. `Some(None)` is an answer without a receipt.
    answered: Option<Option<Receipt>>,
    /// Notes from the daemon.
    notes: Vec<String>,
    /// Connections to daemons that released a team for this process.
    gave_way: Vec<GaveWay>,
    /// Team and refused writes that the guard records after the answer.
    afterwards: Option<(String, RefusedWrites)>,
}

impl Context {
    /// Builds the context from the global options and the environment.
    pub fn new(
        global: &Global,
        env: &ProcessEnv,
        definition: fn() -> clap::Command,
    ) -> Result<Context, CommandError> {
        let data_root = match root::resolve(global, env).map_err(place::unusable) {
            // Commands that do not use the data root still work.
            Err(error) if error.code() != "not_owned" => return Err(error),
            found => found,
        };
        let path = data_root.as_ref().ok().map(|root| &*root.path);
        let journals = Arc::new(KnownJournals::from_env(env, path));
        let mut options = RootOptions {
            journals: Some(journals.clone()),
            boot: boot::id(),
            ..RootOptions::default()
        };
        if let Some(timeout) = global.lock_timeout {
            options.lock_deadline = timeout;
        }
        Ok(Context {
            out: Output::stdout(global.json, env),
            env: env.clone(),
            data_root,
            journals,
            data_root_flag: global.data_root.clone(),
            is_remote: global.data_root.is_none() && Remote::is_named(env),
            remote: OnceCell::new(),
            actor: caller::actor(global, env)?,
            actor_flag: global.actor.clone(),
            options,
            step_limit: None,
            team: None,
            repeat: None,
            receipt: global.receipt,
            replayed: false,
            last_receipt: global
                .last_receipt
                .as_deref()
                .map(|text| receipt::presented(env, text))
                .transpose()?,
            fresh: match (global.fresh, global.at_least) {
                (true, _) => Some(None),
                (false, known) => known.map(Some),
            },
            max_stale: global.max_stale,
            as_of: None,
            now: None,
            whole: false,
            utc: global.utc || env.var_set("TEAMLOG_UTC").is_some(),
            called: Called::from_program(env.program().as_deref()),
            acting: OnceCell::new(),
            definition,
            held: None,
            answered: None,
            notes: Vec::new(),
            gave_way: Vec::new(),
            afterwards: None,
        })
    }

    pub fn env(&self) -> &ProcessEnv {
        &self.env
    }

    pub fn definition(&self) -> clap::Command {
        (self.definition)()
    }

    /// Returns the help of a subcommand that parses its words itself.
    pub fn help_of(&self, name: &str) -> String {
        let mut root = self.definition();
        root.build();
        let command = root.find_subcommand_mut(name);
        command.map_or_else(String::new, |command| {
            command.render_long_help().to_string()
        })
    }

    pub fn options(&self) -> RootOptions {
        self.options.clone()
    }

    /// Returns the directory that contains `teams/`.
    ///
    /// # Errors `not_owned`: the directory was found by search, not named by the user, and other users can write to
    /// this directory.
    pub fn data_root(&self) -> Result<&Path, CommandError> {
        let found = self.data_root.as_ref();
        found.map(|root| &*root.path).map_err(Clone::clone)
    }

    /// Limits all following waits to one second per step of a daemon, and to five seconds for the lock of a log.
    /// Agents give a hook ten seconds.
    pub fn answer_hook(&mut self) {
        self.step_limit = Some(HOOK_STEP_LIMIT);
        self.options.lock_deadline = self.options.lock_deadline.min(HOOK_LOCK_DEADLINE);
    }

    pub fn data_root_flag(&self) -> Option<PathBuf> {
        self.data_root_flag.clone()
    }

    pub fn called(&self) -> Called {
        self.called
    }

    pub fn wants_receipt(&self) -> bool {
        self.receipt
    }

    /// Declares that the command records events, and the effect of repeating the command after an unknown outcome.
    pub fn records(&mut self, repeat: Repeat) {
        self.repeat = Some(repeat);
    }

    /// Returns a command line with the program and the data root of this command.
    pub fn command(&self, rest: &str) -> String {
        format!("{} {rest}", self.program())
    }

    /// Adds the program and the data root of this command to the commands in an answer.
    pub fn own_commands(&self, commands: &mut [String]) {
        for command in commands {
            if let Some(rest) = command.strip_prefix("teamlog ") {
                *command = self.command(rest);
            }
        }
    }

    /// Returns the program and options with which printed commands begin.
    pub fn program(&self) -> String {
        let name = self.called.name();
        match &self.data_root_flag {
            Some(root) => format!("{name} --data-root {}", quoted(&root.display().to_string())),
            None => name.to_owned(),
        }
    }
}
