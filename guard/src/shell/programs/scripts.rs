//! `sed` and `awk`, whose scripts may write and run.

use super::{Run, last_name, parent};
use crate::shell::options::Words;
use crate::shell::walk::Walker;
use crate::shell::word::Value;
use crate::shell::{awk as program, sed as script};
use crate::writes::Writes;

pub(super) fn sed(walker: &mut Walker, _: &Run<'_>, found: &Words<'_>, writes: &mut Writes) {
    let from_file = found.has(&["-f", "--file"]);
    let mut scripts = found.values(&["-e", "--expression"]);
    let mut files = found.operands.as_slice();
    let in_place = found.has(&["-i", "--in-place"]);
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
        if !script.plain().is_some_and(script::only_edits) {
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

pub(super) fn awk(_: &mut Walker, _: &Run<'_>, found: &Words<'_>, writes: &mut Writes) {
    // Without a script before its files, an option brought one.
    let brought = found.has(&["-f", "--file", "-e", "--source"]);
    if brought || !found.first().is_some_and(program::only_prints) {
        writes.doubt("the script of awk may write or run something itself");
    }
}
