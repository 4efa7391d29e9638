//! Shell completion. The shell runs teamlog with [`VARIABLE`] set and the typed words, and reads candidates. After any
//! failure there are no candidates, and nothing else is printed.
//!
//! Options and subcommands come from the clap definition. Names of teams, agents, tasks, messages and traces come from the
//! state; the value name of an argument selects the kind of name.

mod candidates;
mod typed;

use crate::env::ProcessEnv;
use candidates::Source;
use clap::{Arg, Command};
use clap_complete::engine::ArgValueCompleter;
use clap_complete::env::Shells;
use std::ffi::OsString;
use std::io::{self, Write};
use std::sync::Arc;
use typed::Typed;

/// Variable that holds the name of the shell that requests candidates.
pub const VARIABLE: &str = "TEAMLOG_COMPLETE";

pub const SHELLS: [&str; 5] = ["bash", "zsh", "fish", "elvish", "powershell"];

/// Writes the shell script that registers completion.
pub fn registration(shell: &str, out: &mut dyn Write) -> io::Result<()> {
    let shells = Shells::builtins();
    let unknown = || io::Error::other(format!("unknown shell {shell:?}"));
    let shell = shells.completer(shell).ok_or_else(unknown)?;
    shell.write_registration(VARIABLE, "teamlog", "teamlog", "teamlog", out)
}

/// Answers a request of a shell for candidates. Returns false if there is no request.
pub fn answered(argv: &[OsString], env: &ProcessEnv, definition: fn() -> clap::Command) -> bool {
    let Some(shell) = env.var_set(VARIABLE) else {
        return false;
    };
    // A panic must not print anything.
    std::panic::set_hook(Box::new(|_| std::process::exit(0)));
    let _ = answer(&shell.to_string_lossy(), argv, env, definition);
    true
}

fn answer(
    shell: &str,
    argv: &[OsString],
    env: &ProcessEnv,
    definition: fn() -> clap::Command,
) -> io::Result<()> {
    let shells = Shells::builtins();
    let Some(shell) = shells.completer(shell) else {
        return Ok(());
    };
    let words = argv.iter().skip_while(|word| *word != "--").skip(1);
    let words: Vec<OsString> = words.cloned().collect();
    let source = Arc::new(Source::new(Typed::read(definition(), &words), env));
    let mut teamlog = definition();
    teamlog.build();
    let mut teamlog = equipped(teamlog, &source);
    let here = env.here().ok();
    let mut out = Vec::new();
    shell.write_complete(&mut teamlog, words, here.as_deref(), &mut out)?;
    let mut stdout = env.stdout();
    stdout.write_all(&out)?;
    stdout.flush()
}

/// Adds a lookup of candidates to each argument of the definition.
fn equipped(command: Command, source: &Arc<Source>) -> Command {
    let name = command.get_name().to_owned();
    command
        .mut_args(|arg| equipped_arg(arg, &name, source))
        .mut_subcommands(|below| equipped(below, source))
}

fn equipped_arg(arg: Arg, command: &str, source: &Arc<Source>) -> Arg {
    let Some(candidates) = candidates::lookup(&arg, command) else {
        return arg;
    };
    let source = Arc::clone(source);
    arg.add(ArgValueCompleter::new(move |current: &std::ffi::OsStr| {
        let begun = current.to_string_lossy();
        candidates(&source, &begun).unwrap_or_default()
    }))
}
