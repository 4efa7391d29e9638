//! Shells inside of the shell.

use super::Run;
use crate::shell::options::{Takes, Words};
use crate::shell::walk::{Stdin, Walker};
use crate::shell::word::Value;
use crate::writes::Writes;

/// Programs that run commands as this one does.
pub(super) const NAMES: &[&str] = &["sh", "bash", "zsh", "dash", "ksh", "ash"];

/// Options that change nothing about what a script writes.
const PLAIN: [&str; 18] = [
    "-c",
    "-l",
    "-i",
    "-e",
    "-u",
    "-x",
    "-v",
    "-s",
    "-o",
    "-O",
    "-f",
    "-p",
    "-E",
    "--login",
    "--norc",
    "--noprofile",
    "--posix",
    "--verbose",
];

pub(super) fn run(walker: &mut Walker, run: &Run<'_>, writes: &mut Writes) {
    let name = run.name;
    let (found, rest) = Words::leading(run.words, Takes::letters("oO"));
    let only_parses = found.sure(Some('n'), "") && found.options.len() == 1;
    if only_parses && run.words.iter().all(|word| word.plain().is_some()) {
        return;
    }
    let other = found
        .options
        .iter()
        .find(|option| !PLAIN.contains(&&*option.name));
    if let Some(option) = other {
        writes.doubt(format!("{name} {} changes what it runs", option.name));
    }
    let first = rest.first();
    if found.has(Some('c'), "") {
        return match first.map(Value::plain) {
            Some(Some(script)) => walker.run_apart(script, writes),
            _ => writes.doubt(format!("{name} -c runs what an expansion says")),
        };
    }
    match (first, &run.stdin) {
        (Some(script), _) => writes.doubt(format!(
            "{name} runs the script {}",
            script.plain().unwrap_or("that an expansion names")
        )),
        (None, Some(Stdin::Text(script))) => walker.run_apart(script, writes),
        (None, _) => writes.doubt(format!("{name} runs what it is given to read")),
    }
}
