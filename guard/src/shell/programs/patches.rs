//! Patches: `apply_patch` as agents bring it along, and `patch`.

use super::Run;
use crate::patch;
use crate::shell::options::Words;
use crate::shell::walk::{Stdin, Walker};
use crate::shell::word::Value;
use crate::writes::Writes;

/// The text is an argument or stands on the standard input.
pub(super) fn envelope(walker: &mut Walker, run: &Run<'_>, writes: &mut Writes) {
    let name = run.name;
    let text = match (run.words, &run.stdin) {
        ([only], _) => only.plain(),
        ([], Some(Stdin::Text(text))) => Some(text.as_str()),
        _ => None,
    };
    match text.and_then(patch::files) {
        Some(files) => {
            for file in files {
                walker.target(&Value::Plain(file), name, writes);
            }
        }
        None => writes.doubt(format!("{name} is given no patch whose files can be read")),
    }
}

/// Which files it patches is in its input, unless an operand says it.
pub(super) fn patch(walker: &mut Walker, run: &Run<'_>, writes: &mut Writes) {
    let found = Words::of(run.words, run.spec);
    found.check(walker, "patch", writes);
    if found.sure(None, "--dry-run") && !found.has(Some('o'), "--output") {
        return;
    }
    let mut walker = walker.clone();
    for dir in found.values(Some('d'), "--directory") {
        walker.place = match dir.plain() {
            Some(dir) => walker.place.within(dir),
            None => walker.place.nowhere(),
        };
    }
    let outputs = found.values(Some('o'), "--output");
    let rejects = found.values(Some('r'), "--reject-file");
    for file in outputs.iter().chain(&rejects) {
        if file.plain() != Some("-") {
            walker.target(file, "patch", writes);
        }
    }
    match found.operands.first() {
        _ if !outputs.is_empty() => {}
        Some(file) => walker.target(file, "patch", writes),
        None => writes.doubt("patch writes what its input names"),
    }
}
