//! The team and the key that an input names, for commands whose words do not: found before the command itself reads the
//! input, and what is taken from standard input for that is given back.

use crate::command::api::recording_input;
use crate::env::ProcessEnv;
use crate::link::Called;
use serde_json::Value;
use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::path::Path;

/// As much as any input may have, and a byte, so that too much is still too much for the command.
const BYTES_MAX: u64 = (8 << 20) + 1;

/// Where an input is.
pub enum Place {
    /// In the words.
    Given(String),
    /// In a file.
    File(String),
    /// On standard input.
    Standard,
}

/// What an input says of itself.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Said {
    /// The team.
    pub team: Option<String>,
    /// Whether there is an idempotency key.
    pub key: bool,
}

/// That of `state`.
pub fn of_state(input: &OsStr, env: ProcessEnv) -> (Said, ProcessEnv) {
    let text = input.to_string_lossy();
    let place = match text.strip_prefix('@') {
        Some(file) => Place::File(file.to_owned()),
        None if text == "-" => Place::Standard,
        None => Place::Given(text.into_owned()),
    };
    said("team", place, env)
}

/// That of an operation, if it is one that records.
pub fn of_operation(words: &[OsString], env: ProcessEnv) -> (Said, ProcessEnv) {
    let called = Called::of(env.program().as_deref());
    match recording_input(words, called) {
        Some(place) => said("team_name", place, env),
        None => (Said::default(), env),
    }
}

fn said(team: &str, place: Place, env: ProcessEnv) -> (Said, ProcessEnv) {
    let (text, env) = match place {
        Place::Given(text) => (Some(text), env),
        Place::File(file) => (of_file(&file), env),
        Place::Standard => {
            let mut bytes = Vec::new();
            // What cannot be read now cannot be read by the command either, which says so.
            let read = env.stdin().take(BYTES_MAX).read_to_end(&mut bytes);
            let whole = read.is_ok_and(|count| (count as u64) < BYTES_MAX);
            let text = String::from_utf8(bytes.clone()).ok();
            (text, env.having_read(bytes, whole))
        }
    };
    let input: Option<Value> = text.and_then(|text| serde_json::from_str(&text).ok());
    let named = |field: &str| input.as_ref()?.get(field)?.as_str().map(str::to_owned);
    let said = Said {
        team: named(team),
        key: named("key").is_some(),
    };
    (said, env)
}

fn of_file(file: &str) -> Option<String> {
    let path = Path::new(file);
    // What is no file may be read only once, and that is for the command to do.
    if !path.metadata().ok()?.is_file() {
        return None;
    }
    let mut text = String::new();
    let file = std::fs::File::open(path).ok()?;
    file.take(BYTES_MAX).read_to_string(&mut text).ok()?;
    Some(text)
}
