//! Steps: the effects of a program on its words. Each step is a line of the table. `table/reading.txt` describes the grammar.

use super::programs::{Check, Kind};
use super::*;

/// One line of the table: an effect, the words that it concerns, and its conditions.
#[derive(Debug, Clone)]
pub(super) struct Step {
    pub verb: Verb,
    pub what: What,
    pub when: Vec<Condition>,
}

/// The effect of a step. The beginning of `table/reading.txt` describes each effect.
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
    UnknownLink,
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
    /// Evaluates a word as arithmetic.
    Compute,
    /// Evaluates the index after the name of a variable.
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
    /// The step concerns the values of these options.
    pub options: Vec<String>,
    pub others: Vec<Pick>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Pick {
    /// The operand with this number, counted from 1.
    Operand(usize),
    /// The operand with this number, and all later operands.
    From(usize),
    Last,
    /// All operands except the last.
    Sources,
    /// Operands that contain an expansion.
    Expanded,
    /// The words after this word and after the options that follow it.
    Behind(String),
    /// The rest of an operand that begins with this text.
    After(String),
    Text(String),
    /// A path that cannot be determined without the disk.
    Anywhere,
    /// The files that the program finds in the directories of earlier steps.
    Found,
    /// The operands before the expression, such as the start directories of `find`.
    Starts,
    /// Standard input.
    Input,
}

/// A condition for a step.
#[derive(Debug, Clone)]
pub(super) struct Condition {
    pub test: Test,
    pub negated: bool,
    /// Options, or values with which the test compares.
    pub words: Vec<String>,
    pub what: What,
}

/// A test in a condition. The beginning of `table/reading.txt` describes each test.
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
    /// Standard output of the program is not the standard output of the tool call.
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

/// Parses a verb. Returns the verb and the words after it.
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
