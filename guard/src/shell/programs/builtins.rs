//! What the shell does itself: directories, variables, and scripts that it runs now or later.

use super::Run;
use crate::shell::options::Words;
use crate::shell::walk::{Stdin, Walker};
use crate::shell::word::{self, Value};
use crate::writes::Writes;

/// Options of `shopt` that change neither how a command is read nor where it runs.
const SHOPT: [&str; 10] = [
    "globstar",
    "nullglob",
    "dotglob",
    "extglob",
    "failglob",
    "nocaseglob",
    "nocasematch",
    "inherit_errexit",
    "checkwinsize",
    "histappend",
];

pub(super) fn run(walker: &mut Walker, run: &Run<'_>, writes: &mut Writes) {
    let Run {
        name, words, stdin, ..
    } = run;
    match *name {
        "cd" | "pushd" | "popd" => cd(walker, run, writes),
        "eval" => eval(walker, words, writes),
        "trap" => trap(walker, words, writes),
        "alias" if words.is_empty() => {}
        "alias" => writes.doubt("an alias changes what later words run"),
        "hash" if words.iter().all(|word| word.plain() == Some("-r")) => {}
        "hash" => writes.doubt("hash changes which programs run"),
        "set" => set(words, writes),
        "shopt" => shopt(words, writes),
        "echo" => {}
        "printf" => {
            let (found, _) = Words::leading(words, run.spec);
            named(walker, &found.values(Some('v'), ""), writes);
        }
        "read" | "mapfile" | "readarray" | "getopts" | "unset" => {
            if let Some(Stdin::Text(text)) = stdin
                && word::runs_in_index(text)
            {
                writes.doubt(format!("{name} is given what may run as an index"));
            }
            reads(walker, run, writes);
        }
        _ => declares(walker, run, writes),
    }
    let evaluates = !matches!(*name, "echo" | "eval" | "trap");
    if evaluates {
        super::doubt_indices(name, words, writes);
    }
}

/// Variables that are given something nobody knows.
fn named(walker: &Walker, names: &[Value], writes: &mut Writes) {
    for name in names {
        match name.plain() {
            Some(name) => {
                walker.variable(name, None, writes);
                walker.remember().gives(name, word::Known::Nothing);
            }
            None => writes.doubt("which variable is set depends on an expansion"),
        }
    }
}

fn reads(walker: &Walker, run: &Run<'_>, writes: &mut Writes) {
    let name = run.name;
    let found = Words::of(run.words, run.spec);
    found.check(walker, name, writes);
    if matches!(name, "mapfile" | "readarray") && found.has(Some('C'), "") {
        writes.doubt(format!("{name} runs another program"));
    }
    let mut names: Vec<Value> = found.operands.into_iter().cloned().collect();
    match name {
        "read" => names.extend(
            found
                .options
                .iter()
                .filter(|o| o.name == "-a")
                .filter_map(|o| o.value.clone()),
        ),
        // The first operand of it is a list of letters.
        "getopts" if !names.is_empty() => {
            names.remove(0);
        }
        _ => {}
    }
    named(walker, &names, writes);
}

/// `export`, `declare` and the like.
fn declares(walker: &Walker, run: &Run<'_>, writes: &mut Writes) {
    let name = run.name;
    let found = Words::of(run.words, run.spec);
    found.check(walker, name, writes);
    if name != "export" && found.has(Some('n'), "") {
        writes.doubt(format!("{name} gives another name to a variable"));
    }
    for word in &found.operands {
        match word {
            Value::Plain(text) => {
                let (variable, value) = text.split_once('=').unwrap_or((text, ""));
                // Only an export of one that was set before has no value here.
                walker.variable(variable, (!value.is_empty()).then_some(value), writes);
                if text.contains('=') {
                    let known = word::known(&Value::Plain(value.to_owned()));
                    walker.remember().gives(variable, known);
                }
            }
            // What is not known of it was told where the word was read.
            Value::Begins(text) if text.ends_with('=') => {}
            _ => writes.doubt("which variable is set depends on an expansion"),
        }
    }
}

fn set(words: &[Value], writes: &mut Writes) {
    let mut options = true;
    for word in words {
        match word {
            Value::Plain(text) if options && text == "--" => options = false,
            Value::Plain(text) if options && text == "keyword" => {
                writes.doubt("set -k changes what is an assignment");
            }
            Value::Plain(text) if options && text.starts_with(['-', '+']) && text.contains('k') => {
                writes.doubt("set -k changes what is an assignment");
            }
            _ => {}
        }
    }
}

fn shopt(words: &[Value], writes: &mut Writes) {
    let mut plain = words.iter().map(Value::plain);
    let known = |word: Option<&str>| {
        word.is_some_and(|word| matches!(word, "-s" | "-u" | "-q" | "-p") || SHOPT.contains(&word))
    };
    if !plain.all(known) {
        writes.doubt("shopt changes how commands are read");
    }
}

fn cd(walker: &mut Walker, run: &Run<'_>, writes: &mut Writes) {
    let name = run.name;
    let found = Words::of(run.words, run.spec);
    found.check(walker, name, writes);
    // Without links a `..` leads to what only the disk tells, and a number turns the stack around.
    let by_text = found.options.iter().all(|option| option.name == "-L");
    let plain = |dir: &str| !dir.is_empty() && dir != "-" && !dir.starts_with('+');
    walker.place = match (name, found.operands.as_slice()) {
        ("cd" | "pushd", [Value::Plain(dir)])
            if plain(dir) && (by_text || (name == "cd" && !dir.contains(".."))) =>
        {
            walker.place.within(dir)
        }
        _ => walker.place.nowhere(),
    };
    let traps = walker.history().traps.clone();
    for trap in traps {
        walker.run_apart(&trap, writes);
    }
}

fn eval(walker: &mut Walker, words: &[Value], writes: &mut Writes) {
    match words.iter().map(Value::plain).collect::<Option<Vec<_>>>() {
        Some(words) => walker.run(&words.join(" "), writes),
        None => writes.doubt("eval runs what an expansion says"),
    }
}

fn trap(walker: &Walker, words: &[Value], writes: &mut Writes) {
    let words = match words.first().and_then(Value::plain) {
        Some("--") => words.get(1..).unwrap_or_default(),
        _ => words,
    };
    match words.first().map(Value::plain) {
        None | Some(Some("-l" | "-p" | "-" | "")) => {}
        Some(Some(script)) => {
            {
                let mut history = walker.remember();
                history.concurrent = true;
                if !history.traps.iter().any(|known| known == script) {
                    history.traps.push(script.to_owned());
                }
            }
            walker.run_apart(script, writes);
        }
        Some(None) => writes.doubt("trap runs what an expansion says"),
    }
}
