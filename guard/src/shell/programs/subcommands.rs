//! Programs whose first operand is a subcommand with an entry of its own.

use super::Run;
use crate::shell::options::Words;
use crate::shell::table;
use crate::shell::walk::Walker;
use crate::writes::Writes;

pub(super) fn run(walker: &mut Walker, run: &Run<'_>, writes: &mut Writes) {
    let (found, rest) = Words::leading(run.words, run.spec);
    found.check(walker, run.name, writes);
    let Some((name, words)) = rest.split_first() else {
        return;
    };
    let Some(name) = name.plain() else {
        return writes.doubt(format!(
            "the subcommand of {} depends on an expansion",
            run.name
        ));
    };
    let path = format!("{} {name}", run.name);
    match table::spec(&path) {
        None => super::unknown(walker, &path, words, writes),
        Some(spec) => {
            let inner = Run {
                name: &path,
                spec,
                words,
                stdin: run.stdin.clone(),
            };
            super::judge(walker, &inner, writes);
        }
    }
}
