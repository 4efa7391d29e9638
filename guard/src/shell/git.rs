//! What `git` writes in the working tree, and which programs it is told to run. Its own directory is not looked after.

mod remote;
mod settings;
mod tree;

use super::options::{Opt, Words};
use super::programs::Run;
use super::table::{self, Operands, Spec};
use super::walk::Walker;
use super::word::Value;
use crate::writes::Writes;

/// A subcommand with its words.
pub(super) struct Git<'a> {
    pub walker: &'a Walker,
    pub name: &'a str,
    pub words: &'a [Value],
    pub found: Words<'a>,
    spec: &'a Spec,
    /// As people say it.
    pub by: String,
}

pub(super) fn run(walker: &mut Walker, run: &Run<'_>, writes: &mut Writes) {
    let (found, rest) = Words::leading(run.words, run.spec);
    found.check(walker, "git", writes);
    let mut inside = walker.clone();
    for option in &found.options {
        leads(&mut inside, option, writes);
    }
    let Some((name, words)) = rest.split_first() else {
        return;
    };
    let Some(name) = name.plain() else {
        return writes.doubt("the subcommand of git depends on an expansion");
    };
    let by = format!("git {name}");
    let Some(spec) = table::spec(&by).filter(|spec| spec.operands != Operands::Ask) else {
        return writes.doubt(format!("{by} is not known"));
    };
    let git = Git {
        walker: &inside,
        name,
        words,
        found: Words::of(words, spec),
        spec,
        by,
    };
    git.judge(writes);
}

/// An option before the subcommand that says where, or sets something.
fn leads(walker: &mut Walker, option: &Opt, writes: &mut Writes) {
    let value = option.value.as_ref().and_then(Value::plain);
    match (option.name.as_str(), value) {
        ("-C", Some(dir)) => walker.place = walker.place.within(dir),
        ("-C", None) => walker.place = walker.place.nowhere(),
        ("-c", Some(setting)) if settings::is_harmless_pair(setting) => {}
        ("-c", _) => writes.doubt("git -c sets what may be a program that git runs"),
        _ => {}
    }
}

impl Git<'_> {
    fn judge(&self, writes: &mut Writes) {
        self.found.check(self.walker, &self.by, writes);
        if self.spec.operands == Operands::Read {
            return self.helpers(writes);
        }
        match self.name {
            "config" => settings::run(self, writes),
            "clone" | "init" | "fetch" | "push" | "ls-remote" | "archive" | "bundle"
            | "submodule" => remote::run(self, writes),
            _ => tree::run(self, writes),
        }
        self.helpers(writes);
    }

    /// An address that begins with the name of a program.
    fn helpers(&self, writes: &mut Writes) {
        let reaches = ["remote", "fetch", "pull", "push", "clone", "ls-remote"];
        if !reaches.contains(&self.name) {
            return;
        }
        let named = |word: &&Value| word.plain().is_some_and(|text| text.contains("::"));
        if self.found.operands.iter().any(named) {
            writes.doubt(format!(
                "{} reaches a repository by another program",
                self.by
            ));
        }
    }

    /// Anything in the working tree, from wherever in it.
    pub fn whole(&self, writes: &mut Writes) {
        let whole = Value::Below(self.walker.place.whole().to_owned());
        self.walker.tree(&whole, &self.by, writes);
    }

    pub fn targets(&self, operands: &[&Value], writes: &mut Writes) {
        for operand in operands {
            self.walker.target(operand, &self.by, writes);
        }
    }

    /// Paths that may hold patterns, or begin at the top.
    pub fn paths(&self, operands: &[&Value], writes: &mut Writes) {
        for operand in operands {
            match operand {
                Value::Plain(path) if path.starts_with(':') => self.whole(writes),
                Value::Plain(path) => match path.find(['*', '?', '[', '\\']) {
                    None => self.walker.entry(operand, &self.by, writes),
                    Some(at) => {
                        let fixed = path.get(..at).unwrap_or_default();
                        let dir = match fixed.rsplit_once('/') {
                            None => ".",
                            Some(("", _)) => "/",
                            Some((dir, _)) => dir,
                        };
                        let below = Value::Below(dir.to_owned());
                        self.walker.tree(&below, &self.by, writes);
                    }
                },
                other => self.walker.entry(other, &self.by, writes),
            }
        }
    }

    /// The first operand, where a subcommand has others of its own.
    pub fn deed(&self) -> Option<&str> {
        self.found.first()
    }

    /// The operands behind the first.
    pub fn behind_deed(&self) -> &[&Value] {
        self.found.operands.get(1..).unwrap_or_default()
    }
}
