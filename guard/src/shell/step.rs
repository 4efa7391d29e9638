//! Steps: what a program does with its words. Each is a line of the table; `table/reading.txt` says how it is written.

use super::programs::{self, Check, Kind, Rule};

/// One line: what is done, with which words, and on which conditions.
#[derive(Debug, Clone)]
pub(super) struct Step {
    pub verb: Verb,
    pub what: What,
    pub when: Vec<Condition>,
}

/// Verbs that stand alone, by their names.
macro_rules! verbs {
    ($($name:literal $verb:ident,)*) => {
        /// What is done, as the head of `table/reading.txt` says it.
        #[derive(Debug, Clone)]
        pub(super) enum Verb {
            $($verb,)*
            Named(String),
            Packed(String),
            Copy(Kind),
            Rule(&'static (&'static str, Rule)),
        }

        impl Verb {
            fn named(name: &str) -> Option<Verb> {
                match name {
                    $($name => Some(Verb::$verb),)*
                    _ => None,
                }
            }
        }
    };
}

verbs! {
    "write" Write,
    "output" Output,
    "entry" Entry,
    "dir" Dir,
    "tree" Tree,
    "overlay" Overlay,
    "prefix" Prefix,
    "beside" Beside,
    "paths" Paths,
    "unpacked" Unpacked,
    "unpack" Unpack,
    "worktree" Worktree,
    "leads" Leads,
    "run" Run,
    "run-here" RunHere,
    "script" Script,
    "line" Line,
    "set" Set,
    "evaluate-input" EvaluateInput,
    "in" In,
    "relative-to" RelativeTo,
    "nowhere" Nowhere,
    "ask" Ask,
    "give-up" GiveUp,
    "stop" Stop,
}

/// Words of a command.
#[derive(Debug, Clone, Default)]
pub(super) struct What {
    /// The values of these options.
    pub options: Vec<String>,
    pub others: Vec<Pick>,
}

#[derive(Debug, Clone)]
pub(super) enum Pick {
    /// The operand with this number, from 1 on.
    Operand(usize),
    /// That and those behind it.
    From(usize),
    Last,
    /// All but the last.
    Sources,
    /// What stands behind this word and the options that follow it.
    Behind(String),
    /// What stands behind this beginning in an operand.
    After(String),
    /// Operands that depend on an expansion.
    Expanded,
    /// This text.
    Text(String),
}

/// Something that has to hold for a step, or must not.
#[derive(Debug, Clone)]
pub(super) struct Condition {
    pub test: Test,
    pub negated: bool,
}

#[derive(Debug, Clone)]
pub(super) enum Test {
    /// One of these options may be given.
    Has(Vec<String>),
    /// One of them is given for sure and not taken back.
    Sure(Vec<String>),
    /// One of them may stand before the first operand.
    Before(Vec<String>),
    /// No others are given.
    Only(Vec<String>),
    /// Of all these options, one of the first stands last.
    Last(Vec<String>, Vec<String>),
    /// This letter stands in one word with others.
    Joined(String),
    /// An expansion may be any option.
    Unclear,
    /// The first operand is one of these.
    Word(Vec<String>),
    /// There is none of these words.
    None(What),
    /// All of them are known.
    Plain(What),
    /// An expansion among them may be an option.
    Open(What),
    /// One of them holds this text, or begins so behind `^`.
    Holds(String, What),
    /// All of them are known and what this says.
    Fits(Check, What),
}

impl Step {
    /// Reads a line.
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
        let (name, arguments) = said.split_first()?;
        let (verb, what) = verb(name, arguments)?;
        Some(Step {
            verb,
            what: What::parse(what)?,
            when,
        })
    }
}

/// The verb, and what follows it.
fn verb<'a>(name: &str, words: &'a [&'a str]) -> Option<(Verb, &'a [&'a str])> {
    if let Some(verb) = Verb::named(name) {
        return Some((verb, words));
    }
    let (argument, rest) = words.split_first()?;
    let verb = match name {
        "named" => Verb::Named((*argument).to_owned()),
        "packed" => Verb::Packed((*argument).to_owned()),
        "copy" => Verb::Copy(Kind::named(argument)?),
        "rule" => Verb::Rule(programs::rule(argument)?),
        _ => return None,
    };
    Some((verb, rest))
}

impl What {
    fn parse(words: &[&str]) -> Option<What> {
        let mut what = What::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let pick = match *word {
                "all" => Pick::From(1),
                "last" => Pick::Last,
                "sources" => Pick::Sources,
                "expanded" => Pick::Expanded,
                "behind" => Pick::Behind((*words.next()?).to_owned()),
                option if option.starts_with('-') => {
                    what.options.push(option.to_owned());
                    continue;
                }
                other => Pick::parse(other)?,
            };
            what.others.push(pick);
        }
        Some(what)
    }
}

impl Pick {
    fn parse(word: &str) -> Option<Pick> {
        if let Ok(number) = word.parse() {
            return Some(Pick::Operand(number));
        }
        if let Some(start) = word.strip_suffix('*') {
            return Some(Pick::After(start.to_owned()));
        }
        match word.strip_suffix("..").map(str::parse) {
            Some(Ok(number)) => Some(Pick::From(number)),
            _ => (word == ".").then(|| Pick::Text(word.to_owned())),
        }
    }
}

impl Condition {
    fn parse(name: &str, words: &[&str]) -> Option<Condition> {
        let negated = name.starts_with("unless");
        let name = name.trim_start_matches("unless").trim_start_matches("if");
        let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        let first = words.first();
        let others = What::parse(words.get(1..).unwrap_or_default());
        let test = match name {
            "" => Test::Has(owned(words)),
            "-sure" => Test::Sure(owned(words)),
            "-before" => Test::Before(owned(words)),
            "-only" => Test::Only(owned(words)),
            "-last" => {
                let over = words.iter().position(|word| *word == "over")?;
                let (last, others) = words.split_at_checked(over)?;
                Test::Last(owned(last), owned(others.get(1..)?))
            }
            "-joined" => Test::Joined((*first?).to_owned()),
            "-unclear" if words.is_empty() => Test::Unclear,
            "-word" => Test::Word(owned(words)),
            "-none" => Test::None(What::parse(words)?),
            "-plain" => Test::Plain(What::parse(words)?),
            "-open" => Test::Open(What::parse(words)?),
            "-holds" => Test::Holds(first?.trim_matches('"').to_owned(), others?),
            "-fits" => Test::Fits(Check::named(first?)?, others?),
            _ => return None,
        };
        Some(Condition { test, negated })
    }

    /// The options that it names.
    pub fn options(&self) -> impl Iterator<Item = &String> {
        let (these, others): (&[String], &[String]) = match &self.test {
            Test::Has(names) | Test::Sure(names) | Test::Before(names) | Test::Only(names) => {
                (names, &[])
            }
            Test::Last(names, over) => (names, over),
            Test::Joined(_) | Test::Unclear | Test::Word(_) => (&[], &[]),
            Test::None(what)
            | Test::Plain(what)
            | Test::Open(what)
            | Test::Holds(_, what)
            | Test::Fits(_, what) => (&what.options, &[]),
        };
        these.iter().chain(others)
    }
}
