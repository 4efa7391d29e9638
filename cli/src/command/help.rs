//! The help of `teamlog` itself: the commands in groups, and texts on topics.

use super::LISTED;
use crate::global::Global;
use clap::Args as _;
use std::ffi::OsString;

/// A group of subcommands in the help.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    Work,
    Talk,
    Watch,
    Trust,
    Operate,
    Integrate,
}

/// The groups in the order of the help.
const GROUPS: [Group; 6] = [
    Group::Work,
    Group::Talk,
    Group::Watch,
    Group::Trust,
    Group::Operate,
    Group::Integrate,
];

/// The part of the help that lists a subcommand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// The short help and the whole help.
    Short,
    /// The whole help only.
    All,
    /// The end of the whole help, because another command replaces the subcommand.
    Old,
}

/// A subcommand in the help.
#[derive(Debug)]
pub struct Listed {
    pub name: &'static str,
    pub group: Group,
    pub place: Place,
    pub about: &'static str,
}

/// Topics that are not subcommands, with their texts.
const TOPICS: [(&str, &str); 4] = [
    ("concepts", include_str!("help/concepts.txt")),
    ("claims", include_str!("help/claims.txt")),
    ("modes", include_str!("help/modes.txt")),
    ("hosts", include_str!("help/hosts.txt")),
];

const EXAMPLES: &str = "\
Examples:
  teamlog demo
  teamlog init demo --members lead,dev,qa
  teamlog add 'Fix the login' --as lead
  teamlog next --as dev
  teamlog done 1 'on branch fix-login' --as dev
  teamlog say qa 'please test it' --as dev
  teamlog show 1 --history
  teamlog rehydrate demo && teamlog verify demo
";

const EXIT_CODES: &str = "\
Exit codes:
  0 done   1 refused   2 usage (doctor: unhealthy)   65 damaged log
  69 daemon not to be reached   70 bug   74 input/output
  75 locked, try again   77 not permitted   78 unsafe file system
";

const TEAM: &str = "\
TEAM:
  The first argument TEAM may be left out: then --team, TEAMLOG_TEAM or the
  only open team is used. If the last argument of a command is optional too,
  the first word is TEAM if a team has this name.
";

/// Returns the everyday commands in groups, one per line.
pub fn short() -> String {
    let mut text = String::new();
    for group in GROUPS {
        let mut heading = format!("{group:?}");
        for row in rows(|row| row.group == group && row.place == Place::Short) {
            text.push_str(&format!("{heading:<11}{:<11}{}\n", row.name, row.about));
            heading.clear();
        }
    }
    text.push_str("\nMore: teamlog help --all, help COMMAND, help ");
    text.push_str(&TOPICS.map(|(name, _)| name).join("|"));
    text
}

/// Returns all commands in groups, with the topics, examples and exit codes. Each group has a line for its heading.
pub fn sections() -> String {
    let mut text = String::new();
    for group in GROUPS {
        let listed = rows(|row| row.group == group && row.place != Place::Old);
        section(&mut text, &format!("{group:?}"), listed);
    }
    let old = rows(|row| row.place == Place::Old);
    section(&mut text, "Older forms, which keep working", old);
    let topics = TOPICS.map(|(name, _)| name).join(", ");
    text.push_str(&format!(
        "Topics:\n  teamlog help TOPIC prints a text: {topics}\n"
    ));
    [text.as_str(), TEAM, EXAMPLES, EXIT_CODES].join("\n")
}

fn rows(is_wanted: impl Fn(&Listed) -> bool) -> impl Iterator<Item = &'static Listed> {
    LISTED.iter().filter(move |row| is_wanted(row))
}

fn section(text: &mut String, heading: &str, rows: impl Iterator<Item = &'static Listed>) {
    text.push_str(&format!("{heading}:\n"));
    for row in rows {
        text.push_str(&format!("  {:<13}{}\n", row.name, row.about));
    }
    text.push('\n');
}

/// Returns the whole help.
fn all() -> String {
    let mut options = Global::augment_args(clap::Command::new("teamlog"))
        .disable_help_flag(true)
        .help_template("{all-args}");
    let options = options.render_help().to_string();
    let usage = "Usage: teamlog [OPTIONS] <COMMAND>";
    format!("{usage}\n\n{}\n{}\n", sections(), options.trim())
}

/// Returns the text that `teamlog help --all` and `teamlog help TOPIC` print. Returns `None` for other words.
pub fn requested(argv: &[OsString]) -> Option<String> {
    let [_, help, word] = argv else {
        return None;
    };
    match (help.to_str()?, word.to_str()?) {
        ("help", "--all") => Some(all()),
        ("help", word) => {
            let topic = TOPICS.into_iter().find(|(name, _)| *name == word);
            topic.map(|(_, text)| text.to_owned())
        }
        _ => None,
    }
}

/// Returns true if another command replaces this subcommand.
pub fn is_old(name: &str) -> bool {
    rows(|row| row.place == Place::Old).any(|row| row.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Maximum number of lines of a text that fits on a screen.
    const SCREEN: usize = 32;
    const COLUMNS: usize = 80;

    #[track_caller]
    fn fits(text: &str, lines: usize) {
        assert!(text.lines().count() <= lines, "{text}");
        for line in text.lines() {
            assert!(line.chars().count() <= COLUMNS, "{line}");
        }
    }

    #[test]
    fn the_short_help_fits_on_a_screen() {
        use clap::CommandFactory;
        let help = crate::args::Args::command().render_help().to_string();
        fits(&help, SCREEN);
        let listed = LISTED.iter().filter(|row| row.place == Place::Short);
        assert!((20..=28).contains(&listed.count()));
        for name in ["append", "replay", "trace", "rehydrate"] {
            assert!(help.contains(&format!(" {name} ")), "{help}");
        }
        for row in rows(|row| row.place != Place::Short) {
            let line = format!(" {:<11}{}", row.name, row.about);
            assert!(!help.contains(&line), "{line}");
        }
    }

    #[test]
    fn each_group_has_commands_and_the_whole_help_has_each_command_once() {
        let help = all();
        for group in GROUPS {
            assert!(rows(|row| row.group == group && row.place == Place::Short).count() >= 2);
            assert!(help.contains(&format!("\n{group:?}:\n")), "{group:?}");
        }
        for row in LISTED {
            let line = format!("\n  {:<13}{}\n", row.name, row.about);
            assert_eq!(help.matches(&line).count(), 1, "{line}");
        }
        assert!(help.contains("--data-root"), "{help}");
    }

    #[test]
    fn each_topic_fits_on_a_screen_and_is_no_command() {
        for (name, text) in TOPICS {
            fits(text, 24);
            assert!(LISTED.iter().all(|row| row.name != name), "{name}");
            let argv = ["teamlog", "help", name].map(OsString::from);
            assert_eq!(requested(&argv).as_deref(), Some(text));
        }
    }
}
