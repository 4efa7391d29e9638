//! What a command that records means: which team, and whether the same may be typed again.

use super::input::{self, Said};
use super::runtime::Runtime;
use super::unknown::Repeat;
use crate::command::schema::registry::{self, Named};
use crate::env::ProcessEnv;
use clap::ArgMatches;
use std::ffi::OsString;
use std::path::Path;
use teamlog_team::{Root, RootOptions, names};

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
        let named = registry::find(&path)?.records?;
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
            named,
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
    fn every_command_that_takes_its_team_as_an_argument_has_one() {
        let mut root = Args::command();
        root.build();
        let mut found = Vec::new();
        leaves(&root, "", &mut found);
        for (path, has_team) in &found {
            let entry = registry::find(path);
            let named = entry.unwrap_or_else(|| panic!("{path} has no row")).records;
            assert!(
                named != Some(Named::Team) || *has_team,
                "{path} has no team"
            );
        }
        let known = |name: &str| found.iter().any(|(path, _)| path == name);
        for entry in ENTRIES.iter().filter(|entry| entry.records.is_some()) {
            assert!(known(entry.name), "there is no {}", entry.name);
        }
    }
}
