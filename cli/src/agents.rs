//! Coding agents: their configuration files, and the entries in those files that connect the agents with teamlog.
//!
//! | file | owns |
//! |---|---|
//! | [`mod@file`] | reads, replaces and removes a configuration file |
//! | [`json_text`] | edits a JSON text in place |
//! | [`block`] | edits teamlog's lines between two marks in a text |
//! | [`settings`] | hooks in JSON settings |
//! | [`guard_hook`] | the command line of the guard's hook |
//! | [`extension`] | the extension that asks the guard from `pi` |
//! | [`event`] | input and answers of an agent's hook |
//! | [`subagent`] | the name under which a subagent acts |
//!
//! `docs/agents.md` describes the formats, with dates and sources.

pub mod block;
pub mod event;
pub mod extension;
pub mod file;
pub mod guard_hook;
pub mod json_text;
pub mod settings;
pub mod subagent;

use crate::context::Context;
use crate::exit::CommandError;
use clap::ValueEnum;
use schemars::JsonSchema;
use serde::Serialize;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use teamlog_team::shell::quoted;

/// A coding agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Agent {
    /// Claude Code
    Claude,
    /// Codex
    Codex,
    /// pi
    Pi,
}

impl Agent {
    /// Returns the path of the file with the agent's hooks.
    pub fn hooks_file(
        self,
        context: &Context,
        dir: Option<&Path>,
        user: bool,
    ) -> Result<PathBuf, CommandError> {
        let name = match (self, user) {
            // The settings hold paths of this machine. Such settings go into the local file, because other machines
            // share the project's settings file.
            (Agent::Claude, false) => ".claude/settings.local.json",
            (Agent::Claude, true) => ".claude/settings.json",
            (Agent::Codex, _) => ".codex/hooks.json",
            (Agent::Pi, false) => ".pi/extensions/teamlog-guard.ts",
            (Agent::Pi, true) => ".pi/agent/extensions/teamlog-guard.ts",
        };
        Ok(file::followed(top(context, dir, user)?.join(name)))
    }
}

/// Returns the word that selects a value on the command line.
pub fn typed(choice: &impl ValueEnum) -> String {
    let value = choice.to_possible_value();
    value.map_or_else(String::new, |value| value.get_name().to_owned())
}

/// Returns the directory that holds an agent's files: the project directory, or the user's home.
pub fn top(context: &Context, dir: Option<&Path>, user: bool) -> Result<PathBuf, CommandError> {
    let home = || {
        let home = context.env().var_set("HOME");
        home.map(PathBuf::from).ok_or_else(|| {
            CommandError::invalid(
                "user",
                "HOME is not set, so the user's configuration cannot be found",
            )
        })
    };
    let top = match (dir, user) {
        (_, true) => home()?,
        (Some(dir), false) => dir.to_owned(),
        (None, false) => PathBuf::from("."),
    };
    let top = absolute(context, &top)?;
    match top.is_dir() {
        true => Ok(top),
        false => {
            let message = format!("{} is not a directory", top.display());
            Err(CommandError::invalid("dir", message))
        }
    }
}

pub fn absolute(context: &Context, path: &Path) -> Result<PathBuf, CommandError> {
    let here = context.env().here();
    let here = here.map_err(|error| CommandError::io("find", "the working directory", &error))?;
    // Removes `.` and double slashes from the path.
    Ok(here.join(path).components().collect())
}

/// Makes a path absolute and converts it to text.
pub fn text(context: &Context, path: &Path) -> Result<String, CommandError> {
    let path = absolute(context, path)?;
    path.into_os_string().into_string().map_err(|path| {
        let message = format!("path {} is not UTF-8", path.display());
        CommandError::invalid("path", message)
    })
}

/// Returns the words of a command line that name the canonical path of the data root. With a daemon on another machine there are
/// none: the command finds the daemon by its environment.
pub fn root_words(context: &Context) -> Result<Vec<String>, CommandError> {
    if context.is_remote() {
        return Ok(Vec::new());
    }
    let root = absolute(context, context.data_root()?)?;
    let root = text(context, &file::followed(root))?;
    Ok(vec!["--data-root".to_owned(), root])
}

/// Returns a note if agents would start another program, or no program, when they type a teamlog command.
pub fn path_note(context: &Context) -> Result<Option<String>, CommandError> {
    let name = context.called().name();
    let own = PathBuf::from(program(context)?);
    let path = context.env().var_set("PATH").unwrap_or_default();
    let mut files = std::env::split_paths(&path).map(|dir| dir.join(name));
    let found = files.find(|file| is_program(file));
    let dir = own.parent().unwrap_or(Path::new("/")).display();
    Ok(match found {
        Some(found) if file::followed(found.clone()) == file::followed(own.clone()) => None,
        Some(found) => Some(format!(
            "the hooks start {}, but {name} on the PATH is {}",
            own.display(),
            found.display()
        )),
        None => Some(format!(
            "{name} is not on the PATH, so agents cannot run the commands that they are told: export PATH={}:$PATH",
            quoted(&dir.to_string())
        )),
    })
}

fn is_program(file: &Path) -> bool {
    let found = std::fs::metadata(file);
    found.is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

/// Returns the absolute path of this program, because the working directory of an agent is unknown.
pub fn program(context: &Context) -> Result<String, CommandError> {
    let program = std::env::current_exe()
        .map_err(|error| CommandError::io("find", "this program", &error))?;
    text(context, &program)
}
