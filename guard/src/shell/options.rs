//! Telling the options of a program from its operands.

use super::word::Value;

/// The options of a program that take a value in the word behind them: letters, and long names with their dashes.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Takes {
    pub letters: &'static str,
    pub long: &'static [&'static str],
}

impl Takes {
    pub const NONE: Takes = Takes {
        letters: "",
        long: &[],
    };
    pub const fn letters(letters: &'static str) -> Takes {
        Takes { letters, long: &[] }
    }
}

/// The words behind a program's name, told apart.
#[derive(Debug, Default)]
pub(super) struct Words<'a> {
    /// Options as they stand, with the value where one follows.
    pub options: Vec<(String, Option<&'a Value>)>,
    pub operands: Vec<&'a Value>,
}

impl<'a> Words<'a> {
    /// Tells them apart as most programs do: options may stand anywhere before `--`.
    pub fn of(words: &'a [Value], takes: Takes) -> Words<'a> {
        let mut found = Words::default();
        let mut rest = words.iter();
        while let Some(word) = rest.next() {
            match word.plain() {
                Some("--") => {
                    found.operands.extend(rest.by_ref());
                }
                Some(text) if text.starts_with('-') && text.len() > 1 => {
                    let value = takes.has(text).then(|| rest.next()).flatten();
                    found.options.push((text.to_owned(), value));
                }
                _ => found.operands.push(word),
            }
        }
        found
    }

    /// Whether one of these options is given: a letter in a cluster, or a long name or the beginning of one.
    pub fn has(&self, letter: Option<char>, long: &str) -> bool {
        self.options
            .iter()
            .any(|(option, _)| is(option, letter, long))
    }

    /// The values of an option: in the same word or in the next one.
    pub fn values(&self, letter: Option<char>, long: &str) -> Vec<Value> {
        self.options
            .iter()
            .filter(|(option, _)| is(option, letter, long))
            .map(|(option, next)| match (attached(option, letter), next) {
                (Some(text), _) => Value::Plain(text),
                (None, Some(next)) => (*next).clone(),
                (None, None) => Value::Unknown,
            })
            .collect()
    }
}

impl Takes {
    fn has(self, option: &str) -> bool {
        if option.starts_with("--") {
            return self.long.contains(&option);
        }
        if self.long.contains(&option) {
            return true;
        }
        // In a cluster the last letter may take the next word; one before it takes the rest of this one.
        let letters = option.get(1..).unwrap_or_default();
        letters
            .char_indices()
            .find(|(_, letter)| self.letters.contains(*letter))
            .is_some_and(|(at, letter)| at + letter.len_utf8() == letters.len())
    }
}

fn is(option: &str, letter: Option<char>, long: &str) -> bool {
    if option.starts_with("--") {
        let name = option.split('=').next().unwrap_or(option);
        // GNU programs take the beginning of a long name for it.
        return !long.is_empty() && name.len() > 2 && long.starts_with(name);
    }
    match letter {
        Some(letter) => option.get(1..).unwrap_or_default().contains(letter),
        None => option == long,
    }
}

fn attached(option: &str, letter: Option<char>) -> Option<String> {
    if option.starts_with("--") {
        return option.split_once('=').map(|(_, value)| value.to_owned());
    }
    let letter = letter?;
    let (_, value) = option.split_once(letter)?;
    (!value.is_empty()).then(|| value.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(words: &[&str]) -> Vec<Value> {
        words
            .iter()
            .map(|word| Value::Plain((*word).to_owned()))
            .collect()
    }

    #[test]
    fn options_and_operands_are_told_apart() {
        let takes = Takes {
            letters: "t",
            long: &["--target-directory"],
        };
        for (words, operands, target) in [
            (vec!["a", "-t", "d", "b"], vec!["a", "b"], vec!["d"]),
            (vec!["-vt", "d", "a"], vec!["a"], vec!["d"]),
            (vec!["-td", "a"], vec!["a"], vec!["d"]),
            (vec!["--target-directory", "d", "a"], vec!["a"], vec!["d"]),
            (vec!["--target-dir=d", "a"], vec!["a"], vec!["d"]),
            (vec!["--", "-t", "d"], vec!["-t", "d"], vec![]),
            (vec!["-", "a"], vec!["-", "a"], vec![]),
        ] {
            let words = values(&words);
            let found = Words::of(&words, takes);
            let plain: Vec<_> = found
                .operands
                .iter()
                .filter_map(|word| word.plain())
                .collect();
            assert_eq!(plain, operands);
            assert_eq!(
                found.values(Some('t'), "--target-directory"),
                values(&target)
            );
        }
    }
}
