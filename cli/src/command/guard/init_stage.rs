//! The process between `guard exec` and the command that `guard exec` runs. This process owns the command's process
//! tree, so that no descendant outlives `guard exec`, not even a detached descendant.
//!
//! `guard exec` starts this process as `teamlog fence-init SUPERVISOR PEOPLE|JSON COMMAND…`.

use super::exec::not_started;
use crate::command::prelude::*;
use crate::fence::fenced::{Sandbox, supervisor};
use crate::fence::rules;
use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt;
use std::process::{self, Command};

/// First argument that selects the init stage. This word is not a subcommand.
const WORD: &str = "fence-init";
/// Formats of error messages: text or JSON.
const FORMS: [&str; 2] = ["people", "json"];
/// Path of the running program. The path stays valid after the program's file is replaced.
const SELF: &str = "/proc/self/exe";

/// Builds the command line of the init stage, with this process as supervisor. Does not start the command.
pub fn command(program: &OsStr, words: &[OsString], json: bool) -> Command {
    let mut stage = Command::new(SELF);
    stage
        .arg0("teamlog")
        .args([WORD, &process::id().to_string(), FORMS[usize::from(json)]])
        .arg(program)
        .args(words);
    stage
}

/// Runs the init stage if `argv` selects it.
pub fn run(argv: &[OsString], env: &ProcessEnv) -> Option<Exit> {
    let [_, word, supervisor, form, program, words @ ..] = argv else {
        return None;
    };
    if word != WORD {
        return None;
    }
    let held = hold(supervisor, program, words);
    Some(held.unwrap_or_else(|error| error.report(form == FORMS[1], env)))
}

fn hold(number: &OsStr, program: &OsStr, words: &[OsString]) -> Outcome {
    let number = number.to_str().and_then(|number| number.parse().ok());
    let supervisor = supervisor(number.unwrap_or_default())
        .map_err(|error| CommandError::io("watch", "the process of guard exec", &error))?;
    let mut command = Command::new(program);
    command.args(words);
    let (fenced, ()) = Sandbox::start(command, rules::restrict_signals)
        .map_err(|error| not_started(program, error))?;
    let code = fenced.hold(supervisor);
    let code = code.map_err(|error| CommandError::io("wait for", "the command", &error))?;
    Ok(Exit::Of(code))
}
