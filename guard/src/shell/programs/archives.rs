//! Archives of files: `tar`, `unzip`, `zip`.

use super::{Run, last_name};
use crate::shell::options::Words;
use crate::shell::table::{Effect, Spec};
use crate::shell::walk::Walker;
use crate::shell::word::Value;
use crate::writes::Writes;

pub(super) fn tar(walker: &mut Walker, run: &Run<'_>, writes: &mut Writes) {
    let words = run.words;
    if words.first().is_some_and(|word| word.plain().is_none()) {
        return writes.doubt("what tar does depends on an expansion");
    }
    let words = dashed(words, run.spec);
    let found = Words::of(&words, run.spec);
    found.check(walker, "tar", writes);
    let has = |letter, long| found.has(Some(letter), long);
    let archives = found.values(Some('f'), "--file");
    let remote = |archive: &Value| archive.plain().is_some_and(|path| path.contains(':'));
    if archives.iter().any(remote) && !found.sure(None, "--force-local") {
        writes.doubt("tar reaches another machine by another program");
    }
    if has('x', "--extract") || found.has(None, "--get") {
        if !found.sure(Some('O'), "--to-stdout") {
            let mut dirs = found.values(Some('C'), "--directory");
            dirs.extend(
                found
                    .values(None, "--one-top-level")
                    .into_iter()
                    .map(|_| Value::Plain(".".to_owned())),
            );
            extracts(walker, "tar", &dirs, writes);
        }
        return;
    }
    let changes = has('c', "--create")
        || has('r', "--append")
        || has('u', "--update")
        || has('A', "--catenate")
        || found.has(None, "--concatenate")
        || found.has(None, "--delete");
    for file in archives.iter().filter(|_| changes) {
        if file.plain() != Some("-") {
            walker.target(file, "tar", writes);
        }
    }
}

/// The first word may hold letters without a dash, which take the next words one after the other.
fn dashed(words: &[Value], spec: &Spec) -> Vec<Value> {
    let Some((Value::Plain(letters), rest)) = words.split_first() else {
        return words.to_vec();
    };
    if letters.starts_with('-') || !letters.bytes().all(|byte| byte.is_ascii_alphabetic()) {
        return words.to_vec();
    }
    let mut rest = rest.iter();
    let mut dashed = Vec::new();
    for letter in letters.chars() {
        let option = format!("-{letter}");
        let takes = spec.option(&option).is_some_and(Effect::takes_next);
        dashed.push(Value::Plain(option));
        if takes {
            dashed.extend(rest.next().cloned());
        }
    }
    dashed.extend(rest.cloned());
    dashed
}

/// An archive unpacked below directories, each relative to the one before, or here. It may hold links.
fn extracts(walker: &Walker, name: &str, dirs: &[Value], writes: &mut Writes) {
    let mut inside = walker.clone();
    let mut places = Vec::new();
    let here = [Value::Plain(".".to_owned())];
    for dir in if dirs.is_empty() { &here } else { dirs } {
        match dir {
            Value::Plain(dir) => {
                inside.target_below(dir, name, writes);
                inside.place = inside.place.within(dir);
                places.push(inside.clone());
            }
            other => inside.target(other, name, writes),
        }
    }
    for place in &places {
        place.leads(Some("."), None, false);
    }
    if places.len() < dirs.len() {
        walker.leads(None, None, false);
    }
}

pub(super) fn unzip(walker: &mut Walker, run: &Run<'_>, writes: &mut Writes) {
    let found = Words::of(run.words, run.spec);
    found.check(walker, "unzip", writes);
    let only_shows = ['l', 'p', 't', 'v', 'Z', 'c', 'z'];
    if only_shows
        .into_iter()
        .any(|letter| found.sure(Some(letter), ""))
    {
        return;
    }
    extracts(walker, "unzip", &found.values(Some('d'), ""), writes);
}

/// Letters of `zip` that change nothing about which file it writes.
const ZIP_PLAIN: &str = "rqjuyvDXeg0123456789@";

pub(super) fn zip(walker: &mut Walker, run: &Run<'_>, writes: &mut Writes) {
    let (found, rest) = Words::leading(run.words, run.spec);
    let plain = |name: &str| {
        let mut letters = name.chars().skip(1);
        !name.starts_with("--")
            && letters.all(|letter| ZIP_PLAIN.contains(letter))
            && name.len() > 1
    };
    let behind = Words::of(rest.get(1..).unwrap_or_default(), run.spec);
    let lists = |name: &str| matches!(name, "-x" | "-i" | "--exclude" | "--include");
    let known = found.options.iter().all(|option| plain(&option.name))
        && behind
            .options
            .iter()
            .all(|option| plain(&option.name) || lists(&option.name));
    if !known || rest.iter().any(Value::may_be_option) {
        writes.doubt("zip runs or writes more than its archive");
    }
    match rest.first() {
        None => {}
        Some(Value::Plain(path)) if path == "-" => {}
        Some(Value::Plain(path)) if last_name(path).contains('.') => {
            walker.target(&Value::Plain(path.clone()), "zip", writes);
        }
        Some(Value::Plain(path)) => {
            walker.target(&Value::Plain(format!("{path}.zip")), "zip", writes);
        }
        Some(other) => walker.target(other, "zip", writes),
    }
}
