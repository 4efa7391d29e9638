//! Programs that are known in addition to the table of programs: teamlog's commands, and programs that the team trusts.

/// Effect of a teamlog command on files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Only reads, and prints an answer.
    Reads,
    /// Writes only data of teams.
    TeamData,
    /// Writes files, or paths that its arguments name.
    Files,
    /// Runs other programs, or serves clients that do.
    Runs,
}

/// A command of teamlog.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Command {
    /// Name on the command line.
    pub name: &'static str,
    /// Effect of the command.
    pub effect: Effect,
    /// Options and first arguments with which the command writes files or runs programs.
    pub raised: &'static [&'static str],
}

/// The teamlog program, as the caller of this crate describes it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Own {
    /// Commands of the program.
    pub commands: &'static [Command],
    /// Options of all commands, with dashes. The flag is true if the option takes a value.
    pub options: Vec<(String, bool)>,
}

/// Programs that are known in addition to the table of programs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Programs {
    /// The teamlog program.
    pub own: Own,
    /// Trusted commands. Each is the name of a program, optionally followed by the arguments that a command must begin with.
    pub trusted: Vec<String>,
}

impl Programs {
    /// Parses a list of trusted programs, separated by commas.
    pub fn trusting(own: Own, list: &str) -> Programs {
        let entries = list.split(',').map(|entry| {
            let words: Vec<&str> = entry.split_whitespace().collect();
            words.join(" ")
        });
        Programs {
            own,
            trusted: entries.filter(|entry| !entry.is_empty()).collect(),
        }
    }

    /// Returns the number of words of the longest trusted command that is a prefix of `words`.
    pub(crate) fn trusted_words(&self, words: &[Option<&str>]) -> Option<usize> {
        let named = self.trusted.iter().filter_map(|entry| {
            let mut words = words.iter();
            let begins = entry
                .split(' ')
                .all(|word| words.next() == Some(&Some(word)));
            begins.then(|| entry.split(' ').count())
        });
        named.max()
    }

    /// Returns true if a trusted command is a prefix of `words`.
    pub(crate) fn trusts(&self, words: &[Option<&str>]) -> bool {
        self.trusted_words(words).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_trusts_what_begins_with_its_words() {
        let programs = Programs::trusting(Own::default(), "make, cargo  test,./ci/run,");
        for (words, trusted) in [
            (vec![Some("make"), Some("all")], true),
            (vec![Some("cargo"), Some("test"), None], true),
            (vec![Some("cargo")], false),
            (vec![Some("cargo"), None], false),
            (vec![Some("cargo"), Some("build")], false),
            (vec![Some("./ci/run")], true),
            (vec![Some("makefile")], false),
            (vec![], false),
        ] {
            assert_eq!(programs.trusts(&words), trusted, "{words:?}");
        }
    }
}
