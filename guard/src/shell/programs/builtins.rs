//! What the shell does itself: directories, variables, and scripts that it runs now or later.

use super::Run;
use crate::shell::options::Words;
use crate::shell::walk::Walker;
use crate::shell::word::{self, Value};
use crate::writes::Writes;

pub(super) fn run(walker: &mut Walker, run: &Run<'_>, found: &Words<'_>, writes: &mut Writes) {
    match run.name {
        "cd" | "pushd" | "popd" => cd(walker, run.name, found, writes),
        "eval" => eval(walker, run.words, writes),
        "trap" => trap(walker, run.words, writes),
        "set" => set(run.words, writes),
        _ => declares(walker, run.name, found, writes),
    }
}

/// `export`, `declare` and the like.
fn declares(walker: &Walker, name: &str, found: &Words<'_>, writes: &mut Writes) {
    if name != "export" && found.has(&["-n"]) {
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

fn cd(walker: &mut Walker, name: &str, found: &Words<'_>, writes: &mut Writes) {
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
