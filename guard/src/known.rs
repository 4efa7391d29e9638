//! Programs that are known beside those of the table: teamlog's own commands, and programs that a team trusts.

/// Effect of a command of teamlog.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Reads, or prints its answer.
    Reads,
    /// Writes the data of teams and nothing else.
    TeamData,
    /// Writes files, or the places that its arguments name.
    Files,
    /// Runs other programs, or serves programs that do.
    Runs,
}

/// A command of teamlog.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Command {
    /// Name on the command line.
    pub name: &'static str,
    /// Effect of the command.
    pub effect: Effect,
    /// Options, and first arguments, with which it writes files or runs programs.
    pub raised: &'static [&'static str],
}

/// The teamlog program, described by the caller.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Own {
    /// Commands of the program.
    pub commands: &'static [Command],
    /// Options of all commands, with dashes; true for an option that takes a value.
    pub options: Vec<(String, bool)>,
}

/// Programs that are known beside those of the table.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Programs {
    /// The teamlog program.
    pub own: Own,
    /// Trusted programs, each as typed, with or without arguments that must follow.
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

    /// Returns the number of words of the longest entry with which the command begins.
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

    /// Returns true if the command begins with the words of an entry.
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
