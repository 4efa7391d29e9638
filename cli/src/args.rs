//! The command line: the global options and the subcommands.

use crate::command::{Command, help};
use crate::global::Global;
use crate::team_argument;
use clap::error::ErrorKind;
use clap::{Args as _, CommandFactory, FromArgMatches};
use std::ffi::OsString;

/// One durable log per team of agents: every message and task change is an event
#[derive(Debug, clap::Parser)]
#[command(
    name = "teamlog",
    version,
    max_term_width = 100,
    subcommand_required = true,
    disable_help_subcommand = true,
    help_template = "{about}\n{usage-heading} {usage}{after-help}",
    after_help = help::short()
)]
pub struct Args {
    #[command(flatten)]
    pub global: Global,
    #[command(subcommand)]
    pub command: Command,
}

/// Parses argv.
pub fn typed(argv: &[OsString]) -> Result<Args, clap::Error> {
    quick(argv).or_else(|error| match error.kind() {
        // Every definition contains the version.
        ErrorKind::DisplayVersion => Err(error),
        ErrorKind::DisplayHelp => parse(team_argument::shown_optional(Args::command()), argv),
        _ => parse(Args::command(), argv),
    })
}

/// Returns the definition for shell completion. Hides commands that a newer command replaces.
pub fn completed() -> clap::Command {
    Args::command().mut_subcommands(|below| {
        let is_old = help::is_old(below.get_name());
        below.hide(is_old)
    })
}

/// Parses with the definition of the subcommands in argv only. If this fails, the caller parses with the whole
/// definition, which has complete errors and help.
fn quick(argv: &[OsString]) -> Result<Args, clap::Error> {
    parse(definition_of(argv), argv)
}

/// Returns a definition with the global options and the subcommands whose names occur in argv.
pub fn definition_of(argv: &[OsString]) -> clap::Command {
    let teamlog = Global::augment_args(clap::Command::new("teamlog"))
        .version(env!("CARGO_PKG_VERSION"))
        .subcommand_required(true)
        .disable_help_subcommand(true);
    let typed = |name: &str| argv.iter().skip(1).any(|word| word == name);
    Command::augment_only(teamlog, typed)
}

fn parse(definition: clap::Command, argv: &[OsString]) -> Result<Args, clap::Error> {
    let mut matches = definition.try_get_matches_from(argv)?;
    Args::from_arg_matches_mut(&mut matches)
}

/// Returns the words of the subcommand in argv, for example `teamlog task show`.
pub fn subcommand(argv: &[OsString]) -> String {
    let mut root = Args::command();
    root.build();
    let mut command = &root;
    let mut path = root.get_name().to_owned();
    for word in argv.iter().skip(1) {
        match command.find_subcommand(word) {
            Some(next) => {
                command = next;
                path.push(' ');
                path.push_str(next.get_name());
            }
            None if word.as_encoded_bytes().starts_with(b"-") => {}
            None => break,
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_is_sound() {
        Args::command().debug_assert();
    }

    /// Formats the parsed arguments without clap's list of valid arguments, because that list differs between the two
    /// definitions.
    fn printed(parsed: &Result<Args, String>) -> String {
        let text = format!("{parsed:?}");
        let mut parts = text.split("valid_args: [");
        let first = parts.next().unwrap_or_default().to_owned();
        first
            + &parts
                .map(|part| part.split_once(']').map_or(part, |(_, rest)| rest))
                .collect::<String>()
    }

    #[test]
    fn the_quick_way_understands_what_the_long_one_does() {
        for line in [
            "teamlog status demo --json",
            "teamlog --actor dev send demo --to status --type handoff --payload-json {} --receipt",
            "teamlog task show demo show --history",
            "teamlog dead-letter list list --limit 3",
            "teamlog config set demo views true --data-root config",
            "teamlog append demo --kind k -- --json",
        ] {
            let argv: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            let quick = quick(&argv).map_err(|error| error.to_string());
            let whole = parse(Args::command(), &argv).map_err(|error| error.to_string());
            assert_eq!(quick.is_ok(), whole.is_ok(), "{line}");
            if whole.is_ok() {
                assert_eq!(printed(&quick), printed(&whole), "{line}");
            }
        }
        for line in [
            "teamlog",
            "teamlog stauts demo",
            "teamlog status --help",
            "teamlog -V",
            "teamlog status",
        ] {
            let argv: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            assert!(quick(&argv).is_err(), "{line}");
        }
        for line in [
            "teamlog -V",
            "teamlog --version",
            "teamlog status --version",
        ] {
            let argv: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            let said = typed(&argv).map_err(|error| error.to_string());
            let whole = parse(Args::command(), &argv).map_err(|error| error.to_string());
            assert_eq!(said.unwrap_err(), whole.unwrap_err(), "{line}");
        }
    }

    /// Returns the commands of teamlog in an example, as argv.
    fn commands(example: &str) -> Vec<Vec<OsString>> {
        // A wide gap comes before an explanation.
        let example = example.trim().split("   ").next().unwrap();
        let words = teamlog_team::shell::words(example).unwrap();
        let is_end = |word: &String| ["&&", "||", "|", "<", ">"].contains(&word.as_str());
        let of_teamlog = words.split(is_end).filter_map(|words| {
            let at = words.iter().position(|word| word == "teamlog")?;
            Some(words[at..].iter().map(OsString::from).collect())
        });
        of_teamlog.collect()
    }

    /// Parses a command line, which may leave out TEAM.
    fn is_valid(argv: &[OsString]) -> bool {
        let words = team_argument::Words::read(argv, definition_of(argv));
        typed(argv).is_ok() || words.is_some_and(|words| typed(&words.with("demo")).is_ok())
    }

    /// Checks the examples of a command and of its subcommands. Returns the faults.
    fn faults(command: &clap::Command, path: &str) -> Vec<String> {
        let help = command
            .get_after_help()
            .map(ToString::to_string)
            .unwrap_or_default();
        let shown = help.split("Examples:\n").nth(1).unwrap_or_default();
        // An example may go on in the next line.
        let shown = shown.replace("\\\n", "");
        let lines = shown.lines().take_while(|line| !line.is_empty());
        let found: Vec<_> = lines.flat_map(commands).collect();
        let name = |argv: &[OsString]| argv.join(OsString::from(" ").as_os_str());
        let invalid = found.iter().filter(|argv| !is_valid(argv));
        let mut faults: Vec<String> = invalid
            .map(|argv| format!("{path}: {:?}", name(argv)))
            .collect();
        if found.len() < 2 {
            faults.push(format!("{path} has {} examples", found.len()));
        }
        let below = command.get_subcommands();
        faults
            .extend(below.flat_map(|one| self::faults(one, &format!("{path} {}", one.get_name()))));
        faults
    }

    #[test]
    fn each_visible_command_and_group_has_two_examples_that_can_be_parsed() {
        let mut teamlog = Args::command();
        teamlog.build();
        let visible = teamlog
            .get_subcommands()
            .filter(|one| !help::is_old(one.get_name()));
        let faults: Vec<String> = visible
            .flat_map(|one| faults(one, one.get_name()))
            .collect();
        assert!(faults.is_empty(), "{faults:#?}");
    }
}
