//! The name under which the program was called, and argv in normal form.
//!
//! If the program is called through a link named `rcs`, `rcs team api …` means `api …`, `rcs team await …` means `await …`,
//! and `rcs state …` means `state …`. Printed commands also work without the link, because `teamlog team api …` and
//! `teamlog team await …` are accepted too. The words after `api` have their own grammar and their usage errors are JSON
//! answers, so global options among them are moved to the front.

use std::ffi::{OsStr, OsString};
use std::path::Path;

const LINK: &str = "rcs";
/// Subcommand whose arguments clap does not parse.
const API: &str = "api";
/// Subcommand whose callers know only exit code 1 for a refusal.
const STATE: &str = "state";
/// Word before a command of the link, and the commands that may follow it.
const TEAM: &str = "team";
const IN_TEAM: [&str; 2] = [API, "await"];
/// Global options without a value, and global options with a value.
const FLAGS: [&str; 1] = ["--json"];
const WITH_VALUE: [&str; 5] = [
    "--data-root",
    "--as",
    "--actor",
    "--lock-timeout",
    "--last-receipt",
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Called {
    Teamlog,
    Rcs,
}

impl Called {
    pub fn from_program(program: Option<&OsStr>) -> Called {
        let name = program.and_then(|program| Path::new(program).file_stem());
        match name.is_some_and(|name| name == LINK) {
            true => Called::Rcs,
            false => Called::Teamlog,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Called::Teamlog => "teamlog",
            Called::Rcs => LINK,
        }
    }

    pub fn words(self, command: &str) -> String {
        match self {
            Called::Teamlog => format!("teamlog {command}"),
            Called::Rcs => format!("rcs team {command}"),
        }
    }
}

/// Returns true if the first word after the global options is `api`.
pub fn is_api(argv: &[OsString]) -> bool {
    place_of(API, argv).is_some()
}

/// Returns true if the first word after the global options is `state`.
pub fn is_state(argv: &[OsString]) -> bool {
    place_of(STATE, argv).is_some()
}

/// Returns argv without the words that only the link uses, and with global options moved before `api`.
pub fn arranged(argv: Vec<OsString>) -> Vec<OsString> {
    let called = Called::from_program(argv.first().map(OsString::as_os_str));
    let argv = match called {
        Called::Teamlog => argv,
        Called::Rcs => without_link(argv),
    };
    let argv = without_team(argv, called);
    match place_of(API, &argv) {
        Some(place) => with_globals_first(&argv, place),
        None => argv,
    }
}

/// Removes options that have no meaning here, and replaces the program's name.
fn without_link(argv: Vec<OsString>) -> Vec<OsString> {
    let words = argv.into_iter().skip(1).filter(|word| !is_worktree(word));
    [OsString::from("teamlog")]
        .into_iter()
        .chain(words)
        .collect()
}

/// Converts `team api` into `api` and `team await` into `await`. The parser reports any other word after `team`.
fn without_team(mut argv: Vec<OsString>, called: Called) -> Vec<OsString> {
    let place = behind_globals(&argv);
    let next = |at: usize| argv.get(at + 1).and_then(|word| word.to_str());
    let known =
        |at: &usize| called == Called::Rcs || next(*at).is_some_and(|word| IN_TEAM.contains(&word));
    let is_team = |at: &usize| argv.get(*at).is_some_and(|word| word == TEAM);
    if let Some(at) = place.filter(is_team).filter(known) {
        argv.remove(at);
    }
    argv
}

/// Returns true for an option that callers of the link may send and that has no effect.
fn is_worktree(word: &OsStr) -> bool {
    let bytes = word.as_encoded_bytes();
    bytes == b"--worktree"
        || bytes.starts_with(b"--worktree=")
        || (bytes.starts_with(b"-w") && !bytes.starts_with(b"--"))
}

fn place_of(command: &str, argv: &[OsString]) -> Option<usize> {
    behind_globals(argv).filter(|at| argv.get(*at).is_some_and(|word| word == command))
}

/// Returns the index of the first word that is no global option.
fn behind_globals(argv: &[OsString]) -> Option<usize> {
    let mut at = 1;
    while let Some(word) = argv.get(at) {
        at += match width(word) {
            Some(width) => width,
            None if word == "--receipt" => 1,
            None => return Some(at),
        };
    }
    None
}

/// Returns the number of words of a global option, or `None` if the word is no global option.
fn width(word: &OsStr) -> Option<usize> {
    let with_value = |flag: &&str| {
        let bytes = word.as_encoded_bytes();
        bytes
            .strip_prefix(flag.as_bytes())
            .is_some_and(|rest| rest.starts_with(b"="))
    };
    if FLAGS.iter().any(|flag| word == *flag) || WITH_VALUE.iter().any(with_value) {
        return Some(1);
    }
    WITH_VALUE.iter().any(|flag| word == *flag).then_some(2)
}

fn with_globals_first(argv: &[OsString], place: usize) -> Vec<OsString> {
    let (before, behind) = argv.split_at(place);
    let mut arranged = before.to_vec();
    let mut words = Vec::new();
    let mut rest = behind.iter().skip(1);
    while let Some(word) = rest.next() {
        match width(word) {
            // The word after this option is its value, even if it looks like an option.
            None if word == "--input" => {
                words.push(word.clone());
                words.extend(rest.next().cloned());
            }
            None => words.push(word.clone()),
            Some(1) => arranged.push(word.clone()),
            Some(_) => {
                arranged.push(word.clone());
                arranged.extend(rest.next().cloned());
            }
        }
    }
    arranged.push(API.into());
    arranged.push("--".into());
    arranged.extend(words);
    arranged
}

#[cfg(test)]
mod tests {
    use super::*;

    fn argv(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn the_link_is_a_name_of_the_program() {
        for (line, meant) in [
            (
                "/usr/bin/rcs team api read-task",
                "teamlog api -- read-task",
            ),
            ("rcs team await demo", "teamlog await demo"),
            ("rcs -w team api x", "teamlog api -- x"),
            (
                "rcs team --worktree=a api x --json",
                "teamlog --json api -- x",
            ),
            ("rcs status demo", "teamlog status demo"),
            (
                "rcs state read --mode team",
                "teamlog state read --mode team",
            ),
            ("teamlog team api read-task", "teamlog api -- read-task"),
            (
                "teamlog --data-root /r team api read-task --json",
                "teamlog --data-root /r --json api -- read-task",
            ),
            (
                "rcs --data-root /r team await demo",
                "teamlog --data-root /r await demo",
            ),
            ("teamlog team await demo", "teamlog await demo"),
            ("teamlog team status", "teamlog team status"),
            ("teamlog", "teamlog"),
        ] {
            assert_eq!(arranged(argv(line)), argv(meant), "{line}");
        }
        assert_eq!(
            Called::from_program(Some(OsStr::new("/x/rcs"))),
            Called::Rcs
        );
        assert_eq!(
            Called::from_program(Some(OsStr::new("/rcs/teamlog"))),
            Called::Teamlog
        );
        assert_eq!(Called::from_program(None), Called::Teamlog);
    }

    #[test]
    fn global_flags_go_before_api_and_its_words_stay_as_they_are() {
        for (line, meant) in [
            (
                "teamlog api op --json --input {} --data-root /r",
                "teamlog --json --data-root /r api -- op --input {}",
            ),
            (
                "teamlog --actor a api op --actor=b",
                "teamlog --actor a --actor=b api -- op",
            ),
            (
                "teamlog api op --input --json",
                "teamlog api -- op --input --json",
            ),
            (
                "teamlog api op --data-root",
                "teamlog --data-root api -- op",
            ),
            ("teamlog --receipt api op", "teamlog --receipt api -- op"),
            ("teamlog send api --json", "teamlog send api --json"),
            ("teamlog --nonsense api", "teamlog --nonsense api"),
        ] {
            assert_eq!(arranged(argv(line)), argv(meant), "{line}");
        }
    }
}
