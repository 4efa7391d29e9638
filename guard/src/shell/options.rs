//! Telling the options of a program from its operands.

use super::table::{Effect, Operands, Spec};
use super::word::Value;
use crate::writes::Writes;

/// One option.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Opt {
    /// With its dashes: a letter, or a long name. Empty where an expansion may make any option of it.
    pub name: String,
    pub value: Option<Value>,
    /// What the table says of it by its whole name.
    effect: Option<Effect>,
}

/// The words behind a program's name, told apart.
pub(super) struct Words<'a> {
    pub options: Vec<Opt>,
    pub operands: Vec<&'a Value>,
    spec: &'a Spec,
    /// How many of the operands stand behind `--`.
    fenced: usize,
    /// How many of the options stand before all operands.
    before: usize,
}

impl<'a> Words<'a> {
    /// Tells them apart as most programs do: options may stand anywhere before `--`, unless the table says something else.
    pub fn of(words: &'a [Value], spec: &'a Spec) -> Words<'a> {
        if spec.verbatim || spec.leading || spec.operands == Operands::Subcommand {
            let (mut found, rest) = match spec.verbatim {
                true => (Words::none(spec), words),
                false => Words::leading(words, spec),
            };
            found.operands = rest.iter().collect();
            found.fenced = rest.len();
            return found;
        }
        Words::anywhere(words, spec)
    }

    /// Those of options that may stand anywhere before `--`.
    pub fn anywhere(words: &'a [Value], spec: &'a Spec) -> Words<'a> {
        let mut found = Words::none(spec);
        let mut rest = words;
        while !rest.is_empty() {
            let behind;
            (behind, rest) = found.options_of(rest);
            if found.operands.is_empty() {
                found.before = found.options.len();
            }
            match (behind, rest.split_first()) {
                (true, _) => {
                    found.fenced = rest.len();
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
    pub fn leading(words: &'a [Value], spec: &'a Spec) -> (Words<'a>, &'a [Value]) {
        let mut found = Words::none(spec);
        let (_, rest) = found.options_of(words);
        (found, rest)
    }

    fn none(spec: &'a Spec) -> Words<'a> {
        Words {
            options: Vec::new(),
            operands: Vec::new(),
            spec,
            fenced: 0,
            before: 0,
        }
    }

    /// Where nobody can tell what an option does.
    pub fn check(&self, by: &str, writes: &mut Writes) {
        for option in &self.options {
            self.check_option(option, by, writes);
        }
        let open = self.operands.len() - self.fenced;
        let may_be_option = |operand: &&Value| operand.may_be_option();
        if !self.spec.pure && self.operands.iter().take(open).any(may_be_option) {
            writes.doubt(format!(
                "an expansion may be an option of {by}; behind -- or after ./ it is none"
            ));
        }
    }

    fn check_option(&self, option: &Opt, by: &str, writes: &mut Writes) {
        let name = &option.name;
        if name.is_empty() {
            if !self.spec.pure {
                writes.doubt(format!("an option of {by} depends on an expansion"));
            }
            return;
        }
        let many = |value: &Value| match value {
            Value::Unknown => true,
            Value::Below(dir) => dir.is_empty(),
            _ => false,
        };
        if !self.spec.pure && option.value.as_ref().is_some_and(many) {
            writes.doubt(format!(
                "an expansion behind {name} may be an option of {by}"
            ));
        }
        let asks = match option.effect {
            Some(effect) => matches!(effect, Effect::Asks | Effect::AsksValue),
            None if self.spec.lenient || matches!(name.as_str(), "--help" | "--version") => false,
            None => return writes.doubt(format!("{name} is no option of {by} that is known")),
        };
        if asks {
            writes.doubt(format!("{by} {name} runs or writes something of its own"));
        }
    }

    /// Takes options until the next operand; also whether `--` ended them.
    fn options_of(&mut self, words: &'a [Value]) -> (bool, &'a [Value]) {
        let mut rest = words;
        while let Some((word, behind)) = rest.split_first() {
            match word {
                Value::Plain(text) if text == "--" => return (true, behind),
                Value::Plain(text) if text.starts_with('-') && text.len() > 1 => {
                    rest = match self.option(text, false, behind.first()) {
                        true => behind.get(1..).unwrap_or_default(),
                        false => behind,
                    };
                }
                Value::Begins(text) if text.starts_with('-') => {
                    self.option(text, true, None);
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
    fn option(&mut self, text: &str, open: bool, next: Option<&Value>) -> bool {
        let name = text.split_once('=').map_or(text, |(name, _)| name);
        if text.starts_with("--") || self.spec.is_whole(name) {
            return self.long(text, open, next);
        }
        let mut letters = text.chars();
        letters.next();
        while let Some(letter) = letters.next() {
            let rest = letters.as_str();
            let value = match (rest, open) {
                (_, true) => Some(Value::One),
                ("", false) => None,
                (rest, false) => Some(Value::Plain(rest.to_owned())),
            };
            let name = format!("-{letter}");
            match self.spec.option(&name) {
                Some(Effect::Maybe) => {
                    self.push(name, value);
                    return false;
                }
                Some(effect) if effect.takes_next() => {
                    let took = value.is_none();
                    self.push(name, value.or_else(|| next.cloned()));
                    return took && next.is_some();
                }
                _ => self.push(name, None),
            }
        }
        if open {
            self.push(String::new(), None);
        }
        false
    }

    fn long(&mut self, text: &str, open: bool, next: Option<&Value>) -> bool {
        let takes = |name: &str| self.spec.option(name).is_some_and(Effect::takes_next);
        match (text.split_once('='), open) {
            (Some((name, _)), true) => self.push(name.to_owned(), Some(Value::One)),
            (Some((name, value)), false) => {
                self.push(name.to_owned(), Some(Value::Plain(value.to_owned())));
            }
            (None, true) => self.push(String::new(), None),
            (None, false) if takes(text) => {
                self.push(text.to_owned(), next.cloned());
                return next.is_some();
            }
            (None, false) => self.push(text.to_owned(), None),
        }
        false
    }

    fn push(&mut self, name: String, value: Option<Value>) {
        let effect = self.spec.option(&name);
        self.options.push(Opt {
            name,
            value,
            effect,
        });
    }

    /// Whether one of these options may be given: a letter, or a long name or the beginning of one.
    pub fn has(&self, names: &[impl AsRef<str>]) -> bool {
        self.options.iter().any(|option| option.is(names))
    }

    /// The same, before the first operand.
    pub fn has_before(&self, names: &[impl AsRef<str>]) -> bool {
        let before = self.options.iter().take(self.before);
        before.into_iter().any(|option| option.is(names))
    }

    /// Whether one of these options is given for sure and in full, and not taken back by a later one.
    pub fn sure(&self, names: &[impl AsRef<str>]) -> bool {
        let mut sure = false;
        for option in &self.options {
            let taken_back = option.name.starts_with("--no-")
                && names.iter().any(|name| {
                    let back = name.as_ref().replacen("--", "--no-", 1);
                    back.starts_with(&option.name)
                });
            sure = (sure || option.is_named(names)) && !taken_back && !option.name.is_empty();
        }
        sure
    }

    /// Whether one of these options stands behind all of the others: of those that say what a program does, the last one
    /// counts.
    pub fn is_last(&self, names: &[impl AsRef<str>], over: &[impl AsRef<str>]) -> bool {
        let named = |option: &&Opt| option.is_named(names) || option.is_named(over);
        let last = self.options.iter().rev().find(named);
        last.is_some_and(|last| last.is_named(names))
    }

    /// The values of options: in the same word or in the next one.
    pub fn values(&self, names: &[impl AsRef<str>]) -> Vec<Value> {
        self.options
            .iter()
            .filter(|option| option.is(names))
            .filter(|option| option.effect != Some(Effect::Maybe) || option.value.is_some())
            .map(|option| option.value.clone().unwrap_or(Value::Unknown))
            .collect()
    }

    /// The first operand, if it is known.
    pub fn first(&self) -> Option<&'a str> {
        self.operands.first().and_then(|operand| operand.plain())
    }
}

impl Opt {
    fn is(&self, names: &[impl AsRef<str>]) -> bool {
        if self.name.starts_with("--") && self.effect.is_none() {
            // GNU programs take the beginning of a long name for it.
            let mut names = names.iter().map(AsRef::as_ref);
            return self.name.len() > 2 && names.any(|name| name.starts_with(&self.name));
        }
        self.name.is_empty() || self.is_named(names)
    }

    /// Whether it is one of them for sure and in full.
    fn is_named(&self, names: &[impl AsRef<str>]) -> bool {
        names.iter().any(|name| name.as_ref() == self.name)
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

    fn spec(text: &str) -> Spec {
        Spec::read(text)
    }

    #[test]
    fn options_and_operands_are_told_apart() {
        let spec = spec("value -t --target-directory\n maybe -i\n flag -d -v --target");
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
            let found = Words::of(&words, &spec);
            let plain: Vec<_> = found
                .operands
                .iter()
                .filter_map(|word| word.plain())
                .collect();
            assert_eq!(plain, operands, "{words:?}");
            assert_eq!(
                found.values(&["-t", "--target-directory"]),
                values(&target),
                "{words:?}"
            );
        }
    }

    #[test]
    fn what_an_expansion_may_make_an_option_is_taken_for_it() {
        let spec = spec("value -o --output\n flag -v");
        for (begins, value) in [
            ("-", Some(Value::Unknown)),
            ("-o", Some(Value::One)),
            ("-vo", Some(Value::One)),
            ("--out", Some(Value::Unknown)),
            ("--output=a", Some(Value::One)),
            ("--other=", None),
        ] {
            let words = [Value::Begins(begins.to_owned())];
            let found = Words::of(&words, &spec);
            let given = found.values(&["-o", "--output"]);
            assert_eq!(given.first(), value.as_ref(), "{begins}");
            assert_eq!(found.operands.len(), usize::from(begins == "-"), "{begins}");
            assert!(!found.sure(&["-v", "--verbose"]) || begins == "-vo");
        }
    }

    #[test]
    fn an_option_is_sure_in_full_and_until_it_is_taken_back() {
        let spec = spec("flag -n -f --dry-run --no-dry-run");
        for (words, sure) in [
            (vec!["--dry-run"], true),
            (vec!["-fn"], true),
            (vec!["--dry"], false),
            (vec!["--dry-run", "--no-dry-run"], false),
            (vec!["--no-dry-run", "--dry-run"], true),
            (vec!["-n", "--no-dry"], false),
            (vec!["a"], false),
        ] {
            let words = values(&words);
            let found = Words::of(&words, &spec);
            assert_eq!(found.sure(&["-n", "--dry-run"]), sure, "{words:?}");
        }
    }
}
