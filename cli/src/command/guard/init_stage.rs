//! The process between `guard exec` and its command. It owns the command's process tree, so that no descendant outlives
//! `guard exec`, detached ones included.
//!
//! It is this program again: `fence-init SUPERVISOR PEOPLE|JSON COMMAND…`, called by `guard exec` only.

use super::exec::not_started;
use crate::command::prelude::*;
use crate::fence::fenced::{Sandbox, supervisor};
use crate::fence::rules;
use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt;
use std::process::{self, Command};

/// First word of its command line; not a subcommand.
const WORD: &str = "fence-init";
/// Forms of its error messages: text or JSON.
const FORMS: [&str; 2] = ["people", "json"];
/// Path of this program, valid even after its file was replaced.
const SELF: &str = "/proc/self/exe";

/// Builds the command of this stage without starting it. This process is its supervisor.
pub fn command(program: &OsStr, words: &[OsString], json: bool) -> Command {
    let mut stage = Command::new(SELF);
    stage
        .arg0("teamlog")
        .args([WORD, &process::id().to_string(), FORMS[usize::from(json)]])
        .arg(program)
        .args(words);
    stage
}

/// Runs the stage if this process was started as one.
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
        .map_err(|error| CommandError::io("watch", "guard exec", &error))?;
    let mut command = Command::new(program);
    command.args(words);
    let (fenced, ()) = Sandbox::start(command, rules::restrict_signals)
        .map_err(|error| not_started(program, error))?;
    let code = fenced.hold(supervisor);
    let code = code.map_err(|error| CommandError::io("wait for", "the command", &error))?;
    Ok(Exit::Of(code))
}
