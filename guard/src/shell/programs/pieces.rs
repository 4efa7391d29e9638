//! Programs that write a second operand, or files by a prefix.

use super::{Run, parent};
use crate::shell::options::{Takes, Words};
use crate::shell::walk::Walker;
use crate::shell::word::Value;
use crate::writes::Writes;

pub(super) const NAMES: &[&str] = &["split", "csplit", "dd", "uniq", "xxd"];

pub(super) fn run(walker: &mut Walker, run: &Run<'_>, writes: &mut Writes) {
    match run.name {
        "dd" => dd(walker, run.words, writes),
        "uniq" => second(
            walker,
            run,
            Takes::of("fsw", &["--skip-fields", "--skip-chars", "--check-chars"]),
            writes,
        ),
        "xxd" => second(
            walker,
            run,
            Takes::of(
                "cglnosR",
                &["-cols", "-groupsize", "-len", "-name", "-seek"],
            ),
            writes,
        ),
        _ => splits(walker, run, writes),
    }
}

fn second(walker: &Walker, run: &Run<'_>, takes: Takes, writes: &mut Writes) {
    let found = Words::of(run.words, takes);
    for output in found.operands.iter().skip(1) {
        walker.target(output, run.name, writes);
    }
}

fn dd(walker: &Walker, words: &[Value], writes: &mut Writes) {
    for word in words {
        match word.plain() {
            Some(text) => {
                if let Some(path) = text.strip_prefix("of=") {
                    walker.target(&Value::Plain(path.to_owned()), "dd", writes);
                }
            }
            None => writes.doubt("what dd writes depends on an expansion"),
        }
    }
}

/// Files whose names begin with a prefix, which may name a directory.
fn splits(walker: &Walker, run: &Run<'_>, writes: &mut Writes) {
    let name = run.name;
    let takes = match name {
        "split" => Takes::of(
            "abClnt",
            &["--bytes", "--lines", "--number", "--suffix-length"],
        ),
        _ => Takes::of("bfn", &["--prefix", "--suffix-format", "--digits"]),
    };
    let found = Words::of(run.words, takes);
    if found.has(None, "--filter") {
        writes.doubt("split runs another program");
    }
    let prefix = match name {
        "split" => found.operands.get(1).map(|prefix| (*prefix).clone()),
        _ => found.values(Some('f'), "--prefix").pop(),
    };
    match prefix {
        None => walker.target_below(".", name, writes),
        Some(Value::Plain(prefix)) if prefix.ends_with('/') => {
            walker.target_below(&prefix, name, writes);
        }
        Some(Value::Plain(prefix)) => walker.target_below(parent(&prefix), name, writes),
        Some(other) => walker.target(&other, name, writes),
    }
}
