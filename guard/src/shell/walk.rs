//! Walking through a parsed command: where each part runs, and what it writes.

use super::programs;
use super::word::{self, Read, Value};
use crate::place::Place;
use crate::writes::Writes;
use brush_parser::ast::{
    AndOr, AndOrList, AssignmentName, AssignmentValue, Command, CommandPrefixOrSuffixItem,
    CompoundCommand, CompoundList, FunctionBody, IoFileRedirectKind, IoFileRedirectTarget,
    IoRedirect, Pipeline, SeparatorOperator, SimpleCommand, Word,
};
use brush_parser::{Parser, ParserOptions};
use std::collections::BTreeMap;

/// Commands inside of commands inside of commands.
const DEPTH_MAX: usize = 16;

/// Variables that change what a program does.
const BINDING: [&str; 16] = [
    "PATH",
    "BASH_ENV",
    "ENV",
    "IFS",
    "CDPATH",
    "SHELL",
    "EDITOR",
    "PAGER",
    "HOME",
    "PS4",
    "PROMPT_COMMAND",
    "BASH_ALIASES",
    "BASH_CMDS",
    "LESSOPEN",
    "TAR_OPTIONS",
    "RSYNC_RSH",
];

/// What a program is given on its standard input, where that is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Stdin {
    /// This text.
    Text(String),
    /// Something else than the terminal.
    Other,
}

/// A walk through commands, with the directory as it changes on the way.
#[derive(Clone)]
pub(super) struct Walker {
    pub place: Place,
    functions: BTreeMap<String, FunctionBody>,
    depth: usize,
}

impl Walker {
    pub fn new(place: Place) -> Walker {
        Walker {
            place,
            functions: BTreeMap::new(),
            depth: 0,
        }
    }

    /// A whole script.
    pub fn run(&mut self, script: &str, writes: &mut Writes) {
        if self.depth >= DEPTH_MAX {
            writes.doubt("commands are nested too deeply");
            return;
        }
        self.depth += 1;
        let options = ParserOptions::default();
        match Parser::new(script.as_bytes(), &options).parse_program() {
            Err(_) => writes.doubt("the command could not be parsed"),
            Ok(program) => {
                for list in &program.complete_commands {
                    self.list(list, writes);
                }
            }
        }
        self.depth -= 1;
    }

    /// A script in a shell of its own.
    pub fn run_apart(&self, script: &str, writes: &mut Writes) {
        self.clone().run(script, writes);
    }

    fn list(&mut self, list: &CompoundList, writes: &mut Writes) {
        for item in &list.0 {
            match item.1 {
                SeparatorOperator::Async => self.clone().and_or(&item.0, writes),
                SeparatorOperator::Sequence => {
                    let before = self.place.clone();
                    self.and_or(&item.0, writes);
                    // Whether a change of the directory succeeded, only what hangs on it by `&&` knows.
                    self.settle(&before);
                }
            }
        }
    }

    /// Behind something that may or may not have changed the directory.
    fn settle(&mut self, before: &Place) {
        if self.place != *before {
            self.place = before.nowhere();
        }
    }

    fn and_or(&mut self, list: &AndOrList, writes: &mut Writes) {
        self.pipeline(&list.first, writes);
        for next in &list.additional {
            match next {
                AndOr::And(pipeline) => self.pipeline(pipeline, writes),
                AndOr::Or(pipeline) => {
                    // It runs where the one before failed, and is followed by what runs in either case.
                    let before = self.place.clone();
                    self.place = before.nowhere();
                    if !changes_dir(&list.first) {
                        self.place = before.clone();
                    }
                    self.pipeline(pipeline, writes);
                    self.settle(&before);
                }
            }
        }
    }

    fn pipeline(&mut self, pipeline: &Pipeline, writes: &mut Writes) {
        if let [only] = pipeline.seq.as_slice() {
            self.command(only, None, writes);
            return;
        }
        for (at, command) in pipeline.seq.iter().enumerate() {
            let stdin = (at > 0).then_some(Stdin::Other);
            self.clone().command(command, stdin, writes);
        }
    }

    fn command(&mut self, command: &Command, stdin: Option<Stdin>, writes: &mut Writes) {
        match command {
            Command::Simple(simple) => self.simple(simple, stdin, writes),
            Command::Compound(compound, redirects) => {
                let redirects = redirects.iter().flat_map(|list| &list.0);
                self.redirects(redirects, writes);
                self.compound(compound, writes);
            }
            Command::Function(function) => {
                self.functions
                    .insert(function.fname.value.clone(), function.body.clone());
            }
            Command::ExtendedTest(test, redirects) => {
                let redirects = redirects.iter().flat_map(|list| &list.0);
                self.redirects(redirects, writes);
                if word::runs_commands(&test.to_string()) {
                    writes.doubt("a test runs commands");
                }
            }
        }
    }

    fn compound(&mut self, compound: &CompoundCommand, writes: &mut Writes) {
        let before = self.place.clone();
        match compound {
            CompoundCommand::BraceGroup(group) => return self.list(&group.list, writes),
            CompoundCommand::Subshell(subshell) => {
                return self.clone().list(&subshell.list, writes);
            }
            CompoundCommand::Arithmetic(arithmetic) => {
                self.arithmetic(&arithmetic.expr.value, writes)
            }
            CompoundCommand::ArithmeticForClause(clause) => {
                let parts = [&clause.initializer, &clause.condition, &clause.updater];
                for part in parts.into_iter().flatten() {
                    self.arithmetic(&part.value, writes);
                }
                self.looped(&clause.body.list, writes);
            }
            CompoundCommand::ForClause(clause) => {
                for value in clause.values.iter().flatten() {
                    self.word(value, writes);
                }
                self.looped(&clause.body.list, writes);
            }
            CompoundCommand::WhileClause(clause) | CompoundCommand::UntilClause(clause) => {
                self.looped(&clause.0, writes);
                self.looped(&clause.1.list, writes);
            }
            CompoundCommand::CaseClause(clause) => {
                self.word(&clause.value, writes);
                for case in &clause.cases {
                    for pattern in &case.patterns {
                        self.word(pattern, writes);
                    }
                    if let Some(list) = &case.cmd {
                        self.branch(list, &before, writes);
                    }
                }
            }
            CompoundCommand::IfClause(clause) => {
                self.list(&clause.condition, writes);
                let before = self.place.clone();
                self.branch(&clause.then, &before, writes);
                for other in clause.elses.iter().flatten() {
                    if let Some(condition) = &other.condition {
                        self.branch(condition, &before, writes);
                    }
                    self.branch(&other.body, &before, writes);
                }
            }
            CompoundCommand::Coprocess(coprocess) => {
                self.clone()
                    .command(&coprocess.body, Some(Stdin::Other), writes);
            }
        }
        self.settle(&before);
    }

    /// Something that may run or not.
    fn branch(&mut self, list: &CompoundList, before: &Place, writes: &mut Writes) {
        let mut inside = self.clone();
        inside.place = before.clone();
        inside.list(list, writes);
        if inside.place != *before {
            self.place = before.nowhere();
        }
    }

    /// Something that may run again where it has led itself.
    fn looped(&mut self, list: &CompoundList, writes: &mut Writes) {
        let before = self.place.clone();
        let mut first = self.clone();
        first.list(list, &mut Writes::default());
        if first.place != before {
            self.place = before.nowhere();
        }
        self.list(list, writes);
        self.settle(&before);
    }

    fn arithmetic(&self, expression: &str, writes: &mut Writes) {
        if word::runs_commands(expression) {
            writes.doubt("an arithmetic expression runs commands");
        }
    }

    /// What a word stands for; the commands inside of it run.
    pub fn word(&mut self, word: &Word, writes: &mut Writes) -> Value {
        let read = word::read(&word.value, self.place.home.as_deref());
        self.inside(read, writes)
    }

    fn inside(&mut self, read: Read, writes: &mut Writes) -> Value {
        for command in &read.commands {
            self.run_apart(command, writes);
        }
        if read.opaque {
            writes.doubt("an expansion may run commands");
        }
        read.value
    }

    fn simple(&mut self, simple: &SimpleCommand, stdin: Option<Stdin>, writes: &mut Writes) {
        let prefix = simple.prefix.iter().flat_map(|items| &items.0);
        let suffix = simple.suffix.iter().flat_map(|items| &items.0);
        let mut words: Vec<Value> = Vec::new();
        let mut stdin = stdin;
        for item in prefix {
            self.item(item, None, &mut stdin, writes);
        }
        if let Some(name) = &simple.word_or_name {
            words.push(self.word(name, writes));
        }
        for item in suffix {
            self.item(item, Some(&mut words), &mut stdin, writes);
        }
        if !words.is_empty() {
            self.program(words, stdin, writes);
        }
    }

    fn item(
        &mut self,
        item: &CommandPrefixOrSuffixItem,
        words: Option<&mut Vec<Value>>,
        stdin: &mut Option<Stdin>,
        writes: &mut Writes,
    ) {
        match item {
            CommandPrefixOrSuffixItem::IoRedirect(redirect) => {
                if let Some(given) = self.redirect(redirect, writes) {
                    *stdin = Some(given);
                }
            }
            CommandPrefixOrSuffixItem::Word(word) => {
                let value = self.word(word, writes);
                if let Some(words) = words {
                    words.push(value);
                }
            }
            CommandPrefixOrSuffixItem::AssignmentWord(assignment, word) => {
                let name = match &assignment.name {
                    AssignmentName::VariableName(name)
                    | AssignmentName::ArrayElementName(name, _) => name,
                };
                if binds(name) {
                    writes.doubt(format!("{name} changes what programs do"));
                }
                match &assignment.value {
                    AssignmentValue::Scalar(value) => {
                        self.word(value, writes);
                    }
                    AssignmentValue::Array(values) => {
                        for (_, value) in values {
                            self.word(value, writes);
                        }
                    }
                }
                if let Some(words) = words {
                    let read = word::read(&word.value, None);
                    words.push(read.value);
                }
            }
            CommandPrefixOrSuffixItem::ProcessSubstitution(_, subshell) => {
                self.clone().list(&subshell.list, writes);
                if let Some(words) = words {
                    // A pipe between the two, which no file keeps.
                    words.push(Value::Plain("/dev/fd/63".to_owned()));
                }
            }
        }
    }

    fn redirects<'a>(
        &mut self,
        redirects: impl Iterator<Item = &'a IoRedirect>,
        writes: &mut Writes,
    ) {
        for redirect in redirects {
            self.redirect(redirect, writes);
        }
    }

    /// What a redirection writes; gives back what it puts on the standard input.
    fn redirect(&mut self, redirect: &IoRedirect, writes: &mut Writes) -> Option<Stdin> {
        match redirect {
            IoRedirect::OutputAndError(word, append) => {
                let value = self.word(word, writes);
                self.target(&value, if *append { "&>>" } else { "&>" }, writes);
                None
            }
            IoRedirect::HereDocument(_, document) => {
                let body = &document.doc.value;
                if document.requires_expansion {
                    let read = word::read_body(body);
                    return Some(match self.inside(read, writes) {
                        Value::Plain(text) => Stdin::Text(text),
                        _ => Stdin::Other,
                    });
                }
                Some(Stdin::Text(body.clone()))
            }
            IoRedirect::HereString(_, word) => Some(match self.word(word, writes) {
                Value::Plain(text) => Stdin::Text(text),
                _ => Stdin::Other,
            }),
            IoRedirect::File(_, kind, target) => self.file(kind, target, writes),
        }
    }

    fn file(
        &mut self,
        kind: &IoFileRedirectKind,
        target: &IoFileRedirectTarget,
        writes: &mut Writes,
    ) -> Option<Stdin> {
        let by = match kind {
            IoFileRedirectKind::Read | IoFileRedirectKind::DuplicateInput => None,
            IoFileRedirectKind::Write => Some(">"),
            IoFileRedirectKind::Append => Some(">>"),
            IoFileRedirectKind::ReadAndWrite => Some("<>"),
            IoFileRedirectKind::Clobber => Some(">|"),
            IoFileRedirectKind::DuplicateOutput => Some(">&"),
        };
        match target {
            IoFileRedirectTarget::Fd(_) => {}
            IoFileRedirectTarget::ProcessSubstitution(_, subshell) => {
                self.clone().list(&subshell.list, writes);
            }
            IoFileRedirectTarget::Filename(word) | IoFileRedirectTarget::Duplicate(word) => {
                let value = self.word(word, writes);
                let is_number = value.plain().is_some_and(|text| {
                    let digits = text.trim_end_matches('-');
                    digits.bytes().all(|byte| byte.is_ascii_digit())
                });
                let duplicates = matches!(
                    kind,
                    IoFileRedirectKind::DuplicateOutput | IoFileRedirectKind::DuplicateInput
                );
                if let (Some(by), false) = (by, duplicates && is_number) {
                    self.target(&value, by, writes);
                }
            }
        }
        by.is_none().then_some(Stdin::Other)
    }

    /// Something that `by` writes.
    pub fn target(&self, value: &Value, by: &str, writes: &mut Writes) {
        let (path, below) = match value {
            Value::Plain(path) => (path, false),
            Value::Below(path) => (path, true),
            Value::Unknown => {
                return writes.doubt(format!("what {by} writes depends on an expansion"));
            }
        };
        match self.place.resolve(path) {
            Some(path) => writes.write(path, below, by),
            None => writes.doubt(format!(
                "{by} writes {path}, in a directory that depends on what runs before"
            )),
        }
    }

    /// Everything below a directory may be written by `by`.
    pub fn target_below(&self, path: &str, by: &str, writes: &mut Writes) {
        self.target(&Value::Below(path.to_owned()), by, writes);
    }

    /// A program with its arguments, or a function of that name.
    pub fn program(&mut self, words: Vec<Value>, stdin: Option<Stdin>, writes: &mut Writes) {
        let name = words.first().and_then(Value::plain).unwrap_or_default();
        match self.functions.get(name).cloned() {
            Some(body) if self.depth < DEPTH_MAX => {
                self.depth += 1;
                let redirects = body.1.iter().flat_map(|list| &list.0);
                self.redirects(redirects, writes);
                let before = self.place.clone();
                self.compound(&body.0, writes);
                self.settle(&before);
                self.depth -= 1;
            }
            Some(_) => writes.doubt(format!("the function {name} calls itself too often")),
            None => programs::run(self, &words, stdin, writes),
        }
    }
}

fn binds(name: &str) -> bool {
    BINDING.contains(&name)
        || ["LD_", "GIT_", "DYLD_"]
            .iter()
            .any(|prefix| name.starts_with(prefix))
}

/// Whether a pipeline is a change of the directory.
fn changes_dir(pipeline: &Pipeline) -> bool {
    pipeline.seq.iter().any(|command| match command {
        Command::Simple(simple) => simple
            .word_or_name
            .as_ref()
            .is_some_and(|name| matches!(name.value.as_str(), "cd" | "pushd" | "popd")),
        _ => true,
    })
}
