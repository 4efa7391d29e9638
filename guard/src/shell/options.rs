//! Separates the options of a program from its operands.

use super::table::Effect;
use super::*;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Opt {
    /// Name of the option with its dashes. Empty if an expansion may be any option.
    pub name: String,
    pub value: Option<Value>,
    /// The words after the option, if they are a command (as in `find -exec`).
    pub command: Vec<Value>,
    /// Effect of the option with this full name in the table.
    pub effect: Option<Effect>,
}

/// The words after the name of a program, split into options and operands.
pub(super) struct Words<'a> {
    pub options: Vec<Opt>,
    pub operands: Vec<&'a Value>,
    spec: &'a Spec,
    /// Number of operands after `--`.
    after_dashes: usize,
    /// Number of options before the first operand.
    before: usize,
    /// Number of operands before an expression, as in `find`.
    starts: usize,
}

impl<'a> Words<'a> {
    /// Splits words as the table says. By default, options may be anywhere before `--`.
    pub fn split(words: &'a [Value], spec: &'a Spec) -> Words<'a> {
        if spec.is(Note::Verbatim) {
            return Words::none(spec).fenced(words);
        }
        if spec.is(Note::Leading) || spec.operands == Operands::Subcommand {
            let (found, rest) = Words::leading(words, spec);
            return found.fenced(rest);
        }
        let mut found = Words::none(spec);
        let mut rest = words;
        while !rest.is_empty() {
            let behind;
            (behind, rest) = found.options_of(rest);
            if found.operands.is_empty() {
                found.before = found.options.len();
            }
            if behind {
                return found.fenced(rest);
            }
            if let Some((operand, others)) = rest.split_first() {
                found.operand(operand);
                rest = others;
            }
        }
        found
    }

    /// Splits off the options before the first operand. Also returns the words after these options.
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
            after_dashes: 0,
            before: 0,
            starts: 0,
        }
    }

    /// Adds all remaining words as operands.
    fn fenced(mut self, rest: &'a [Value]) -> Words<'a> {
        self.after_dashes = rest.len();
        self.operands.extend(rest);
        self
    }

    fn operand(&mut self, operand: &'a Value) {
        let is_sign = |text: &str| text.starts_with(['(', ')', '!', ',']);
        let is_first = self.options.iter().all(|option| option.name.len() == 2);
        if is_first && self.starts == self.operands.len() && !operand.plain().is_some_and(is_sign) {
            self.starts += 1;
        }
        self.operands.push(operand);
    }

    /// Returns the operands before an expression. An expression begins with an option of several letters, with `(` or with `!`.
    pub fn starts(&self) -> &[&'a Value] {
        self.operands.get(..self.starts).unwrap_or_default()
    }

    /// Adds an unknown write for each option with an unknown effect.
    pub fn check(&self, by: &str, walker: &Walker) {
        for option in &self.options {
            self.check_option(option, by, walker);
        }
        let open = self.operands.len() - self.after_dashes;
        let may_be_option = |operand: &&Value| operand.may_be_option();
        if !self.spec.is(Note::Pure) && self.operands.iter().take(open).any(may_be_option) {
            walker.add_unknown(format!(
                "an expansion may be an option of {by}; put -- before it, or begin the word with ./"
            ));
        }
    }

    fn check_option(&self, option: &Opt, by: &str, walker: &Walker) {
        let name = &option.name;
        let pure = self.spec.is(Note::Pure);
        if name.is_empty() {
            if !pure {
                walker.add_unknown(format!("an option of {by} depends on an expansion"));
            }
            return;
        }
        let is_one = |value: &Value| matches!(value, Value::One | Value::Begins(_));
        let may_be_more =
            |value: &Value| value.may_be_option() && (self.spec.is(Note::Wary) || !is_one(value));
        if !pure && option.value.as_ref().is_some_and(may_be_more) {
            walker.add_unknown(format!(
                "an expansion after {name} may be an option of {by}"
            ));
        }
        match option.effect {
            Some(Effect::Asks | Effect::AsksValue) => {
                walker.add_unknown(format!("{by} {name} may run programs or write files"));
            }
            None if !self.spec.is(Note::Lenient)
                && !matches!(name.as_str(), "--help" | "--version") =>
            {
                walker.add_unknown(format!("unknown option {name} of {by}"));
            }
            _ => {}
        }
    }

    /// Takes options up to the next operand. Returns true if `--` ended the options. The table may list `--` and `-` as options
    /// of a program.
    fn options_of(&mut self, words: &'a [Value]) -> (bool, &'a [Value]) {
        let mut rest = words;
        while let Some((word, behind)) = rest.split_first() {
            match word {
                Value::Plain(text) if text == "--" && self.spec.option(text).is_none() => {
                    return (true, behind);
                }
                Value::Plain(text) if self.begins_command(word) => {
                    rest = self.command(text, behind);
                }
                Value::Plain(text)
                    if text.starts_with('-')
                        && (text.len() > 1 || self.spec.option(text).is_some()) =>
                {
                    let next = behind.first().filter(|next| !self.begins_command(next));
                    rest = match self.option(text, false, next) {
                        true => behind.get(1..).unwrap_or_default(),
                        false => behind,
                    };
                }
                Value::Begins(text) if text.starts_with('-') => {
                    self.option(text, true, None);
                    if text == "-" {
                        // An expansion may be an option or an operand, so count it as both.
                        self.operands.push(word);
                    }
                    rest = behind;
                }
                _ => break,
            }
        }
        (false, rest)
    }

    /// Returns true if this word begins a command, even if an earlier option could take the word as its value.
    fn begins_command(&self, word: &Value) -> bool {
        let option = word.plain().and_then(|text| self.spec.option(text));
        option == Some(Effect::Command)
    }

    fn command(&mut self, name: &str, rest: &'a [Value]) -> &'a [Value] {
        let mut parts = rest.splitn(2, |word| matches!(word.plain(), Some(";" | "+")));
        let command = parts.next().unwrap_or_default().to_vec();
        self.options.push(Opt {
            name: name.to_owned(),
            value: None,
            command,
            effect: Some(Effect::Command),
        });
        parts.next().unwrap_or_default()
    }

    /// Takes the options in one word. `open` is true if the end of the word is unknown. Returns true if the next word
    /// is the value of an option.
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
        // Options before a command are handled in `options_of`, because only a whole word can precede a command.
        let effect = self.spec.option(&name);
        self.options.push(Opt {
            name,
            value,
            command: Vec::new(),
            effect: effect.filter(|effect| *effect != Effect::Command),
        });
    }

    /// Returns true if one of these options may be set. An option is a letter, a long name, or the beginning of a long name.
    pub fn has(&self, names: &[impl AsRef<str>]) -> bool {
        self.options.iter().any(|option| option.is(names))
    }

    /// Returns true if one of these options may be set before the first operand.
    pub fn has_before(&self, names: &[impl AsRef<str>]) -> bool {
        let before = self.options.iter().take(self.before);
        before.into_iter().any(|option| option.is(names))
    }

    /// Returns true if one of these options is certainly set, with its full name, and no later option reverts it.
    pub fn is_certain(&self, names: &[impl AsRef<str>]) -> bool {
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

    /// Returns true if one of `names` comes after all options in `over`. If several options select the function of a
    /// program, the last of them is used.
    pub fn is_last(&self, names: &[impl AsRef<str>], over: &[impl AsRef<str>]) -> bool {
        let named = |option: &&Opt| option.is_named(names) || option.is_named(over);
        let last = self.options.iter().rev().find(named);
        last.is_some_and(|last| last.is_named(names))
    }

    /// Returns the values of options. A value is in the word of the option or in the next word.
    pub fn values(&self, names: &[impl AsRef<str>]) -> Vec<Value> {
        self.options
            .iter()
            .filter(|option| option.is(names))
            .filter(|option| option.effect != Some(Effect::Maybe) || option.value.is_some())
            .map(|option| option.value.clone().unwrap_or(Value::Unknown))
            .collect()
    }

    pub fn commands(&self, names: &[String]) -> Vec<&[Value]> {
        let given = self.options.iter().filter(|option| option.is(names));
        given.map(|option| option.command.as_slice()).collect()
    }

    pub fn first(&self) -> Option<&'a str> {
        self.operands.first().and_then(|operand| operand.plain())
    }
}

impl Opt {
    fn is(&self, names: &[impl AsRef<str>]) -> bool {
        if self.name.starts_with("--") && self.effect.is_none() {
            // GNU programs accept the beginning of a long name.
            let mut names = names.iter().map(AsRef::as_ref);
            return self.name.len() > 2 && names.any(|name| name.starts_with(&self.name));
        }
        self.name.is_empty() || self.is_named(names)
    }

    /// Returns true if the full name of the option is in `names`.
    fn is_named(&self, names: &[impl AsRef<str>]) -> bool {
        names.iter().any(|name| name.as_ref() == self.name)
    }
}
