//! What every command works with: the data root, who acts, where answers go.

mod advice;
mod afterwards;
mod answer;
mod ask;
mod caller;
mod execute;
mod lines;
mod open;
mod place;
mod receipt;

pub use answer::Note;
pub use execute::again;
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

/// Longest wait of a hook for each step of a daemon.
const HOOK_STEP_LIMIT: Duration = Duration::from_secs(1);
/// Longest wait of a hook for the lock of a log.
const HOOK_LOCK_DEADLINE: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub struct Context {
    pub out: Output,
    env: ProcessEnv,
    /// The data root, or the error that forbids its use.
    data_root: Result<DataRoot, CommandError>,
    /// As the command line names it, if it does.
    data_root_flag: Option<PathBuf>,
    /// Whether a daemon on another machine is to be asked.
    is_remote: bool,
    /// That daemon, once it was asked for.
    remote: OnceCell<Remote>,
    actor: Option<String>,
    actor_flag: Option<String>,
    options: RootOptions,
    /// The longest wait for each step of a daemon, for a hook.
    step_limit: Option<Duration>,
    journals: Arc<KnownJournals>,
    /// The team concerned, for hints.
    team: Option<String>,
    /// Whether the same may be typed again where it is unknown whether it was recorded; nothing for what only reads.
    repeat: Option<Repeat>,
    /// Whether answers of what records something carry a receipt.
    receipt: bool,
    /// Whether the answer is that of an earlier request under the same key.
    replayed: bool,
    /// What every team that is opened must still hold.
    last_receipt: Option<GivenReceipt>,
    /// What other hosts recorded is to be taken in first: all, or what is needed to know an event.
    fresh: Option<Option<u64>>,
    /// The same where what is here is older than that.
    max_stale: Option<Duration>,
    /// How new the answer is, where other hosts record too.
    as_of: Option<AsOf>,
    /// The time of an answer about the past.
    now: Option<Timestamp>,
    /// Shows all of an answer, however many screens it takes.
    whole: bool,
    /// Whether clock times are read as UTC.
    utc: bool,
    called: Called,
    /// The agent that an option of the subcommand names, for hints.
    acting: OnceCell<String>,
    definition: fn() -> clap::Command,
    /// The team on which a call was carried out here.
    held: Option<Team>,
    /// The receipt that came with an answer of the daemon, if one did.
    answered: Option<Option<Receipt>>,
    /// What the daemon had to say beside its answers.
    notes: Vec<String>,
    /// The daemons that keep off a team meanwhile.
    gave_way: Vec<GaveWay>,
    /// What is to be recorded in a team once everything is answered.
    afterwards: Option<(String, RefusedWrites)>,
}

impl Context {
    /// From the global flags and the environment.
    pub fn new(
        global: &Global,
        env: &ProcessEnv,
        definition: fn() -> clap::Command,
    ) -> Result<Context, CommandError> {
        let data_root = match root::of(global, env).map_err(place::unusable) {
            // Commands that need no data root work all the same.
            Err(error) if error.code() != "not_owned" => return Err(error),
            found => found,
        };
        let path = data_root.as_ref().ok().map(|root| &*root.path);
        let journals = Arc::new(KnownJournals::of(env, path));
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
            called: Called::of(env.program().as_deref()),
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

    /// The help of a subcommand, for one that reads its words itself.
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

    /// Returns the directory that holds `teams/`.
    ///
    /// # Errors
    /// `not_owned`: it was discovered, and others may write it.
    pub fn data_root(&self) -> Result<&Path, CommandError> {
        let found = self.data_root.as_ref();
        found.map(|root| &*root.path).map_err(Clone::clone)
    }

    /// Answers a hook from here on: agents give a hook ten seconds, so a daemon that does not answer is given up after one,
    /// and the lock of a log after five.
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

    /// From here on something may be recorded: what to advise where it is unknown whether it was.
    pub fn records(&mut self, repeat: Repeat) {
        self.repeat = Some(repeat);
    }

    /// A command for the same data root, as it has to be typed.
    pub fn command(&self, rest: &str) -> String {
        format!("{} {rest}", self.program())
    }

    /// Commands of an answer, for the same data root.
    pub fn own_commands(&self, commands: &mut [String]) {
        for command in commands {
            if let Some(rest) = command.strip_prefix("teamlog ") {
                *command = self.command(rest);
            }
        }
    }

    /// How such commands begin.
    pub fn program(&self) -> String {
        let name = self.called.name();
        match &self.data_root_flag {
            Some(root) => format!("{name} --data-root {}", quoted(&root.display().to_string())),
            None => name.to_owned(),
        }
    }
}
