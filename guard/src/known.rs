//! Programs that are known beside those of the table: our own commands, and those that a team trusts.

/// What a command of our own does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// It reads, or answers on standard output.
    Reads,
    /// It writes the data of teams, where those lie, and nothing else.
    TeamData,
    /// It writes files, or where its words say.
    Files,
    /// It runs other programs, or serves those who do.
    Runs,
}

/// A command of our own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Command {
    /// As it is typed.
    pub name: &'static str,
    /// What it does.
    pub effect: Effect,
    /// Options, and words before all options, with which it writes files or runs programs.
    pub raised: &'static [&'static str],
}

/// Our own program, as its caller knows it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Own {
    /// Its commands.
    pub commands: &'static [Command],
    /// The options of all of them, with dashes; whether each takes a value.
    pub options: Vec<(String, bool)>,
}

/// Programs that are known beside those of the table.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Programs {
    /// Our own.
    pub own: Own,
    /// Those that are trusted: each a program as it is typed, or with the words that have to follow it.
    pub trusted: Vec<String>,
}

impl Programs {
    /// Reads a list of programs to trust, parted by commas.
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

    /// Returns how many of the words the longest entry names that they begin with.
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
