//! Programs that write no file, but for what the table cannot say of their words.

use super::Run;
use crate::shell::options::Words;
use crate::shell::walk::Walker;
use crate::shell::word::Value;
use crate::writes::Writes;

/// A pager may be told to begin with a command.
pub(super) fn pager(walker: &mut Walker, run: &Run<'_>, writes: &mut Writes) {
    Words::of(run.words, run.spec).check(walker, run.name, writes);
    if run.words.iter().filter_map(Value::plain).any(is_command) {
        writes.doubt(format!("{} runs commands of its own", run.name));
    }
}

/// Whether a pager would begin with a command that does more than go to a line.
fn is_command(word: &str) -> bool {
    let goes = |letter: char| letter.is_ascii_digit() || matches!(letter, 'G' | 'F' | '+');
    word.starts_with('+') && !word.chars().all(goes)
}

/// What a builtin evaluates may run what stands in an index. Those that search take such texts as they are.
pub(super) fn indices(run: &Run<'_>, writes: &mut Writes) {
    if !matches!(run.name, "grep" | "rg" | "egrep" | "fgrep") {
        super::doubt_indices(run.name, run.words, writes);
    }
}
