//! `find` and `fd`, which remove what they find or run programs for it.

use super::{Run, found_below};
use crate::shell::walk::{Stdin, Walker};
use crate::shell::word::Value;
use crate::writes::Writes;

pub(super) const NAMES: &[&str] = &["find", "fd"];

pub(super) fn run(walker: &mut Walker, run: &Run<'_>, writes: &mut Writes) {
    match run.name {
        "find" => find(walker, run.words, writes),
        _ => fd(walker, run.words, writes),
    }
}

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

fn find(walker: &mut Walker, words: &[Value], writes: &mut Writes) {
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
    for (at, word) in words.iter().enumerate() {
        let rest = words.get(at + 1..).unwrap_or_default();
        match word {
            Value::Begins(text) if text.starts_with('-') => {
                writes.doubt("what find does depends on an expansion")
            }
            Value::Plain(text) => test(walker, text, rest, &below, writes),
            _ => {}
        }
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
fn fd(walker: &Walker, words: &[Value], writes: &mut Writes) {
    let runs = |option: &str| {
        option.starts_with("--exe")
            || (!option.starts_with("--") && option.starts_with('-') && option.contains(['x', 'X']))
    };
    for (at, word) in words.iter().enumerate() {
        match word {
            Value::Plain(text) if runs(text) => {
                let mut inner = words.get(at + 1..).unwrap_or_default().to_vec();
                if !matches!(text.as_str(), "-x" | "-X" | "--exec" | "--exec-batch") {
                    writes.doubt("fd runs something in another way than its words say");
                }
                inner.push(Value::Plain("{}".to_owned()));
                executed(walker, &inner, &[Value::Unknown], writes);
                return;
            }
            Value::Begins(text) if text.starts_with('-') => {
                writes.doubt("what fd does depends on an expansion")
            }
            _ => {}
        }
    }
}
