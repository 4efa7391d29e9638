//! Finds team, agent and tasks in an unfinished command line.

use clap::parser::ValueSource;
use clap::{ArgMatches, Command};
use std::ffi::OsString;
use std::path::PathBuf;

/// Values in the command line that select the candidates.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Typed {
    pub team: Option<String>,
    /// The agent whose inbox the command line names, or else the acting agent.
    pub agent: Option<String>,
    pub data_root: Option<PathBuf>,
}

impl Typed {
    /// Parses an unfinished command line. Call this function with a definition that is not built yet, because a built
    /// definition accepts unfinished words only at its first level.
    pub fn read(teamlog: Command, words: &[OsString]) -> Typed {
        let mut typed = Typed::default();
        let matches = teamlog.ignore_errors(true).try_get_matches_from(words);
        let mut level = matches.as_ref().ok();
        while let Some(matches) = level {
            typed.take(matches);
            level = matches.subcommand().map(|(_, below)| below);
        }
        typed
    }

    fn take(&mut self, matches: &ArgMatches) {
        let text = |id: &str| {
            let value = matches.try_get_one::<String>(id).ok().flatten();
            let is_typed = |_: &&String| matches.value_source(id) == Some(ValueSource::CommandLine);
            let value = value.filter(is_typed);
            value.filter(|value| !value.is_empty()).cloned()
        };
        let team = text("team_option").or_else(|| text("team"));
        self.team = team.or(self.team.take());
        self.agent = text("agent")
            .or(self.agent.take())
            .or_else(|| text("actor"));
        let root = matches.try_get_one::<PathBuf>("data_root").ok().flatten();
        self.data_root = root.cloned().or(self.data_root.take());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn an_unfinished_line_says_what_is_meant() {
        let read = |line: &str| {
            Typed::read(
                crate::args::Args::command(),
                &line.split(' ').map(OsString::from).collect::<Vec<_>>(),
            )
        };
        let typed = |team: Option<&str>, agent: Option<&str>, root: Option<&str>| Typed {
            team: team.map(Into::into),
            agent: agent.map(Into::into),
            data_root: root.map(Into::into),
        };
        assert_eq!(read("teamlog status "), typed(None, None, None));
        assert_eq!(
            read("teamlog task show demo "),
            typed(Some("demo"), None, None)
        );
        assert_eq!(
            read("teamlog task create demo --owner "),
            typed(Some("demo"), None, None),
            "an option that is required is still to come"
        );
        assert_eq!(
            read("teamlog --data-root /r ack demo --agent dev --message-id "),
            typed(Some("demo"), Some("dev"), Some("/r"))
        );
        assert_eq!(
            read("teamlog ack demo --actor qa --message-id m --data-root /r"),
            typed(Some("demo"), Some("qa"), Some("/r"))
        );
        assert_eq!(read("teamlog nonsense --x"), typed(None, None, None));
    }
}
