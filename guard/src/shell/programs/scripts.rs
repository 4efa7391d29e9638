//! `sed` and `awk`, whose scripts may write and run.

use super::{Run, last_name, parent};
use crate::shell::options::{Takes, Words};
use crate::shell::walk::Walker;
use crate::shell::word::Value;
use crate::shell::{awk, sed};
use crate::writes::Writes;

pub(super) const NAMES: &[&str] = &["sed", "gsed", "awk", "gawk", "mawk", "nawk"];

pub(super) fn run(walker: &mut Walker, run: &Run<'_>, writes: &mut Writes) {
    match run.name {
        "sed" | "gsed" => sed_writes(walker, run.words, writes),
        _ => awk_writes(run.words, writes),
    }
}

fn sed_writes(walker: &Walker, words: &[Value], writes: &mut Writes) {
    let takes = Takes::of("efl", &["--expression", "--file", "--line-length"]).maybe("i");
    let found = Words::of(words, takes);
    let from_file = found.has(Some('f'), "--file");
    if from_file {
        writes.doubt("sed runs a script from a file");
    }
    let mut scripts = found.values(Some('e'), "--expression");
    let mut files = found.operands.as_slice();
    let in_place = found.has(Some('i'), "--in-place");
    if scripts.is_empty() && !from_file {
        // Where the suffix of a copy is a word of its own, that may be empty.
        if let (true, [first, rest @ ..]) = (in_place, files)
            && first.plain() == Some("")
            && rest.len() > 1
        {
            files = rest;
        }
        if let Some((script, rest)) = files.split_first() {
            scripts.push((*script).clone());
            files = rest;
        }
    }
    for script in &scripts {
        if !script.plain().is_some_and(sed::only_edits) {
            writes.doubt("the script of sed may write or run something itself");
        }
    }
    if in_place {
        let copies = found.options.iter().filter(|option| {
            option.name == "-i" || (option.name.len() > 2 && "--in-place".starts_with(&option.name))
        });
        let copies: Vec<Value> = copies.filter_map(|option| option.value.clone()).collect();
        for file in files {
            walker.target(file, "sed -i", writes);
            for copy in &copies {
                walker.target(&kept(file, copy), "sed -i", writes);
            }
        }
    }
}

/// Where `sed -iSUFFIX` keeps what a file was.
fn kept(file: &Value, suffix: &Value) -> Value {
    match (file, suffix) {
        (Value::Plain(file), Value::Plain(suffix)) => {
            let name = match suffix.contains('*') {
                true => suffix.replace('*', last_name(file)),
                false => format!("{}{suffix}", last_name(file)),
            };
            match (name.contains('/'), parent(file)) {
                (true, _) | (_, ".") => Value::Plain(name),
                (false, dir) => Value::Plain(format!("{dir}/{name}")),
            }
        }
        (Value::Below(dir), Value::Plain(suffix)) if !suffix.contains('/') => {
            Value::Below(dir.clone())
        }
        _ => Value::Unknown,
    }
}

fn awk_writes(words: &[Value], writes: &mut Writes) {
    let (found, rest) = Words::leading(words, Takes::of("Fv", &["--field-separator", "--assign"]));
    let plain = |name: &str| {
        matches!(
            name,
            "-F" | "-v" | "--field-separator" | "--assign" | "--csv"
        )
    };
    let script = rest.first().and_then(Value::plain);
    let known = found.options.iter().all(|option| plain(&option.name));
    if !known || !script.is_some_and(awk::only_prints) {
        writes.doubt("the script of awk may write or run something itself");
    }
}
