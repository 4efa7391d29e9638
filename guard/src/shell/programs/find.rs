//! `find` and `fd`, which remove what they find or run programs for it.

use super::{Run, found_below};
use crate::shell::options::Words;
use crate::shell::table::Spec;
use crate::shell::walk::{Stdin, Walker};
use crate::shell::word::Value;
use crate::writes::Writes;

/// The options before the starts, and what stands behind them.
fn behind_options(mut words: &[Value]) -> (bool, &[Value]) {
    let mut through = false;
    while let Some((word, rest)) = words.split_first() {
        words = match word.plain() {
            Some("-H" | "-L") => {
                through = true;
                rest
            }
            Some("-P" | "--") => rest,
            Some("-D") => rest.get(1..).unwrap_or_default(),
            Some(option) if option.starts_with("-O") => rest,
            _ => break,
        };
    }
    (through, words)
}

pub(super) fn find(walker: &mut Walker, run: &Run<'_>, _: &Words<'_>, writes: &mut Writes) {
    let words = run.words;
    let (mut through, words) = behind_options(words);
    let is_test = |word: &Value| match word {
        Value::Plain(text) => text.starts_with(['-', '(', ')', '!', ',']),
        Value::Begins(text) => text.starts_with('-'),
        _ => false,
    };
    let starts: Vec<&Value> = words.iter().take_while(|word| !is_test(word)).collect();
    let mut below: Vec<Value> = match starts.is_empty() {
        true => vec![Value::Below(".".to_owned())],
        false => starts.into_iter().map(found_below).collect(),
    };
    let has = |name: &str| words.iter().any(|word| word.plain() == Some(name));
    through |= has("-follow");
    if through || has("-files0-from") {
        // Where it finds something, only the disk tells.
        below.push(Value::Unknown);
    }
    let mut rest = words;
    while let Some((word, behind)) = rest.split_first() {
        rest = behind;
        match word {
            Value::Plain(text) if text.starts_with('-') && text.len() > 1 => {
                test(walker, text, behind, &below, writes);
                rest = behind_test(run.spec, text, behind, writes);
            }
            word if word.may_be_option() => {
                writes.doubt("what find does depends on an expansion");
            }
            _ => {}
        }
    }
}

/// What stands behind a test and its value.
fn behind_test<'a>(spec: &Spec, name: &str, rest: &'a [Value], writes: &mut Writes) -> &'a [Value] {
    let Some(effect) = spec.option(name) else {
        if !matches!(name, "--help" | "--version") {
            writes.doubt(format!("{name} is no test of find that is known"));
        }
        return rest;
    };
    if matches!(name, "-exec" | "-execdir" | "-ok" | "-okdir") {
        let end = rest
            .iter()
            .position(|word| matches!(word.plain(), Some(";" | "+")));
        return end.and_then(|end| rest.get(end..)).unwrap_or_default();
    }
    match effect.takes_next() && rest.first().is_some_and(|value| !value.may_be_option()) {
        true => rest.get(1..).unwrap_or_default(),
        false => rest,
    }
}

fn test(walker: &Walker, name: &str, rest: &[Value], below: &[Value], writes: &mut Writes) {
    match name {
        "-delete" => {
            for dir in below {
                walker.tree(dir, "find -delete", writes);
            }
        }
        "-fprint" | "-fprint0" | "-fprintf" | "-fls" => match rest.first() {
            Some(file) => walker.target(file, "find -fprint", writes),
            None => writes.doubt("find -fprint names no file"),
        },
        "-exec" | "-ok" => executed(walker, rest, below, writes),
        "-execdir" | "-okdir" => {
            // By absolute paths, since it runs where the file lies.
            let below: Vec<Value> = below.iter().map(|dir| absolute(walker, dir)).collect();
            let mut away = walker.clone();
            away.place = away.place.nowhere();
            executed(&away, rest, &below, writes);
        }
        _ => {}
    }
}

fn absolute(walker: &Walker, dir: &Value) -> Value {
    match dir {
        Value::Below(dir) => walker
            .place
            .resolve(dir)
            .map_or(Value::Unknown, Value::Below),
        other => other.clone(),
    }
}

/// What is run for what was found, which lies below the starts.
fn executed(walker: &Walker, words: &[Value], below: &[Value], writes: &mut Writes) {
    let words: Vec<&Value> = words
        .iter()
        .take_while(|word| !matches!(word.plain(), Some(";" | "+")))
        .collect();
    for dir in below {
        let filled = words
            .iter()
            .map(|word| match word.plain() {
                Some("{}") => dir.clone(),
                Some(text) if text.contains('{') && text.contains('}') => Value::Unknown,
                _ => (*word).clone(),
            })
            .collect();
        walker.clone().program(filled, Some(Stdin::Other), writes);
    }
}

/// It only searches, unless it is told to run something for what it finds, wherever that is.
pub(super) fn fd(walker: &mut Walker, run: &Run<'_>, _: &Words<'_>, writes: &mut Writes) {
    let words = run.words;
    let runs = |word: &Value| {
        word.plain()
            .is_some_and(|text| matches!(text, "-x" | "-X" | "--exec" | "--exec-batch"))
    };
    let end = words.iter().position(runs).unwrap_or(words.len());
    let (own, inner) = words.split_at_checked(end).unwrap_or((words, &[]));
    Words::anywhere(own, run.spec).check(run.name, writes);
    if let Some((_, inner)) = inner.split_first() {
        let mut inner = inner.to_vec();
        inner.push(Value::Plain("{}".to_owned()));
        executed(walker, &inner, &[Value::Unknown], writes);
    }
}
