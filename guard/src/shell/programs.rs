//! What the arguments of a known program say of what it writes.

mod archives;
mod builtins;
mod copies;
mod fetch;
mod find;
mod operands;
mod pack;
mod patches;
mod pieces;
mod readers;
mod scripts;
mod shells;
mod wrappers;

use super::git;
use super::walk::{Stdin, Walker};
use super::word::{self, Value};
use crate::writes::Writes;

/// A program with what it is given.
pub(super) struct Run<'a> {
    pub name: &'a str,
    pub words: &'a [Value],
    pub stdin: Option<Stdin>,
}

type Judge = fn(&mut Walker, &Run<'_>, &mut Writes);

/// The programs that are known, and who judges them.
const FAMILIES: [(&[&str], Judge); 14] = [
    (builtins::NAMES, builtins::run),
    (readers::NAMES, readers::run),
    (operands::NAMES, operands::run),
    (copies::NAMES, copies::run),
    (wrappers::NAMES, wrappers::run),
    (shells::NAMES, shells::run),
    (pieces::NAMES, pieces::run),
    (scripts::NAMES, scripts::run),
    (find::NAMES, find::run),
    (fetch::NAMES, fetch::run),
    (archives::NAMES, archives::run),
    (pack::NAMES, pack::run),
    (patches::NAMES, patches::run),
    (git::NAMES, git::run),
];

/// Where programs lie that keep their names.
const PLACES: [&str; 5] = [
    "/bin/",
    "/usr/bin/",
    "/usr/local/bin/",
    "/sbin/",
    "/usr/sbin/",
];

/// Commands of our own that write nothing but the log.
const OWN: [&str; 32] = [
    "ack",
    "api",
    "append",
    "await",
    "bootstrap",
    "can-write",
    "dead-letter",
    "diff",
    "doctor",
    "head",
    "init",
    "mode",
    "nudge",
    "prime",
    "read",
    "ready",
    "replay",
    "send",
    "state",
    "status",
    "tail",
    "task",
    "task-assign",
    "task-update",
    "tasks",
    "team",
    "thread",
    "tick",
    "trace",
    "usage",
    "verify",
    "wait",
];

/// What a program writes.
pub(super) fn run(walker: &mut Walker, words: &[Value], stdin: Option<Stdin>, writes: &mut Writes) {
    let Some((name, words)) = words.split_first() else {
        return;
    };
    let Some(name) = name.plain() else {
        return writes.doubt("which program runs depends on an expansion");
    };
    let name = bare(name);
    if !name.contains('/') && only_asks(words) {
        return;
    }
    let dashed: Vec<Value>;
    let words = match walker.history().dashed {
        true => {
            dashed = words.iter().map(may_be_option).collect();
            &dashed
        }
        false => words,
    };
    let run = Run { name, words, stdin };
    match judge(name) {
        Some(judge) => judge(walker, &run, writes),
        None if matches!(name, "teamlog" | "rcs") => own(words, writes),
        None => writes.doubt(format!("{name} is no program that is known")),
    }
}

/// Whether what a program of this name writes is known without looking at the disk.
pub(super) fn is_known(name: &str) -> bool {
    judge(bare(name)).is_some()
}

fn judge(name: &str) -> Option<Judge> {
    FAMILIES
        .iter()
        .find(|(names, _)| names.contains(&name))
        .map(|(_, judge)| *judge)
}

fn bare(name: &str) -> &str {
    PLACES
        .iter()
        .find_map(|place| name.strip_prefix(place))
        .unwrap_or(name)
}

fn may_be_option(word: &Value) -> Value {
    match word {
        Value::Unknown => Value::Begins("-".to_owned()),
        word => word.clone(),
    }
}

/// Whether a program is only asked what it is.
fn only_asks(words: &[Value]) -> bool {
    matches!(
        words
            .iter()
            .map(Value::plain)
            .collect::<Vec<_>>()
            .as_slice(),
        [Some("--version" | "--help" | "-V")]
    )
}

fn own(words: &[Value], writes: &mut Writes) {
    let elsewhere = words.iter().any(|word| match word {
        Value::Plain(text) | Value::Begins(text) => text.starts_with("--data-root"),
        _ => false,
    });
    match words.first().and_then(Value::plain) {
        None if words.is_empty() => {}
        Some(command) if OWN.contains(&command) && !elsewhere => {}
        _ => writes.doubt("this command of teamlog may write elsewhere than into the log"),
    }
}

/// Everything below what a word names.
fn found_below(start: &Value) -> Value {
    match start {
        Value::Plain(dir) => Value::Below(dir.clone()),
        other => other.clone(),
    }
}

/// The directory that a path lies in.
fn parent(path: &str) -> &str {
    match path.trim_end_matches('/').rsplit_once('/') {
        None => ".",
        Some(("", _)) => "/",
        Some((dir, _)) => dir,
    }
}

/// The last name of a path.
fn last_name(path: &str) -> &str {
    let path = path.trim_end_matches('/');
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

/// A word that a program evaluates as an arithmetic expression may run what stands in an index.
fn doubt_indices(name: &str, words: &[Value], writes: &mut Writes) {
    let mut plain = words.iter().filter_map(Value::plain);
    if plain.any(word::runs_in_index) {
        writes.doubt(format!("{name} may run what stands in an index"));
    }
}
