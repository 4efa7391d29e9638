//! Programs that make the words of another one: `env` and `xargs`.

use super::Run;
use crate::shell::options::{Opt, Words};
use crate::shell::walk::{Stdin, Walker};
use crate::shell::word::Value;
use crate::writes::Writes;

pub(super) fn env(walker: &mut Walker, run: &Run<'_>, found: &Words<'_>, writes: &mut Writes) {
    let mut inner = words(found);
    if inner.first().and_then(Value::plain) == Some("-") {
        inner.remove(0);
    }
    let inner = behind_assignments(walker, inner, writes);
    super::run(&mut walker.clone(), &inner, run.stdin.clone(), writes);
}

pub(super) fn xargs(walker: &mut Walker, _: &Run<'_>, found: &Words<'_>, writes: &mut Writes) {
    let mut inner = words(found);
    if !inner.is_empty() {
        fill(&mut inner, found);
    }
    super::run(&mut walker.clone(), &inner, Some(Stdin::Other), writes);
}

fn words(found: &Words<'_>) -> Vec<Value> {
    found.operands.iter().map(|word| (*word).clone()).collect()
}

/// The program behind the variables that `env` sets.
fn behind_assignments(walker: &Walker, mut words: Vec<Value>, writes: &mut Writes) -> Vec<Value> {
    loop {
        match words.first() {
            Some(Value::Plain(word)) if word.contains('=') => {
                let (name, value) = word.split_once('=').unwrap_or((word, ""));
                walker.variable(name, Some(value), writes);
            }
            Some(Value::Begins(word)) if word.ends_with('=') => {
                walker.variable(word.trim_end_matches('='), None, writes);
            }
            _ => return words,
        }
        words.remove(0);
    }
}

/// What `xargs` reads stands at the end, or in the place of a text.
fn fill(inner: &mut Vec<Value>, options: &Words<'_>) {
    let replaces = |name: &str| matches!(name, "-I" | "-i" | "-J" | "--replace" | "");
    let marks: Vec<String> = options
        .options
        .iter()
        .filter(|option| replaces(&option.name) || "--replace".starts_with(&option.name))
        .map(|option| match &option.value {
            Some(Value::Plain(mark)) => mark.clone(),
            Some(_) => String::new(),
            None => "{}".to_owned(),
        })
        .collect();
    // Of those that say how words are taken, the last counts.
    let at_end = |option: &Opt| {
        matches!(
            option.name.as_str(),
            "-n" | "-L" | "-l" | "--max-args" | "--max-lines"
        )
    };
    if marks.is_empty() || options.options.iter().any(at_end) {
        inner.push(Value::Unknown);
    }
    for word in inner {
        let text = match word {
            Value::Plain(text) => text.as_str(),
            _ => continue,
        };
        let Some(at) = marks
            .iter()
            .filter_map(|mark| text.find(mark.as_str()))
            .min()
        else {
            continue;
        };
        let sure = text.get(..at).filter(|sure| sure.starts_with('-'));
        *word = match sure {
            Some(sure) => Value::Begins(sure.to_owned()),
            None => Value::Unknown,
        };
    }
}
