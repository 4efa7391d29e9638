//! Programs that write what their operands name.

use super::{Run, found_below, parent};
use crate::shell::options::Words;
use crate::shell::table::Operands;
use crate::shell::walk::Walker;
use crate::shell::word::Value;
use crate::writes::Writes;

/// What the table says of all operands alike.
pub(super) fn simple(
    walker: &Walker,
    name: &str,
    kind: &Operands,
    found: &Words<'_>,
    writes: &mut Writes,
) {
    match kind {
        Operands::Write => {
            for operand in &found.operands {
                walker.target(operand, name, writes);
            }
        }
        Operands::Entry => {
            for operand in &found.operands {
                walker.entry(operand, name, writes);
            }
        }
        Operands::None if !found.operands.is_empty() => {
            writes.doubt(format!("{name} does more where it is given an operand"));
        }
        _ => {}
    }
}

/// The first operand says what becomes of the others, unless an option does, or a mode that looks like one.
pub(super) fn modes(walker: &mut Walker, run: &Run<'_>, writes: &mut Writes) {
    let found = Words::of(run.words, run.spec);
    found.check(walker, run.name, writes);
    let is_flag = |name: &str| {
        let mut letters = name.chars().skip(1);
        letters.all(|letter| "RcfvhHLP".contains(letter))
    };
    let mode = run.name == "chmod"
        && found
            .options
            .iter()
            .any(|option| !option.name.starts_with("--") && !is_flag(&option.name));
    let skip = usize::from(!mode && !found.has(None, "--reference"));
    for operand in found.operands.iter().skip(skip) {
        walker.target(operand, run.name, writes);
    }
}

/// A file of a name that nobody knows yet, where its options or the template say.
pub(super) fn mktemp(walker: &mut Walker, run: &Run<'_>, writes: &mut Writes) {
    let found = Words::of(run.words, run.spec);
    found.check(walker, run.name, writes);
    let mut dirs = found.values(Some('p'), "");
    dirs.extend(
        found
            .options
            .iter()
            .filter(|option| option.name.len() > 2 && "--tmpdir".starts_with(&option.name))
            .filter_map(|option| option.value.clone()),
    );
    for dir in &dirs {
        walker.target(&found_below(dir), "mktemp", writes);
    }
    let temporary = found.has(Some('t'), "--tmpdir");
    for template in &found.operands {
        match template {
            Value::Plain(template) if dirs.is_empty() && !temporary => {
                walker.target_below(parent(template), "mktemp", writes);
            }
            // It stays below the directory that was named, or the one for such files.
            Value::Plain(template) if !template.contains("..") => {}
            _ => writes.doubt("where mktemp writes depends on an expansion"),
        }
    }
}
