//! Programs that write what their operands name.

use super::{Run, found_below, parent};
use crate::shell::options::{Takes, Words};
use crate::shell::walk::Walker;
use crate::shell::word::Value;
use crate::writes::Writes;

pub(super) const NAMES: &[&str] = &[
    "rm",
    "rmdir",
    "unlink",
    "shred",
    "touch",
    "truncate",
    "fallocate",
    "mkdir",
    "mkfifo",
    "mknod",
    "mktemp",
    "tee",
    "sponge",
    "chmod",
    "chown",
    "chgrp",
];

fn takes(name: &str) -> Takes {
    match name {
        "shred" => Takes::of("ns", &["--size", "--iterations", "--random-source"]),
        "touch" => Takes::of("drt", &["--date", "--reference", "--time"]),
        "truncate" => Takes::of("sr", &["--size", "--reference"]),
        "fallocate" => Takes::of("lo", &["--length", "--offset"]),
        "mkdir" | "mkfifo" | "mknod" => Takes::of("m", &["--mode"]),
        "mktemp" => Takes::of("p", &["--suffix"]),
        _ => Takes::NONE,
    }
}

pub(super) fn run(walker: &mut Walker, run: &Run<'_>, writes: &mut Writes) {
    let found = Words::of(run.words, takes(run.name));
    match run.name {
        "chmod" | "chown" | "chgrp" => changes(walker, run.name, &found, writes),
        "mktemp" => mktemp(walker, &found, writes),
        "rm" | "rmdir" | "unlink" => {
            for operand in &found.operands {
                walker.entry(operand, run.name, writes);
            }
        }
        name => {
            for operand in &found.operands {
                walker.target(operand, name, writes);
            }
        }
    }
}

/// The first operand says what becomes of the others, unless an option does, or a mode that looks like one.
fn changes(walker: &Walker, name: &str, found: &Words<'_>, writes: &mut Writes) {
    let is_flag = |name: &str| {
        let mut letters = name.chars().skip(1);
        letters.all(|letter| "RcfvhHLP".contains(letter))
    };
    let mode = name == "chmod"
        && found
            .options
            .iter()
            .any(|option| !option.name.starts_with("--") && !is_flag(&option.name));
    let skip = usize::from(!mode && !found.has(None, "--reference"));
    for operand in found.operands.iter().skip(skip) {
        walker.target(operand, name, writes);
    }
}

/// A file of a name that nobody knows yet, where its options or the template say.
fn mktemp(walker: &Walker, found: &Words<'_>, writes: &mut Writes) {
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
