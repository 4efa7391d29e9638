//! Shells inside of the shell.

use super::Run;
use crate::shell::options::{Opt, Words};
use crate::shell::walk::{Stdin, Walker};
use crate::writes::Writes;

pub(super) fn run(walker: &mut Walker, run: &Run<'_>, found: &Words<'_>, writes: &mut Writes) {
    let name = run.name;
    let only_parses = found.sure(&["-n"]) && found.options.len() == 1;
    if only_parses && run.words.iter().all(|word| word.plain().is_some()) {
        return;
    }
    let named = |option: &Opt| {
        option
            .value
            .as_ref()
            .is_none_or(|value| value.plain().is_some())
    };
    if !found.options.iter().all(named) {
        writes.doubt(format!("how {name} runs depends on an expansion"));
    }
    let first = found.operands.first();
    if found.has(&["-c"]) {
        return match first.map(|word| word.plain()) {
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
