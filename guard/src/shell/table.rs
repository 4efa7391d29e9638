//! What is known of programs, as data: `table/*.txt`, which says how it is written.
//!
//! A line that cannot be read is left out, and what it would have said is not known: then the guard asks. A test holds
//! that there is none.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

/// The texts, one for each kind of program.
const TEXTS: [&str; 5] = [
    include_str!("table/shell.txt"),
    include_str!("table/reading.txt"),
    include_str!("table/files.txt"),
    include_str!("table/git.txt"),
    include_str!("table/tools.txt"),
];

static TABLE: LazyLock<Table> = LazyLock::new(|| Table::read(&TEXTS));

/// What an option means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effect {
    /// It changes nothing about what is written.
    Flag,
    /// It takes a value, and neither writes nor runs it.
    Value,
    /// The same, where the value can only stand in the same word.
    Maybe,
    /// Its value names a file that is written.
    File,
    /// Its value names a directory below which anything may be written.
    Dir,
    /// It runs a program, or writes where its words do not say.
    Asks,
    /// The same, with a value.
    AsksValue,
}

impl Effect {
    /// Whether its value may be the next word.
    pub fn takes_next(self) -> bool {
        matches!(
            self,
            Effect::Value | Effect::File | Effect::Dir | Effect::AsksValue
        )
    }
}

/// What the operands of a program are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Operands {
    /// It reads them.
    Read,
    /// It has none: with one it does something that is not known.
    None,
    /// It writes them.
    Write,
    /// It removes or replaces them, and leaves alone what a link of that name leads to.
    Entry,
    /// The first is a subcommand, which has an entry of its own.
    Subcommand,
    /// Only running it would tell.
    Ask,
    /// The rule of that name says it.
    Rule(String),
}

/// What is known of a program, or of a subcommand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Spec {
    options: BTreeMap<String, Effect>,
    pub operands: Operands,
    /// No option that it has writes or runs anything, those that are not listed included.
    pub pure: bool,
    /// Options end at the first operand.
    pub leading: bool,
    /// Its options are whole words, with one dash or two.
    whole: bool,
}

impl Default for Spec {
    fn default() -> Spec {
        Spec {
            options: BTreeMap::new(),
            operands: Operands::Read,
            pure: false,
            leading: false,
            whole: false,
        }
    }
}

impl Spec {
    /// What an option means, by its whole name.
    pub fn option(&self, name: &str) -> Option<Effect> {
        match (self.whole, name.strip_prefix("--")) {
            (true, Some(rest)) => self.options.get(&format!("-{rest}")).copied(),
            _ => self.options.get(name).copied(),
        }
    }
    /// What the long options mean that begin so.
    pub fn beginning(&self, start: &str) -> impl Iterator<Item = Effect> {
        self.options
            .range(start.to_owned()..)
            .take_while(move |(name, _)| name.starts_with(start))
            .map(|(_, effect)| *effect)
    }
    /// Whether a word with one dash is one option and not a row of letters.
    pub fn is_whole(&self, name: &str) -> bool {
        self.whole || (name.len() > 2 && self.options.contains_key(name))
    }
}

/// What is known of a program or, with more words, of a subcommand.
pub(super) fn spec(path: &str) -> Option<&'static Spec> {
    TABLE.specs.get(path)
}

/// The rules that entries name.
#[cfg(test)]
pub(super) fn rules() -> impl Iterator<Item = &'static str> {
    TABLE
        .specs
        .values()
        .filter_map(|spec| match &spec.operands {
            Operands::Rule(rule) => Some(rule.as_str()),
            _ => None,
        })
}

/// What is known of a setting of `git`.
pub(super) fn git_setting(key: &str) -> Option<GitSetting> {
    let known = TABLE.lists("@git-setting", key);
    let idle = TABLE.lists("@git-setting-idle", key);
    known
        .then_some(GitSetting::Harmless)
        .or_else(|| idle.then_some(GitSetting::Program))
}

/// A setting of `git`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GitSetting {
    /// It runs nothing, whatever its value.
    Harmless,
    /// It is a program, and harmless where that does nothing.
    Program,
}

/// Whether a variable changes what programs do.
pub(super) fn variable_binds(name: &str) -> bool {
    TABLE.lists("@variable", name) && !TABLE.lists("@variable-harmless", name)
}

#[derive(Debug, Default)]
struct Table {
    specs: BTreeMap<String, Spec>,
    /// Lists of names; a star at their beginning or end stands for any letters.
    lists: BTreeMap<String, BTreeSet<String>>,
    /// Lines that could not be read.
    faults: Vec<String>,
}

impl Table {
    fn read(texts: &[&str]) -> Table {
        let mut table = Table::default();
        for text in texts {
            let mut heads: Vec<String> = Vec::new();
            for line in text.lines() {
                // A sign of its own begins a comment; options may hold it as a letter.
                let said = line.split_once(" # ").map_or(line, |(said, _)| said);
                match (
                    said.trim().is_empty() || said.starts_with('#'),
                    said.starts_with(' '),
                ) {
                    (true, _) => {}
                    (false, false) => heads = table.heads(said.trim()),
                    (false, true) => {
                        if table.property(&heads, said.trim()).is_none() {
                            table.faults.push(line.to_owned());
                        }
                    }
                }
            }
        }
        table
    }

    /// The names of an entry, parted by commas.
    fn heads(&mut self, line: &str) -> Vec<String> {
        let heads: Vec<String> = line.split(", ").map(str::to_owned).collect();
        for head in &heads {
            if self.specs.insert(head.clone(), Spec::default()).is_some() {
                self.faults.push(format!("{head} stands twice"));
            }
        }
        heads
    }

    fn property(&mut self, heads: &[String], line: &str) -> Option<()> {
        let mut words = line.split_whitespace();
        let what = words.next()?;
        let words: Vec<&str> = words.collect();
        if heads.is_empty() {
            return None;
        }
        if what == "names" {
            for head in heads {
                let list = self.lists.entry(head.clone()).or_default();
                list.extend(words.iter().map(|word| (*word).to_owned()));
            }
            return Some(());
        }
        let used = match what {
            "use" => Some(self.specs.get(*words.first()?)?.options.clone()),
            _ => None,
        };
        for head in heads {
            let spec = self.specs.get_mut(head)?;
            match &used {
                Some(used) => spec.options.extend(used.clone()),
                None => spec.set(what, &words)?,
            }
        }
        Some(())
    }

    /// Whether a list holds a name.
    fn lists(&self, list: &str, name: &str) -> bool {
        let Some(list) = self.lists.get(list) else {
            return false;
        };
        list.contains(name)
            || list.iter().any(
                |known| match (known.strip_prefix('*'), known.strip_suffix('*')) {
                    (Some(end), _) => name.ends_with(end),
                    (None, Some(start)) => name.starts_with(start),
                    (None, None) => false,
                },
            )
    }
}

impl Spec {
    fn set(&mut self, what: &str, words: &[&str]) -> Option<()> {
        let effect = match what {
            "flag" => Effect::Flag,
            "value" => Effect::Value,
            "maybe" => Effect::Maybe,
            "file" => Effect::File,
            "dir" => Effect::Dir,
            "asks" => Effect::Asks,
            "asks-value" => Effect::AsksValue,
            _ => return self.set_operands(what, words),
        };
        for word in words {
            if !word.starts_with(['-', '+']) || self.options.contains_key(*word) {
                return None;
            }
            self.options.insert((*word).to_owned(), effect);
        }
        Some(())
    }

    fn set_operands(&mut self, what: &str, words: &[&str]) -> Option<()> {
        match (what, words) {
            ("pure", []) => self.pure = true,
            ("leading", []) => self.leading = true,
            ("whole", []) => self.whole = true,
            ("digits", []) => {
                let digits = (0..10).map(|digit| (format!("-{digit}"), Effect::Flag));
                self.options.extend(digits);
            }
            ("rule", [name]) => self.operands = Operands::Rule((*name).to_owned()),
            ("operands", [kind]) => {
                self.operands = match *kind {
                    "read" => Operands::Read,
                    "none" => Operands::None,
                    "write" => Operands::Write,
                    "entry" => Operands::Entry,
                    "subcommand" => Operands::Subcommand,
                    "ask" => Operands::Ask,
                    _ => return None,
                }
            }
            _ => return None,
        }
        Some(())
    }
}

#[cfg(test)]
impl Spec {
    /// An entry of its own.
    pub fn read(text: &str) -> Spec {
        let mut table = Table::read(&[&format!("x\n {text}")]);
        assert!(table.faults.is_empty(), "{:?}", table.faults);
        table.specs.remove("x").unwrap()
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
        let read = Table::read(&["a, b\n  flag -x # why\n  nonsense\n\na\n  value -x\n  flag -x"]);
        let faults = ["  nonsense", "a stands twice", "  flag -x"];
        assert_eq!(read.faults, faults);
        let b = &read.specs["b"];
        assert_eq!(b.option("-x"), Some(Effect::Flag));
    }
}
