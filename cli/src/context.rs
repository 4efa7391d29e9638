//! What every command works with: the data root, who acts, where answers go.

mod advice;
mod answer;
mod caller;
mod open;
mod receipt;

pub use advice::typed_here;
pub use answer::Note;
pub use receipt::receipt_file;

use crate::env::ProcessEnv;
use crate::exit::CommandError;
use crate::global::Global;
use crate::link::Called;
use crate::output::Output;
use crate::root;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use teamlog_server::Served;
use teamlog_team::engine::Timestamp;
use teamlog_team::shell::quoted;
use teamlog_team::{GivenReceipt, RootOptions};

/// The environment of one command.
#[derive(Debug)]
pub struct Context {
    /// Standard output.
    pub out: Output,
    env: ProcessEnv,
    /// The teams of this process, where it is a daemon that has the call's data root open.
    served: Option<Arc<Served>>,
    data_root: PathBuf,
    /// As the command line names it, if it does.
    data_root_flag: Option<PathBuf>,
    actor: Option<String>,
    actor_flag: Option<String>,
    options: RootOptions,
    /// The team concerned, for hints.
    team: Option<String>,
    outcome: Unknown,
    /// Whether answers of what records something carry a receipt.
    receipt: bool,
    /// Whether the answer is that of an earlier request under the same key.
    replayed: bool,
    /// What every team that is opened must still hold.
    last_receipt: Option<GivenReceipt>,
    /// The time of an answer about the past.
    now: Option<Timestamp>,
    /// Whether clock times are read as UTC.
    utc: bool,
    called: Called,
    whole: Program,
}

/// What a command may need of the program as a whole.
#[derive(Debug, Clone, Copy)]
pub struct Program {
    /// All that may be typed.
    pub definition: fn() -> clap::Command,
    /// Carries out, in a daemon, what is forwarded to it.
    pub run_forwarded: RunForwarded,
}

/// Runs a command for its caller, with the teams that are open here, and gives its exit code.
pub type RunForwarded = fn(&[OsString], &ProcessEnv, &Arc<Served>) -> u8;

/// What to do where it is unknown whether a command's events were recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unknown {
    /// Nothing would be recorded.
    Never,
    /// Type it again: what is known already changes nothing.
    Repeat,
    /// Look first: the same again would be a second event.
    Look,
}

impl Unknown {
    /// Of a message, which only an id of its own makes repeatable.
    pub fn of_message(id: Option<&str>) -> Unknown {
        match id {
            Some(_) => Unknown::Repeat,
            None => Unknown::Look,
        }
    }
}

impl Context {
    /// From the global flags and the environment.
    ///
    /// # Errors
    /// There is no working directory, or the agent's name in the environment is not UTF-8.
    pub fn new(
        global: &Global,
        env: &ProcessEnv,
        served: Option<&Arc<Served>>,
        whole: Program,
    ) -> Result<Context, CommandError> {
        let data_root = root::of(global, env)
            .map_err(|error| CommandError::io("find", "the working directory", &error))?;
        let mut options = RootOptions {
            restart: served.and_then(|served| served.root().options().restart.clone()),
            ..RootOptions::default()
        };
        if let Some(timeout) = global.lock_timeout {
            options.lock_deadline = timeout;
        }
        Ok(Context {
            out: Output::stdout(global.json, env),
            env: env.clone(),
            served: served.cloned(),
            data_root,
            data_root_flag: global.data_root.clone(),
            actor: caller::actor(global, env)?,
            actor_flag: global.actor.clone(),
            options,
            team: None,
            outcome: Unknown::Never,
            receipt: global.receipt,
            replayed: false,
            last_receipt: global
                .last_receipt
                .as_deref()
                .map(|text| receipt::presented(env, text))
                .transpose()?,
            now: None,
            utc: global.utc || env.var_set("TEAMLOG_UTC").is_some(),
            called: Called::of(env.program().as_deref()),
            whole,
        })
    }

    /// What the command sees of the process that it is for.
    pub fn env(&self) -> &ProcessEnv {
        &self.env
    }

    /// All that may be typed.
    pub fn definition(&self) -> clap::Command {
        (self.whole.definition)()
    }

    /// What carries out what is forwarded to a daemon.
    pub fn run_forwarded(&self) -> RunForwarded {
        self.whole.run_forwarded
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

    /// How teams are opened.
    pub fn options(&self) -> RootOptions {
        self.options.clone()
    }

    /// The directory that holds `teams/`.
    pub fn data_root(&self) -> &Path {
        &self.data_root
    }

    /// The `--data-root` of this command line.
    pub fn data_root_flag(&self) -> Option<PathBuf> {
        self.data_root_flag.clone()
    }

    /// By which name the program was called.
    pub fn called(&self) -> Called {
        self.called
    }

    /// Whether `--receipt` was given.
    pub fn wants_receipt(&self) -> bool {
        self.receipt
    }

    /// A path as it has to be opened.
    pub fn path(&self, typed: &Path) -> PathBuf {
        self.env.path(typed)
    }

    /// From here on something may be recorded; so much for where its outcome is unknown.
    pub fn records(&mut self, outcome: Unknown) {
        self.outcome = outcome;
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
