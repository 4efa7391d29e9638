//! Finds the files that a shell command would write.
//!
//! The command is parsed by the rules of bash. Nothing is run and the disk is not read. A write that is certain becomes a target: for
//! example, a redirection to a file, or an operand that a known program writes. A part is an unknown write if it depends on a variable, on
//! the output of another command, or on an unknown program.

mod arithmetic;
mod awk;
mod cases;
mod descriptors;
mod expansion;
mod history;
mod links;
mod options;
mod programs;
mod query;
mod reach;
mod redirect;
mod sed;
mod step;
mod table;
mod variables;
mod walk;
mod word;

pub(crate) use table::lists;

use crate::known::Programs;
use crate::place::Place;
use crate::writes::{Unknown, Writes};
use links::Follow;
use options::Words;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;
use table::{Note, Operands, Spec, named};
use walk::{Answer, Stdin, Walker};
use word::{Value, ValueKnowledge};

/// Maximum length in bytes of a command that is parsed.
pub const COMMAND_BYTES_MAX: usize = 64 * 1024;
/// Maximum number of brackets and substitutions in a command that is parsed.
const OPENED_MAX: usize = 200;
/// Stack size of the parser, which recurses once per bracket.
const STACK_BYTES: usize = 64 * 1024 * 1024;

/// Time limit for parsing. An agent may treat a missing answer as permission.
const READ_FOR: Duration = Duration::from_secs(2);

/// Returns the writes of a command that a shell runs at `place`. `programs` are known in addition to the table of programs.
pub fn writes(command: &str, place: &Place, programs: &Programs) -> Writes {
    let script = command.to_owned();
    apart(command, place, programs, move |walker| walker.run(&script))
}

/// Returns the writes of a program that runs at `place` with these words, without a shell.
pub fn program_writes(words: &[String], place: &Place, programs: &Programs) -> Writes {
    let values: Vec<_> = words.iter().cloned().map(Value::Plain).collect();
    let look = move |walker: &mut Walker| walker.program(values.clone(), None);
    match words.first().map(String::as_str) {
        // The limits for commands do not apply to a patch.
        Some("apply_patch" | "applypatch") => {
            Walker::new(place.clone(), programs.clone()).whole(look)
        }
        _ => apart(&words.join(" "), place, programs, look),
    }
}

/// Checks the limits, then parses on a separate thread.
fn apart(
    shown: &str,
    place: &Place,
    programs: &Programs,
    look: impl Fn(&mut Walker) + Send + 'static,
) -> Writes {
    if shown.len() > COMMAND_BYTES_MAX {
        return doubted(format!(
            "the command is longer than {COMMAND_BYTES_MAX} bytes"
        ));
    }
    if opened(shown) > OPENED_MAX {
        return doubted(format!(
            "the command has more than {OPENED_MAX} brackets and substitutions"
        ));
    }
    let (place, programs) = (place.clone(), programs.clone());
    let (told, heard) = mpsc::channel();
    let spawned = thread::Builder::new()
        .stack_size(STACK_BYTES)
        .spawn(move || {
            let writes = || Walker::new(place, programs).whole(look);
            if let Ok(writes) = catch_unwind(AssertUnwindSafe(writes)) {
                // Sending fails if parsing exceeded the time limit.
                let _ = told.send(writes);
            }
        });
    match spawned.map(|_| heard.recv_timeout(READ_FOR)) {
        Ok(Ok(writes)) => writes,
        _ => doubted("the command could not be parsed in time".to_owned()),
    }
}

fn doubted(why: String) -> Writes {
    let mut writes = Writes::default();
    writes.add_unknown(why);
    writes
}

/// Returns the number of opening brackets and substitutions. Skips here-documents with a quoted delimiter, because
/// the shell does not parse their text.
fn opened(shown: &str) -> usize {
    let mut end: Option<&str> = None;
    let mut opened = 0;
    for line in shown.lines() {
        match end {
            Some(word) if line.trim_matches('\t') == word => end = None,
            Some(_) => {}
            None => {
                opened += line.bytes().filter(|byte| b"({`[".contains(byte)).count();
                end = here_document(line);
            }
        }
    }
    opened
}

/// Returns the delimiter of the here-document in this line, if there is exactly one and its delimiter is quoted.
fn here_document(line: &str) -> Option<&str> {
    let (before, behind) = line.split_once("<<")?;
    let behind = behind.strip_prefix('-').unwrap_or(behind).trim_start();
    let quote = behind
        .chars()
        .next()
        .filter(|quote| matches!(quote, '\'' | '"'))?;
    let (word, behind) = behind.get(1..)?.split_once(quote)?;
    let plain = !word.is_empty() && !before.contains('#') && !behind.contains("<<");
    plain.then_some(word)
}
