//! Which commands record something in a team, and how they name it.

use super::input::{self, Said};
use super::runtime::Runtime;
use super::unknown::Repeat;
use crate::env::ProcessEnv;
use clap::ArgMatches;
use std::ffi::OsString;
use std::path::Path;
use teamlog_team::{Root, RootOptions, names};

/// How a command names its team.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Named {
    /// By its argument or its flag.
    Team,
    /// By its flag, in its input, by the environment, or not at all where there is only one.
    State,
    /// In the input of its operation, if that is one that records.
    Operation,
}

/// The commands that record, by their words. Every other one only reads, or has no team, and runs where it is typed.
pub const RECORDING: &[(&str, Named)] = &[
    ("ack", Named::Team),
    ("api", Named::Operation),
    ("append", Named::Team),
    ("artifact put", Named::Team),
    ("bootstrap record", Named::Team),
    ("bootstrap start", Named::Team),
    ("config set", Named::Team),
    ("config unset", Named::Team),
    ("convert", Named::Team),
    ("dead-letter requeue", Named::Team),
    ("doctor repair", Named::Team),
    ("import", Named::Team),
    ("init", Named::Team),
    ("mode cancel", Named::Team),
    ("mode clear", Named::Team),
    ("mode complete", Named::Team),
    ("mode end-session", Named::Team),
    ("mode fail", Named::Team),
    ("mode prompt", Named::Team),
    ("mode start", Named::Team),
    ("mode update", Named::Team),
    ("mode write", Named::Team),
    ("nudge", Named::Team),
    ("purge", Named::Team),
    ("rehydrate", Named::Team),
    ("restore", Named::Team),
    ("send", Named::Team),
    ("state clear", Named::State),
    ("state write", Named::State),
    ("task cancel", Named::Team),
    ("task claim", Named::Team),
    ("task complete", Named::Team),
    ("task create", Named::Team),
    ("task fail", Named::Team),
    ("task next", Named::Team),
    ("task release", Named::Team),
    ("task renew", Named::Team),
    ("task reopen", Named::Team),
    ("task-assign", Named::Team),
    ("task-update", Named::Team),
    ("thread link", Named::Team),
    ("thread post", Named::Team),
    ("thread start", Named::Team),
    ("tick", Named::Team),
    // Shows only, where neither --report nor --set is given.
    ("usage", Named::Team),
];

/// Whether the command of these words records something in a team.
pub fn records(command: &str) -> bool {
    RECORDING.iter().any(|(words, _)| *words == command)
}

/// A command that records, as it was typed.
#[derive(Debug)]
pub struct Meant {
    named: Named,
    /// The team, if the words name one.
    team: Option<String>,
    /// Whether they mean every team.
    all: bool,
    /// `--input`, or the words of an operation.
    input: Vec<OsString>,
    repeat: Repeat,
}

/// What is known of a command before it is carried out.
#[derive(Debug)]
pub struct Aim {
    /// The team that is meant, if that is known.
    pub team: Option<String>,
    /// Whether the same may be typed again.
    pub repeat: Repeat,
}

impl Meant {
    /// What was typed, if it is a command that records.
    pub fn of(matches: &ArgMatches) -> Option<Meant> {
        let (path, leaf) = leaf(matches);
        let (_, named) = RECORDING.iter().find(|(words, _)| *words == path)?;
        let text = |id: &str| match leaf.try_get_one::<String>(id) {
            Ok(Some(text)) => Some(text.clone()),
            _ => None,
        };
        let input = match named {
            Named::Team => Vec::new(),
            Named::State => text("input").map(OsString::from).into_iter().collect(),
            Named::Operation => match leaf.try_get_many::<OsString>("words") {
                Ok(Some(words)) => words.cloned().collect(),
                _ => Vec::new(),
            },
        };
        let repeat = match path.as_str() {
            // `append` stores key and message id as data; repeating it records it again.
            "append" => Repeat::Never,
            // The key here is a setting's name, and the message id is what the command is about.
            "ack" | "config set" | "config unset" | "dead-letter requeue" => Repeat::Same,
            // Its key stands in its input.
            "api" => Repeat::Unsafe,
            _ => repeat(leaf),
        };
        Some(Meant {
            named: *named,
            team: text("team"),
            all: ["all", "all_teams"]
                .iter()
                .any(|id| matches!(leaf.try_get_one::<bool>(id), Ok(Some(true)))),
            input,
            repeat,
        })
    }

    /// What is meant; and the environment, of which some input may have been read to know it.
    pub fn aim(&self, root: &Path, env: ProcessEnv) -> (Aim, ProcessEnv) {
        let (said, env) = match self.named {
            // A daemon that serves one of the teams serves them all.
            Named::Team if self.team.is_none() && self.all => {
                let team = served_team(root);
                (Said { team, key: false }, env)
            }
            Named::Team => (self.said(), env),
            Named::Operation => input::of_operation(&self.input, env),
            Named::State => {
                let (mut said, mut env) = match (&self.team, self.input.first()) {
                    (None, Some(input)) => input::of_state(input, env),
                    _ => (self.said(), env),
                };
                if said.team.is_none() {
                    said.team = env
                        .var_set("TEAMLOG_TEAM")
                        .and_then(|team| team.into_string().ok());
                }
                if said.team.is_none()
                    && let Some(only) = only_team(root)
                {
                    env = env.with_only_team(only.clone());
                    said.team = Some(only);
                }
                (said, env)
            }
        };
        let aim = Aim {
            // What cannot be a team's name is no part of a path either.
            team: said
                .team
                .filter(|team| names::check_known("team", team).is_ok()),
            repeat: match said.key {
                true => Repeat::UnderKey,
                false => self.repeat,
            },
        };
        (aim, env)
    }

    fn said(&self) -> Said {
        Said {
            team: self.team.clone(),
            key: false,
        }
    }
}

/// The first team that a daemon says it serves.
fn served_team(root: &Path) -> Option<String> {
    let opened = Root::open(root, RootOptions::default()).ok()?;
    let mut teams = opened.teams().ok()?.into_iter();
    teams.find(|team| Runtime::place(root, team).exists())
}

/// Whether the same may be typed again, by the options that a command has. One that has neither changes nothing by it.
fn repeat(leaf: &ArgMatches) -> Repeat {
    // No such option is an error, one that was not given is none.
    let given = |id: &str| Some(leaf.try_get_one::<String>(id).ok()?.is_some());
    match (given("key"), given("message_id")) {
        (Some(true), _) => Repeat::UnderKey,
        (_, Some(true)) => Repeat::UnderMessageId,
        (Some(false), _) => Repeat::Unsafe,
        (None, Some(false)) => Repeat::WithoutMessageId,
        (None, None) => Repeat::Same,
    }
}

fn only_team(root: &Path) -> Option<String> {
    let root = Root::open(root, RootOptions::default()).ok()?;
    root.only_team().ok()
}

/// The words of a command, and what stands behind the last of them.
fn leaf(matches: &ArgMatches) -> (String, &ArgMatches) {
    let mut path = String::new();
    let mut leaf = matches;
    while let Some((name, below)) = leaf.subcommand() {
        if !path.is_empty() {
            path.push(' ');
        }
        path.push_str(name);
        leaf = below;
    }
    (path, leaf)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Args;
    use crate::command::schema::registry::ENTRIES;
    use clap::CommandFactory;

    /// Commands that record nothing in a team; a daemon in the way does not matter to them.
    const READING: &[&str] = &[
        "artifact get",
        "artifact list",
        "await",
        "backup",
        "bootstrap evidence",
        "bootstrap explain",
        "bootstrap list",
        "bootstrap show",
        "can-write",
        "completions",
        "config get",
        "config list",
        "dead-letter list",
        "demo",
        "diff",
        "doctor check",
        "doctor clean",
        "export",
        "guard",
        "guard exec",
        "head",
        "hooks doctor",
        "hooks install",
        "keygen",
        "man",
        "mcp",
        "mode explain",
        "mode list",
        "mode outcome",
        "mode sessions",
        "mode show",
        "prime",
        "read",
        "ready",
        "replay",
        "schema",
        "serve",
        "setup",
        "state get-status",
        "state list-active",
        "state read",
        "status",
        "tail",
        "task show",
        "tasks",
        "teams",
        "thread search",
        "thread tail",
        "token rotate",
        "trace",
        "traces",
        "verify",
        "wait",
        "who",
    ];

    fn leaves(command: &clap::Command, path: &str, found: &mut Vec<(String, bool)>) {
        if !command.is_subcommand_required_set() {
            let has_team = command.get_arguments().any(|arg| arg.get_id() == "team");
            found.push((path.trim().to_owned(), has_team));
        }
        for sub in command.get_subcommands() {
            leaves(sub, &format!("{path} {}", sub.get_name()), found);
        }
    }

    #[test]
    fn a_key_and_a_message_id_count_only_where_they_make_a_command_repeatable() {
        for (line, repeat) in [
            ("append demo --kind done --key k", Repeat::Never),
            ("append demo --batch facts.jsonl", Repeat::Never),
            ("config set demo members.open true", Repeat::Same),
            ("config unset demo members.open", Repeat::Same),
            ("ack demo --agent dev --message-id m-1", Repeat::Same),
            ("dead-letter requeue demo --message-id m-1", Repeat::Same),
            ("dead-letter requeue demo --id d-1", Repeat::Same),
            (
                "task reopen demo T-1 --worker lead --key k",
                Repeat::UnderKey,
            ),
            (
                "send demo --from a --to b --type handoff --message-id m-1",
                Repeat::UnderMessageId,
            ),
            (
                "send demo --from a --to b --type handoff",
                Repeat::WithoutMessageId,
            ),
            ("init demo", Repeat::Same),
            ("import demo --messages m.jsonl", Repeat::Same),
            ("tick demo", Repeat::Same),
            ("state write --mode team", Repeat::Same),
            ("task reopen demo T-1 --worker lead", Repeat::Unsafe),
            ("api claim-task --input {}", Repeat::Unsafe),
        ] {
            let argv = std::iter::once("teamlog").chain(line.split(' '));
            let matches = Args::command().try_get_matches_from(argv).unwrap();
            let meant = Meant::of(&matches).unwrap();
            assert_eq!(meant.repeat, repeat, "{line}");
        }
    }

    #[test]
    fn every_command_either_records_or_reads() {
        let mut root = Args::command();
        root.build();
        let mut found = Vec::new();
        leaves(&root, "", &mut found);
        for (path, has_team) in &found {
            let row = RECORDING.iter().find(|(words, _)| words == path);
            let reads = READING.contains(&path.as_str());
            assert!(row.is_some() != reads, "{path} is in one of the two tables");
            let by_argument = row.is_some_and(|(_, named)| *named == Named::Team);
            assert!(!by_argument || *has_team, "{path} has no team");
        }
        for entry in ENTRIES.iter().filter(|entry| entry.records) {
            let row = RECORDING.iter().find(|(words, _)| *words == entry.name);
            assert!(row.is_some(), "{} records", entry.name);
        }
        let known = |words: &str| found.iter().any(|(path, _)| path == words);
        for (words, _) in RECORDING {
            assert!(known(words), "there is no {words}");
        }
        for words in READING {
            assert!(known(words), "there is no {words}");
        }
    }
}
