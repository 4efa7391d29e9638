//! Finds the files that a shell command would write.
//!
//! The command is parsed as bash would parse it; nothing is run and the disk is not read. A certain write is a target:
//! a redirection to a name, an operand of a program that is known to write it. A part that depends on a variable, on
//! the output of another command or on an unknown program is a doubt.

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
use crate::writes::{Doubt, Writes};
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
use word::{Known, Value};

/// Longest command that is parsed.
pub const COMMAND_BYTES_MAX: usize = 64 * 1024;
/// Most brackets and substitutions of a command that is parsed.
const OPENED_MAX: usize = 200;
/// Stack of the parser, which recurses once per bracket.
const STACK_BYTES: usize = 64 * 1024 * 1024;

/// Time limit of parsing. The agent waits for the answer, and may take a missing answer for a permission.
const READ_FOR: Duration = Duration::from_secs(2);

/// Returns the writes of a command, run by a shell at `place`; `programs` are known beside those of the table.
pub fn writes(command: &str, place: &Place, programs: &Programs) -> Writes {
    let script = command.to_owned();
    apart(command, place, programs, move |walker| walker.run(&script))
}

/// Returns the writes of a program with these arguments, run at `place` without a shell.
pub fn program_writes(words: &[String], place: &Place, programs: &Programs) -> Writes {
    let values: Vec<_> = words.iter().cloned().map(Value::Plain).collect();
    let look = move |walker: &mut Walker| walker.program(values.clone(), None);
    match words.first().map(String::as_str) {
        // A patch is no command, so the limits on commands do not apply.
        Some("apply_patch" | "applypatch") => {
            Walker::new(place.clone(), programs.clone()).whole(look)
        }
        _ => apart(&words.join(" "), place, programs, look),
    }
}

/// Checks the limits, then parses on a thread of its own.
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
                // The receiver is gone if parsing took too long.
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
    writes.doubt(why);
    writes
}

/// Returns the number of brackets and substitutions that are opened. Skips here-documents with a quoted end, since they
/// are not parsed.
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

/// Returns the word that ends the here-document of this line, if it is quoted and the only one.
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
