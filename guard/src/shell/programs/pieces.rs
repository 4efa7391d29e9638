//! Programs that write a second operand, or files by a prefix.

use super::{Run, parent};
use crate::shell::options::Words;
use crate::shell::walk::Walker;
use crate::shell::word::Value;
use crate::writes::Writes;

pub(super) fn second(walker: &mut Walker, run: &Run<'_>, writes: &mut Writes) {
    let found = Words::of(run.words, run.spec);
    found.check(walker, run.name, writes);
    for output in found.operands.iter().skip(1) {
        walker.target(output, run.name, writes);
    }
}

pub(super) fn dd(walker: &mut Walker, run: &Run<'_>, writes: &mut Writes) {
    for word in run.words {
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
pub(super) fn splits(walker: &mut Walker, run: &Run<'_>, writes: &mut Writes) {
    let name = run.name;
    let found = Words::of(run.words, run.spec);
    found.check(walker, name, writes);
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
