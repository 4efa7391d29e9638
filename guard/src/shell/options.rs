//! Telling the options of a program from its operands.

use super::word::Value;

/// The options of a program that take a value.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Takes {
    /// Letters whose value is the rest of the word, else the next one.
    pub letters: &'static str,
    /// Letters whose value can only be the rest of the word.
    pub maybe: &'static str,
    /// Long names, with their dashes, whose value may be the next word.
    pub long: &'static [&'static str],
    /// Long names without a value, which else were the beginning of another.
    pub flags: &'static [&'static str],
}

impl Takes {
    pub const NONE: Takes = Takes::of("", &[]);

    pub const fn letters(letters: &'static str) -> Takes {
        Takes::of(letters, &[])
    }
    pub const fn of(letters: &'static str, long: &'static [&'static str]) -> Takes {
        Takes {
            letters,
            maybe: "",
            long,
            flags: &[],
        }
    }
    pub const fn maybe(self, maybe: &'static str) -> Takes {
        Takes { maybe, ..self }
    }
    pub const fn flags(self, flags: &'static [&'static str]) -> Takes {
        Takes { flags, ..self }
    }
    fn knows(self, name: &str) -> bool {
        self.long.contains(&name) || self.flags.contains(&name)
    }
}

/// One option.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Opt {
    /// With its dashes: a letter, or a long name. Empty where an expansion may make any option of it.
    pub name: String,
    pub value: Option<Value>,
    /// It is a name of its own and not the beginning of another.
    whole: bool,
}

/// The words behind a program's name, told apart.
#[derive(Debug, Default)]
pub(super) struct Words<'a> {
    pub options: Vec<Opt>,
    pub operands: Vec<&'a Value>,
}

impl<'a> Words<'a> {
    /// Tells them apart as most programs do: options may stand anywhere before `--`.
    pub fn of(words: &'a [Value], takes: Takes) -> Words<'a> {
        let mut found = Words::default();
        let mut rest = words;
        while !rest.is_empty() {
            let behind;
            (behind, rest) = found.options_of(rest, takes);
            match (behind, rest.split_first()) {
                (true, _) => {
                    found.operands.extend(rest);
                    break;
                }
                (false, Some((operand, others))) => {
                    found.operands.push(operand);
                    rest = others;
                }
                (false, None) => {}
            }
        }
        found
    }

    /// Those before the first operand, and what follows them.
    pub fn leading(words: &'a [Value], takes: Takes) -> (Words<'a>, &'a [Value]) {
        let mut found = Words::default();
        let (_, rest) = found.options_of(words, takes);
        (found, rest)
    }

    /// Takes options until the next operand; also whether `--` ended them.
    fn options_of(&mut self, words: &'a [Value], takes: Takes) -> (bool, &'a [Value]) {
        let mut rest = words;
        while let Some((word, behind)) = rest.split_first() {
            match word {
                Value::Plain(text) if text == "--" => return (true, behind),
                Value::Plain(text) if text.starts_with('-') && text.len() > 1 => {
                    rest = match self.option(text, false, takes, behind.first()) {
                        true => behind.get(1..).unwrap_or_default(),
                        false => behind,
                    };
                }
                Value::Begins(text) if text.starts_with('-') => {
                    self.option(text, true, takes, None);
                    if text == "-" {
                        // It may as well be no option at all.
                        self.operands.push(word);
                    }
                    rest = behind;
                }
                _ => break,
            }
        }
        (false, rest)
    }

    /// Takes one word of options apart, whose end is not known if it is `open`; whether it took the next word as well.
    fn option(&mut self, text: &str, open: bool, takes: Takes, next: Option<&Value>) -> bool {
        if text.starts_with("--") || takes.long.contains(&text) {
            return self.long(text, open, takes, next);
        }
        let mut letters = text.chars();
        letters.next();
        while let Some(letter) = letters.next() {
            let rest = letters.as_str();
            let value = match (rest, open) {
                (_, true) => Some(Value::Unknown),
                ("", false) => None,
                (rest, false) => Some(Value::Plain(rest.to_owned())),
            };
            let name = format!("-{letter}");
            if takes.maybe.contains(letter) {
                self.push(name, value, takes);
                return false;
            }
            if takes.letters.contains(letter) {
                let took = value.is_none();
                self.push(name, value.or_else(|| next.cloned()), takes);
                return took && next.is_some();
            }
            self.push(name, None, takes);
        }
        if open {
            self.push(String::new(), None, takes);
        }
        false
    }

    fn long(&mut self, text: &str, open: bool, takes: Takes, next: Option<&Value>) -> bool {
        match (text.split_once('='), open) {
            (Some((name, _)), true) => self.push(name.to_owned(), Some(Value::Unknown), takes),
            (Some((name, value)), false) => {
                self.push(name.to_owned(), Some(Value::Plain(value.to_owned())), takes);
            }
            (None, true) => self.push(String::new(), None, takes),
            (None, false) if takes.long.contains(&text) => {
                self.push(text.to_owned(), next.cloned(), takes);
                return next.is_some();
            }
            (None, false) => self.push(text.to_owned(), None, takes),
        }
        false
    }

    fn push(&mut self, name: String, value: Option<Value>, takes: Takes) {
        let whole = takes.knows(&name);
        self.options.push(Opt { name, value, whole });
    }

    /// Whether one of these options may be given: a letter, or a long name or the beginning of one.
    pub fn has(&self, letter: Option<char>, long: &str) -> bool {
        self.options.iter().any(|option| option.is(letter, long))
    }

    /// Whether one of these options is given for sure, in full, and not taken back.
    pub fn sure(&self, letter: Option<char>, long: &str) -> bool {
        let given = |option: &Opt| {
            (!long.is_empty() && option.name == long)
                || letter.is_some_and(|letter| option.name == format!("-{letter}"))
        };
        let back = long.replacen("--", "--no-", 1);
        let taken_back =
            |option: &Opt| option.name.starts_with("--no-") && back.starts_with(&option.name);
        self.options.iter().any(given) && !self.options.iter().any(taken_back)
    }

    /// The values of an option: in the same word or in the next one.
    pub fn values(&self, letter: Option<char>, long: &str) -> Vec<Value> {
        self.options
            .iter()
            .filter(|option| option.is(letter, long))
            .map(|option| option.value.clone().unwrap_or(Value::Unknown))
            .collect()
    }

    /// The first operand, if it is known.
    pub fn first(&self) -> Option<&'a str> {
        self.operands.first().and_then(|operand| operand.plain())
    }
}

impl Opt {
    fn is(&self, letter: Option<char>, long: &str) -> bool {
        if self.name.is_empty() {
            return true;
        }
        if self.name.starts_with("--") && !self.whole {
            // GNU programs take the beginning of a long name for it.
            return !long.is_empty() && self.name.len() > 2 && long.starts_with(&self.name);
        }
        self.name == long || letter.is_some_and(|letter| self.name == format!("-{letter}"))
    }
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
        let takes = Takes::of("t", &["--target-directory"])
            .maybe("i")
            .flags(&["--target"]);
        for (words, operands, target) in [
            (vec!["a", "-t", "d", "b"], vec!["a", "b"], vec!["d"]),
            (vec!["-vt", "d", "a"], vec!["a"], vec!["d"]),
            (vec!["-td", "a"], vec!["a"], vec!["d"]),
            (vec!["-it", "a"], vec!["a"], vec![]),
            (vec!["-dit", "a"], vec!["a"], vec![]),
            (vec!["-tit"], vec![], vec!["it"]),
            (vec!["--target-directory", "d", "a"], vec!["a"], vec!["d"]),
            (vec!["--target-dir=d", "a"], vec!["a"], vec!["d"]),
            (vec!["--target", "a"], vec!["a"], vec![]),
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
            assert_eq!(plain, operands, "{words:?}");
            assert_eq!(
                found.values(Some('t'), "--target-directory"),
                values(&target),
                "{words:?}"
            );
        }
    }

    #[test]
    fn what_an_expansion_may_make_an_option_is_taken_for_it() {
        let takes = Takes::of("o", &["--output"]);
        for (begins, value) in [
            ("-", Some(Value::Unknown)),
            ("-o", Some(Value::Unknown)),
            ("-vo", Some(Value::Unknown)),
            ("--out", Some(Value::Unknown)),
            ("--output=a", Some(Value::Unknown)),
            ("--other=", None),
        ] {
            let words = [Value::Begins(begins.to_owned())];
            let found = Words::of(&words, takes);
            let given = found.values(Some('o'), "--output");
            assert_eq!(given.first(), value.as_ref(), "{begins}");
            assert_eq!(found.operands.len(), usize::from(begins == "-"), "{begins}");
            assert!(!found.sure(Some('v'), "--verbose") || begins == "-vo");
        }
    }

    #[test]
    fn an_option_is_sure_in_full_and_until_it_is_taken_back() {
        for (words, sure) in [
            (vec!["--dry-run"], true),
            (vec!["-fn"], true),
            (vec!["--dry"], false),
            (vec!["--dry-run", "--no-dry-run"], false),
            (vec!["-n", "--no-dry"], false),
            (vec!["a"], false),
        ] {
            let words = values(&words);
            let found = Words::of(&words, Takes::NONE);
            assert_eq!(found.sure(Some('n'), "--dry-run"), sure, "{words:?}");
        }
    }
}
