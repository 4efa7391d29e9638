//! Coding agents: their configuration files, and the entries with which they work with teamlog.
//!
//! | file | owns |
//! |---|---|
//! | [`mod@file`] | a configuration file: read, replaced whole, removed |
//! | [`json_text`] | JSON of a person, changed in place |
//! | [`block`] | lines of teamlog between two marks in a person's text |
//! | [`settings`] | hooks in JSON settings |
//! | [`guard_hook`] | the command line with which an agent asks the guard |
//! | [`extension`] | the extension of `pi` for that |
//! | [`event`] | input of an agent's hook, and its answers |
//! | [`subagent`] | the name under which a subagent acts |
//!
//! The formats are described, with dates and sources, in `docs/agents.md`.

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
    /// Returns the file of its hooks.
    pub fn hooks_file(
        self,
        context: &Context,
        dir: Option<&Path>,
        user: bool,
    ) -> Result<PathBuf, CommandError> {
        let name = match (self, user) {
            // The settings hold paths of this machine, so they go into the local file, not into the file that a project
            // shares.
            (Agent::Claude, false) => ".claude/settings.local.json",
            (Agent::Claude, true) => ".claude/settings.json",
            (Agent::Codex, _) => ".codex/hooks.json",
            (Agent::Pi, false) => ".pi/extensions/teamlog-guard.ts",
            (Agent::Pi, true) => ".pi/agent/extensions/teamlog-guard.ts",
        };
        Ok(file::followed(top(context, dir, user)?.join(name)))
    }
}

/// Returns the command line's word for a choice.
pub fn typed(choice: &impl ValueEnum) -> String {
    let value = choice.to_possible_value();
    value.map_or_else(String::new, |value| value.get_name().to_owned())
}

/// Returns the directory above an agent's files: the project's, or the user's home.
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

/// Makes a path absolute.
pub fn absolute(context: &Context, path: &Path) -> Result<PathBuf, CommandError> {
    let here = context.env().here();
    let here = here.map_err(|error| CommandError::io("find", "the working directory", &error))?;
    // Normalises `.` and double slashes.
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

/// Returns the data root's canonical path.
pub fn data_root(context: &Context) -> Result<String, CommandError> {
    text(
        context,
        &file::followed(absolute(context, context.data_root()?)?),
    )
}

/// Returns a note if the commands that agents are told to type would start another program, or none.
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

/// Returns this program's path, for an agent with any working directory.
pub fn program(context: &Context) -> Result<String, CommandError> {
    let program = std::env::current_exe()
        .map_err(|error| CommandError::io("find", "this program", &error))?;
    text(context, &program)
}
