//! Command lines that were probably meant, for words that name no team or that the command does not take.

use crate::team_argument::Words;
use std::ffi::{OsStr, OsString};
use teamlog_team::projections::Status;
use teamlog_team::shell::quoted;

/// Commands, each with its option for an agent. A newcomer types the agent's name in the place of TEAM.
const AGENT_OPTIONS: [(&str, &str); 9] = [
    ("inbox", "--agent"),
    ("list", "--owner"),
    ("log", "--by"),
    ("prime", "--agent"),
    ("read", "--agent"),
    ("replay", "--actor"),
    ("tail", "--actor"),
    ("tasks", "--owner"),
    ("wait", "--agent"),
];

/// Commands with an option for the status that a newcomer types in the place of TEAM.
const STATUS_COMMANDS: [&str; 2] = ["list", "tasks"];

/// A command line that was probably meant.
#[derive(Debug, PartialEq, Eq)]
pub struct Correction {
    pub argv: Vec<OsString>,
    pub condition: Condition,
}

/// Condition under which a correction is right.
#[derive(Debug, PartialEq, Eq)]
pub enum Condition {
    Always,
    /// The team has this agent.
    Agent(String),
    /// A team has this name.
    Team(OsString),
}

impl Correction {
    fn always(argv: Vec<OsString>) -> Correction {
        let condition = Condition::Always;
        Correction { argv, condition }
    }

    /// Returns the command line as words for a shell. `program` replaces the first word.
    pub fn line(&self, program: &str) -> String {
        let words = self.argv.iter().skip(1);
        let words = words.map(|word| shown(&word.to_string_lossy()));
        let line: Vec<String> = [program.to_owned()].into_iter().chain(words).collect();
        line.join(" ")
    }
}

/// Quotes a word if a shell needs quotes. An option with `=` needs none if its value needs none.
fn shown(word: &str) -> String {
    match word.split_once('=') {
        Some((option, value)) if option.starts_with("--") => format!("{option}={}", quoted(value)),
        _ => quoted(word),
    }
}

/// Returns the command lines that were probably meant, best first. The caller checks that a command line can be parsed.
pub fn corrections(argv: &[OsString], words: Option<&Words>) -> Vec<Correction> {
    let mut found: Vec<Correction> = switch_values(argv)
        .into_iter()
        .chain(text_with_dash(argv))
        .collect();
    if let Some(words) = words {
        found.extend(names(words));
        found.extend(unquoted(words));
    }
    found
}

/// Joins a switch with the value after it: `--requires-approval false` becomes `--requires-approval=false`.
fn switch_values(argv: &[OsString]) -> Option<Correction> {
    let at = argv
        .iter()
        .zip(argv.iter().skip(1))
        .position(|(option, value)| {
            let is_option = option.to_string_lossy().starts_with("--");
            is_option && (value == "true" || value == "false")
        })?;
    let mut argv = argv.to_vec();
    let value = argv.remove(at + 1);
    let option = argv.get_mut(at)?;
    option.push("=");
    option.push(value);
    Some(Correction::always(argv))
}

/// Moves a text that begins with a minus to the end, after `--`.
fn text_with_dash(argv: &[OsString]) -> Option<Correction> {
    let is_text = |word: &OsString| {
        let word = word.to_string_lossy();
        let rest = word.strip_prefix('-').unwrap_or_default();
        !rest.starts_with('-')
            && (rest.contains(char::is_whitespace)
                || rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    let at = argv.iter().position(is_text)?;
    let mut argv = argv.to_vec();
    let text = argv.remove(at);
    argv.extend(["--".into(), text]);
    Some(Correction::always(argv))
}

/// Adds the option for the name of an agent or a status that was typed in the place of TEAM.
fn names(words: &Words) -> Vec<Correction> {
    let Some([word]) = words.together() else {
        return Vec::new();
    };
    let command = words.command();
    let word = word.to_string_lossy();
    let with_option = |option: &str, condition: Condition| Correction {
        argv: words.replacing(&[option.into(), (&*word).into()]),
        condition,
    };
    let status = STATUS_COMMANDS.contains(&command) && Status::from_name(&word).is_some();
    if status {
        return vec![with_option("--status", Condition::Always)];
    }
    let option = AGENT_OPTIONS.iter().find(|(known, _)| *known == command);
    let by_agent = option.map(|(_, option)| {
        let condition = Condition::Agent(word.clone().into_owned());
        with_option(option, condition)
    });
    by_agent.into_iter().collect()
}

/// Joins the words of a text without quotes. The first word may be TEAM.
fn unquoted(words: &Words) -> Vec<Correction> {
    let (Some(typed), Some(before)) = (words.together(), words.before_text()) else {
        return Vec::new();
    };
    let joined = |before: usize| {
        let (kept, text) = typed.split_at_checked(before)?;
        let text: Vec<&OsStr> = text.iter().map(OsString::as_os_str).collect();
        let is_text = text.len() > 1;
        let argv = [kept, &[text.join(OsStr::new(" "))]].concat();
        is_text.then(|| words.replacing(&argv))
    };
    let with_team = typed.first().and_then(|team| {
        let argv = joined(before + 1)?;
        let condition = Condition::Team(team.clone());
        Some(Correction { argv, condition })
    });
    let without = joined(before).map(Correction::always);
    with_team.into_iter().chain(without).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args;

    fn lines(words: &[&str]) -> Vec<String> {
        let argv: Vec<OsString> = words.iter().map(OsString::from).collect();
        let words = Words::read(&argv, args::definition_of(&argv));
        let found = corrections(&argv, words.as_ref());
        found.iter().map(|one| one.line("teamlog")).collect()
    }

    #[test]
    fn words_without_quotes_become_one_text() {
        for (words, expected) in [
            (
                &["teamlog", "add", "fix", "login"][..],
                &["teamlog add 'fix login'"][..],
            ),
            (
                &["teamlog", "note", "1", "half", "done", "--as", "dev"],
                &["teamlog note 1 'half done' --as dev"],
            ),
            (
                &["teamlog", "add", "demo", "fix", "login"],
                &[
                    "teamlog add demo 'fix login'",
                    "teamlog add 'demo fix login'",
                ],
            ),
            (&["teamlog", "add", "fix"], &[]),
            (&["teamlog", "show", "1", "2"], &[]),
        ] {
            assert_eq!(lines(words), expected, "{words:?}");
        }
    }

    #[test]
    fn a_name_is_put_behind_its_option() {
        for (words, expected) in [
            (&["teamlog", "log", "dev"][..], "teamlog log --by dev"),
            (&["teamlog", "inbox", "qa"], "teamlog inbox --agent qa"),
            (
                &["teamlog", "list", "failed"],
                "teamlog list --status failed",
            ),
            (
                &["teamlog", "say", "qa", "-1 on this", "--as", "dev"],
                "teamlog say qa --as dev -- '-1 on this'",
            ),
            (
                &["teamlog", "edit", "1", "--requires-approval", "false"],
                "teamlog edit 1 --requires-approval=false",
            ),
        ] {
            assert_eq!(lines(words).first().map(String::as_str), Some(expected));
        }
    }
}
