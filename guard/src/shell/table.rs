//! The known programs, as data in `table/*.txt`. The beginning of `table/reading.txt` describes the grammar.
//!
//! A line that cannot be parsed is ignored, so its program or option is unknown and the guard asks. A test fails if
//! there is such a line, and names the file and the number of the line.

use super::step::Step;
use serde::Deserialize;
use serde::de::value::{Error, StrDeserializer};
use serde::de::{DeserializeOwned, IntoDeserializer};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

/// The texts of the table with the names of their files. There is one file per kind of program.
const TEXTS: [(&str, &str); 6] = [
    ("shell.txt", include_str!("table/shell.txt")),
    ("reading.txt", include_str!("table/reading.txt")),
    ("files.txt", include_str!("table/files.txt")),
    ("git.txt", include_str!("table/git.txt")),
    ("tools.txt", include_str!("table/tools.txt")),
    ("agents.txt", include_str!("table/agents.txt")),
];

static TABLE: LazyLock<Table> = LazyLock::new(|| Table::read(&TEXTS));

/// Effect of an option on the writes of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Effect {
    /// The option does not change the writes.
    Flag,
    /// The option takes a value. The value is neither written nor run.
    Value,
    /// Like `Value`, but the value is always in the word of the option.
    Maybe,
    /// The option runs a program, or writes a path that the words do not name.
    Asks,
    /// Like `Asks`, and the option takes a value.
    AsksValue,
    /// The words after the option, up to `;` or `+`, are a command.
    Command,
}

impl Effect {
    /// Returns true if the next word may be the value of the option.
    pub fn takes_next(self) -> bool {
        matches!(self, Effect::Value | Effect::AsksValue)
    }
}

/// Default meaning of the operands of a program.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Operands {
    /// The program reads its operands.
    #[default]
    Read,
    /// The program has no operands; with an operand its effect is unknown.
    None,
    /// The first operand is a subcommand that has its own entry.
    Subcommand,
    /// The effect of every run is unknown, except a request for version or help.
    Ask,
}

/// A rule for reading the words of a program. The beginning of `table/reading.txt` describes each rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Note {
    Pure,
    Leading,
    Verbatim,
    Lenient,
    Whole,
    Wary,
    Bundled,
    Closed,
    Here,
}

/// The entry of a program or a subcommand in the table.
#[derive(Debug, Clone, Default)]
pub(super) struct Spec {
    options: BTreeMap<String, Effect>,
    notes: Vec<Note>,
    pub operands: Operands,
    /// The effects of the program, in their order.
    pub steps: Vec<Step>,
}

impl Spec {
    /// Makes an entry with these options.
    pub fn with(options: &[(String, bool)]) -> Spec {
        let options = options.iter().map(|(name, takes)| match takes {
            true => (name.clone(), Effect::Value),
            false => (name.clone(), Effect::Flag),
        });
        Spec {
            options: options.collect(),
            ..Spec::default()
        }
    }
    pub fn is(&self, note: Note) -> bool {
        self.notes.contains(&note)
    }
    /// Returns the effect of the option with this full name.
    pub fn option(&self, name: &str) -> Option<Effect> {
        match (self.is(Note::Whole), name.strip_prefix("--")) {
            (true, Some(rest)) => self.options.get(&format!("-{rest}")).copied(),
            _ => self.options.get(name).copied(),
        }
    }
    /// Returns true if a word with one dash is a single option, not several letters.
    pub fn is_whole(&self, name: &str) -> bool {
        self.is(Note::Whole) || (name.len() > 2 && self.options.contains_key(name))
    }
}

/// Returns the entry of a program. `path` has further words for a subcommand.
pub(super) fn spec(path: &str) -> Option<&'static Spec> {
    TABLE.specs.get(path)
}

/// Returns true if the list contains the name.
pub(crate) fn lists(list: &str, name: &str) -> bool {
    TABLE.lists(list, name)
}

/// Parses a word of the table.
pub(super) fn named<T: DeserializeOwned>(word: &str) -> Option<T> {
    let word: StrDeserializer<'_, Error> = word.into_deserializer();
    T::deserialize(word).ok()
}

#[derive(Debug, Default)]
struct Table {
    specs: BTreeMap<String, Spec>,
    /// Lists of names. A star at the beginning or end of a name matches any letters.
    lists: BTreeMap<String, BTreeSet<String>>,
    /// Descriptions of lines that could not be parsed.
    faults: Vec<String>,
}

impl Table {
    fn read(texts: &[(&str, &str)]) -> Table {
        let mut table = Table::default();
        for (file, text) in texts {
            let mut heads: Vec<String> = Vec::new();
            for (line, number) in text.lines().zip(1..) {
                // A comment begins with ` # `, because an option letter may be `#`.
                let said = line.split_once(" # ").map_or(line, |(said, _)| said);
                if said.trim().is_empty() || said.starts_with('#') {
                    continue;
                }
                let read = match said.starts_with(' ') {
                    false => table.heads(said.trim(), &mut heads),
                    true => table.property(&heads, said.trim()),
                };
                if read.is_none() {
                    table.faults.push(format!("{file}:{number}: {said}"));
                }
            }
        }
        table
    }

    /// Reads the names of an entry, which are separated by commas. Fails if a name has an entry already.
    fn heads(&mut self, line: &str, heads: &mut Vec<String>) -> Option<()> {
        *heads = line.split(", ").map(str::to_owned).collect();
        let mut new = true;
        for head in heads {
            new &= self.specs.insert(head.clone(), Spec::default()).is_none();
        }
        new.then_some(())
    }

    fn property(&mut self, heads: &[String], line: &str) -> Option<()> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let (what, words) = words.split_first()?;
        if heads.is_empty() {
            return None;
        }
        if *what == "names" {
            for head in heads {
                let list = self.lists.entry(head.clone()).or_default();
                list.extend(words.iter().map(|word| (*word).to_owned()));
            }
            return Some(());
        }
        let used = match *what {
            "use" => Some(self.specs.get(*words.first()?)?.clone()),
            _ => None,
        };
        for head in heads {
            let spec = self.specs.get_mut(head)?;
            match &used {
                Some(used) => spec.add(used),
                None => spec.set(what, words)?,
            }
        }
        Some(())
    }

    fn lists(&self, list: &str, name: &str) -> bool {
        let holds = |known: &String| match (known.strip_prefix('*'), known.strip_suffix('*')) {
            (Some(end), _) => name.ends_with(end),
            (None, Some(start)) => name.starts_with(start),
            (None, None) => false,
        };
        let list = self.lists.get(list);
        list.is_some_and(|list| list.contains(name) || list.iter().any(holds))
    }
}

impl Spec {
    /// Adds the options and steps of another entry.
    fn add(&mut self, used: &Spec) {
        self.options.extend(used.options.clone());
        self.steps.extend(used.steps.iter().cloned());
    }

    fn set(&mut self, what: &str, words: &[&str]) -> Option<()> {
        if let Some(effect) = named(what) {
            return self.list(words, effect);
        }
        match (what, words) {
            ("operands", [kind]) => self.operands = named(kind)?,
            ("digits", []) => {
                let digits = (0..10).map(|digit| (format!("-{digit}"), Effect::Flag));
                self.options.extend(digits);
            }
            _ => match named(what) {
                Some(note) if words.is_empty() => self.notes.push(note),
                _ => return self.step(&[&[what], words].concat()),
            },
        }
        Some(())
    }

    fn list(&mut self, options: &[&str], effect: Effect) -> Option<()> {
        for option in options {
            let new = self.options.insert((*option).to_owned(), effect);
            if !option.starts_with('-') || new.is_some() {
                return None;
            }
        }
        Some(())
    }

    /// Adds a step. An option of the step that is not listed yet is added as an option with a value. An option in a
    /// condition must be listed before.
    fn step(&mut self, words: &[&str]) -> Option<()> {
        let step = Step::parse(words)?;
        for option in &step.what.options {
            self.options.entry(option.clone()).or_insert(Effect::Value);
        }
        let is_listed = |option: &String| self.options.contains_key(option);
        if !step.when.iter().all(|when| when.options().all(is_listed)) {
            return None;
        }
        self.steps.push(step);
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_table_is_read() {
        let table = Table::read(&TEXTS);
        assert!(table.faults.is_empty(), "{:#?}", table.faults);
        assert!(table.specs.len() > 250, "{}", table.specs.len());
        let text = "a, b\n  flag -x # why\n  nonsense\n\na\n  value -x\n  flag -x\n  write 1 if -y\n  write 1 if -x";
        let read = Table::read(&[("t.txt", text)]);
        let faults = [
            "t.txt:3:   nonsense",
            "t.txt:5: a",
            "t.txt:7:   flag -x",
            "t.txt:8:   write 1 if -y",
        ];
        assert_eq!(read.faults, faults);
        assert_eq!(read.specs["a"].steps.len(), 1);
        let b = &read.specs["b"];
        assert_eq!(b.option("-x"), Some(Effect::Flag));
    }
}
