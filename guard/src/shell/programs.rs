//! What the arguments of a known program say of what it writes: the table says it, or the rule that it names.

mod archives;
mod builtins;
mod copies;
mod find;
mod git_config;
mod own;
mod pack;
mod patches;
mod scripts;
mod shells;
mod steps;
mod wrappers;

pub(super) use copies::Kind;
pub(super) use steps::Check;

use super::options::Words;
use super::table::{self, Operands, Spec};
use super::walk::{Stdin, Walker};
use super::word::{self, Value};
use crate::writes::Writes;

/// A program with what it is given.
pub(super) struct Run<'a> {
    pub name: &'a str,
    pub spec: &'a Spec,
    pub words: &'a [Value],
    pub stdin: Option<Stdin>,
}

/// Code that reads the words of a program.
pub(super) type Rule = fn(&mut Walker, &Run<'_>, &Words<'_>, &mut Writes);

/// The rules that the table names.
static RULES: [(&str, Rule); 11] = [
    ("awk", scripts::awk),
    ("builtin", builtins::run),
    ("env", wrappers::env),
    ("envelope", patches::envelope),
    ("fd", find::fd),
    ("find", find::find),
    ("git-config", git_config::run),
    ("pager", pager),
    ("sed", scripts::sed),
    ("shell", shells::run),
    ("xargs", wrappers::xargs),
];

/// The rule of that name, with it.
pub(super) fn rule(name: &str) -> Option<&'static (&'static str, Rule)> {
    RULES.iter().find(|(known, _)| *known == name)
}

/// Where programs lie that keep their names.
const PLACES: [&str; 5] = [
    "/bin/",
    "/usr/bin/",
    "/usr/local/bin/",
    "/sbin/",
    "/usr/sbin/",
];

/// What a program writes.
pub(super) fn run(walker: &mut Walker, words: &[Value], stdin: Option<Stdin>, writes: &mut Writes) {
    let Some((name, arguments)) = words.split_first() else {
        return;
    };
    let Some(name) = name.plain() else {
        return writes.doubt("which program runs depends on an expansion");
    };
    let bare = bare(name);
    match table::spec(bare).filter(|_| !bare.contains([' ', '@'])) {
        Some(_) if only_asks(arguments) => {}
        Some(spec) => {
            let run = Run {
                name: bare,
                spec,
                words: arguments,
                stdin,
            };
            judge(walker, &run, writes);
        }
        None if matches!(bare, "teamlog" | "rcs") => own::run(walker, arguments, writes),
        None => unknown(walker, bare, arguments, writes),
    }
}

/// What the table says.
fn judge(walker: &mut Walker, run: &Run<'_>, writes: &mut Writes) {
    match run.spec.operands {
        Operands::Ask => asks(walker, run, writes),
        _ => steps::run(walker, run, writes),
    }
}

/// A pager may be told to begin with a command that does more than go to a line.
fn pager(_: &mut Walker, run: &Run<'_>, _: &Words<'_>, writes: &mut Writes) {
    let goes = |letter: char| letter.is_ascii_digit() || matches!(letter, 'G' | 'F' | '+');
    let is_command = |word: &str| word.starts_with('+') && !word.chars().all(goes);
    if run.words.iter().filter_map(Value::plain).any(is_command) {
        writes.doubt(format!("{} runs commands of its own", run.name));
    }
}

/// Nobody can tell what it does, unless it is only asked what it is.
fn asks(walker: &Walker, run: &Run<'_>, writes: &mut Writes) {
    let only_option = match run.words {
        [Value::Plain(word)] => run.spec.option(word).is_some(),
        _ => false,
    };
    if !only_option {
        unknown(walker, run.name, run.words, writes);
    }
}

/// A program of which the table says nothing, but the team may.
fn unknown(walker: &Walker, name: &str, arguments: &[Value], writes: &mut Writes) {
    let words: Vec<Option<&str>> = name
        .split(' ')
        .map(Some)
        .chain(arguments.iter().map(Value::plain))
        .collect();
    if !walker.programs.trusts(&words) {
        return writes.doubt(format!("what {name} writes is not known"));
    }
    for argument in arguments {
        if !stays_inside(walker, argument) {
            return writes.doubt(format!(
                "{name} is trusted in the repository, and an argument may lead out of it"
            ));
        }
    }
}

/// Whether an argument names nothing outside of the repository, by its text.
fn stays_inside(walker: &Walker, argument: &Value) -> bool {
    let (Value::Plain(text) | Value::Below(text) | Value::Begins(text)) = argument else {
        return false;
    };
    // Behind an equals sign or a colon may stand a path as well.
    let known = !matches!(argument, Value::Begins(_));
    known
        && text.split(['=', ':', ',']).all(|part| {
            let names_place = part.starts_with('/') || part.split('/').any(|name| name == "..");
            !names_place || walker.place.holds(part)
        })
}

/// Whether what a program of this name writes is known without looking at the disk.
pub(super) fn is_known(name: &str) -> bool {
    table::spec(bare(name)).is_some() && !name.contains([' ', '@'])
}

fn bare(name: &str) -> &str {
    PLACES
        .iter()
        .find_map(|place| name.strip_prefix(place))
        .unwrap_or(name)
}

/// Whether a program is only asked what it is.
fn only_asks(words: &[Value]) -> bool {
    matches!(words, [word] if matches!(word.plain(), Some("--version" | "--help")))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_that_the_table_names_is_there_and_is_named() {
        let mut named: Vec<&str> = table::rules().collect();
        named.sort();
        named.dedup();
        let rules: Vec<&str> = RULES.iter().map(|(name, _)| *name).collect();
        assert_eq!(named, rules);
    }
}
