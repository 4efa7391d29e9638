//! Shells inside of the shell.

use super::Run;
use crate::shell::options::{Opt, Words};
use crate::shell::walk::{Stdin, Walker};
use crate::shell::word::Value;
use crate::writes::Writes;

pub(super) fn run(walker: &mut Walker, run: &Run<'_>, writes: &mut Writes) {
    let name = run.name;
    let (found, rest) = Words::leading(run.words, run.spec);
    let only_parses = found.sure(Some('n'), "") && found.options.len() == 1;
    if only_parses && run.words.iter().all(|word| word.plain().is_some()) {
        return;
    }
    found.check(walker, name, writes);
    let named = |option: &Opt| {
        option
            .value
            .as_ref()
            .is_none_or(|value| value.plain().is_some())
    };
    if !found.options.iter().all(named) {
        writes.doubt(format!("how {name} runs depends on an expansion"));
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
