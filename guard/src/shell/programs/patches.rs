//! Patches: `apply_patch` as agents bring it along, and `patch`.

use super::Run;
use crate::patch;
use crate::shell::options::{Takes, Words};
use crate::shell::walk::{Stdin, Walker};
use crate::shell::word::Value;
use crate::writes::Writes;

pub(super) const NAMES: &[&str] = &["apply_patch", "applypatch", "patch"];

pub(super) fn run(walker: &mut Walker, run: &Run<'_>, writes: &mut Writes) {
    match run.name {
        "patch" => classic(walker, run, writes),
        name => envelope(walker, name, run, writes),
    }
}

/// The text is an argument or stands on the standard input.
fn envelope(walker: &Walker, name: &str, run: &Run<'_>, writes: &mut Writes) {
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
fn classic(walker: &Walker, run: &Run<'_>, writes: &mut Writes) {
    let takes = Takes::of(
        "pidorBDFgVYz",
        &[
            "--strip",
            "--input",
            "--directory",
            "--output",
            "--reject-file",
            "--fuzz",
        ],
    );
    let found = Words::of(run.words, takes);
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
    for (letter, long) in [
        (Some('B'), "--prefix"),
        (Some('Y'), "--basename-prefix"),
        (Some('z'), "--suffix"),
        (Some('e'), "--ed"),
        (Some('g'), "--get"),
    ] {
        if found.has(letter, long) {
            writes.doubt("patch writes or runs more than it patches");
        }
    }
    match found.operands.first() {
        _ if !outputs.is_empty() => {}
        Some(file) => walker.target(file, "patch", writes),
        None => writes.doubt("patch writes what its input names"),
    }
}
