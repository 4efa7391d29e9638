//! Programs that run what their operands say.

use super::Run;
use crate::shell::options::{Opt, Words};
use crate::shell::variables;
use crate::shell::walk::{Stdin, Walker};
use crate::shell::word::Value;
use crate::writes::Writes;

pub(super) fn run(walker: &mut Walker, run: &Run<'_>, writes: &mut Writes) {
    let name = run.name;
    let (found, rest) = Words::leading(run.words, run.spec);
    found.check(walker, name, writes);
    if name == "command" && (found.sure(Some('v'), "") || found.sure(Some('V'), "")) {
        return;
    }
    if changes_more(walker, name, &found, writes) {
        return;
    }
    let skip = usize::from(name == "timeout");
    if rest.iter().take(skip).any(Value::may_be_option) {
        writes.doubt(format!("which program {name} runs depends on an expansion"));
    }
    let mut inner = rest.get(skip..).unwrap_or_default().to_vec();
    if name == "env" {
        if inner.first().and_then(Value::plain) == Some("-") {
            inner.remove(0);
        }
        inner = behind_assignments(walker, inner, writes);
    }
    if inner.is_empty() {
        return;
    }
    let mut stdin = run.stdin.clone();
    if name == "xargs" {
        fill(&mut inner, &found);
        stdin = Some(Stdin::Other);
    }
    let mut inside = walker.clone();
    // None of them sees the functions of the shell.
    super::run(&mut inside, &inner, stdin, writes);
    if matches!(name, "command" | "builtin") {
        walker.place = inside.place;
    }
}

/// What the options do beside; whether nothing else can be told.
fn changes_more(walker: &Walker, name: &str, found: &Words<'_>, writes: &mut Writes) -> bool {
    let has = |letter, long| found.has(Some(letter), long);
    let lost = match name {
        "sudo" | "doas" => {
            has('s', "--shell")
                || has('i', "--login")
                || has('e', "--edit")
                || has('D', "--chdir")
                || has('R', "--chroot")
        }
        "env" => {
            let unset = found.values(Some('u'), "--unset");
            let changes = |value: &Value| {
                value
                    .plain()
                    .is_none_or(|name| variables::changes(name, None))
            };
            has('S', "--split-string") || has('C', "--chdir") || unset.iter().any(changes)
        }
        "xargs" => found.has(None, "--process-slot-var"),
        "time" => {
            for file in found.values(Some('o'), "--output") {
                walker.target(&file, "time", writes);
            }
            false
        }
        _ => found.options.iter().any(|option| option.name.is_empty()),
    };
    if lost {
        writes.doubt(format!(
            "{name} runs something in another way than its words say"
        ));
    }
    lost
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
