//! Steps: what a program does with its words. Each is a line of the table; `table/reading.txt` says how it is written.

use super::programs::{Check, Kind};
use super::*;

/// One line: what is done, with which words, and on which conditions.
#[derive(Debug, Clone)]
pub(super) struct Step {
    pub verb: Verb,
    pub what: What,
    pub when: Vec<Condition>,
}

/// What is done, as the head of `table/reading.txt` says it.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Verb {
    Write,
    Output,
    Entry,
    Dir,
    Tree,
    Overlay,
    Prefix,
    Beside,
    Named(String),
    Packed(String),
    Unpacked,
    Unpack,
    Kept,
    Backup,
    Over,
    Copy(Kind),
    Paths,
    Worktree,
    Patch,
    Leads,
    Run,
    RunAssigned,
    RunFor,
    Finds,
    Marks,
    Script,
    Line,
    Later,
    Set,
    Declare,
    Evaluate,
    /// Evaluates it as arithmetic.
    Compute,
    /// Evaluates the index behind a variable's name.
    Index,
    Integer,
    Answers(Answer),
    Repository,
    Setting,
    In,
    Chdir,
    RelativeTo,
    Nowhere,
    Ask,
    GiveUp,
    Stop,
}

#[derive(Debug, Clone, Default)]
pub(super) struct What {
    /// The values of these options.
    pub options: Vec<String>,
    pub others: Vec<Pick>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Pick {
    /// The operand with this number, from 1 on.
    Operand(usize),
    /// That and those behind it.
    From(usize),
    Last,
    /// All but the last.
    Sources,
    /// Operands that depend on an expansion.
    Expanded,
    /// What stands behind this word and the options that follow it.
    Behind(String),
    /// What stands behind this beginning in an operand.
    After(String),
    Text(String),
    /// A place that only the disk tells.
    Anywhere,
    /// What the program finds, as far as steps before said where.
    Found,
    /// The operands before an expression.
    Starts,
    /// What it is given to read.
    Input,
}

/// Something that has to hold for a step, or must not.
#[derive(Debug, Clone)]
pub(super) struct Condition {
    pub test: Test,
    pub negated: bool,
    /// Options, or what the test compares with.
    pub words: Vec<String>,
    pub what: What,
}

/// As the head of `table/reading.txt` says it.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Test {
    Has,
    Sure,
    Before,
    Only,
    Last,
    Joined,
    Unclear,
    Word,
    None,
    Plain,
    Open,
    Holds,
    /// The standard output is another one than that of the tool call.
    Output,
    Fits(Check),
}

impl Step {
    pub fn parse(words: &[&str]) -> Option<Step> {
        let is_condition = |word: &&&str| {
            let rest = word
                .strip_prefix("if")
                .or_else(|| word.strip_prefix("unless"));
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
        };
        let first = words.iter().take_while(|word| !is_condition(word)).count();
        let (said, mut rest) = words.split_at_checked(first)?;
        let mut when = Vec::new();
        while let Some((name, behind)) = rest.split_first() {
            let end = behind.iter().take_while(|word| !is_condition(word)).count();
            let (arguments, others) = behind.split_at_checked(end)?;
            when.push(Condition::parse(name, arguments)?);
            rest = others;
        }
        let (verb, what) = verb(said)?;
        Some(Step {
            verb,
            what: What::parse(what)?,
            when,
        })
    }
}

/// The verb, and what follows it.
fn verb<'a>(words: &'a [&'a str]) -> Option<(Verb, &'a [&'a str])> {
    match words {
        ["named", end, rest @ ..] => Some((Verb::Named((*end).to_owned()), rest)),
        ["packed", end, rest @ ..] => Some((Verb::Packed((*end).to_owned()), rest)),
        ["copy", kind, rest @ ..] => Some((Verb::Copy(named(kind)?), rest)),
        ["answers", kind, rest @ ..] => Some((Verb::Answers(named(kind)?), rest)),
        [verb, rest @ ..] => Some((named(verb)?, rest)),
        [] => None,
    }
}

impl What {
    fn parse(words: &[&str]) -> Option<What> {
        let mut what = What::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match *word {
                "behind" => what.others.push(Pick::Behind((*words.next()?).to_owned())),
                option if option.starts_with('-') => what.options.push(option.to_owned()),
                other => what.others.push(Pick::parse(other)?),
            }
        }
        Some(what)
    }
}

impl Pick {
    fn parse(word: &str) -> Option<Pick> {
        if let Ok(number) = word.parse() {
            return Some(Pick::Operand(number));
        }
        if let Some(Ok(number)) = word.strip_suffix("..").map(str::parse) {
            return Some(Pick::From(number));
        }
        if let Some(start) = word.strip_suffix('*') {
            return Some(Pick::After(start.to_owned()));
        }
        match word {
            "all" => Some(Pick::From(1)),
            text if text.starts_with(['.', '/', '~', '{']) => Some(Pick::Text(text.to_owned())),
            other => named(other),
        }
    }
}

impl Condition {
    fn parse(name: &str, words: &[&str]) -> Option<Condition> {
        let negated = name.starts_with("unless");
        let name = name.trim_start_matches("unless").trim_start_matches("if");
        let name = name.trim_start_matches('-');
        let behind = words.get(1..).unwrap_or_default();
        let (test, words, what) = match name {
            "" => (Test::Has, words, &[][..]),
            "fits" => (Test::Fits(Check::named(words.first()?)?), &[][..], behind),
            "holds" => (Test::Holds, words.get(..1)?, behind),
            "none" | "plain" | "open" => (named(name)?, &[][..], words),
            "last" => {
                let over = words.iter().position(|word| *word == "over")?;
                (Test::Last, words.get(..over)?, words.get(over + 1..)?)
            }
            _ => (named(name)?, words, &[][..]),
        };
        let words = words.iter().map(|word| word.trim_matches('"').to_owned());
        Some(Condition {
            test,
            negated,
            words: words.collect(),
            what: What::parse(what)?,
        })
    }

    pub fn options(&self) -> impl Iterator<Item = &String> {
        let is_option = |word: &&String| word.len() > 1 && word.starts_with('-');
        self.words
            .iter()
            .filter(is_option)
            .chain(&self.what.options)
    }
}
