//! What the steps of an entry of the table come to for the words of a command.

use super::{
    Run, archives, copies, doubt_indices, found_below, git_config, last_name, pack, parent,
};
use crate::shell::options::Words;
use crate::shell::step::{Condition, Pick, Step, Test, Verb, What};
use crate::shell::table::{self, Operands};
use crate::shell::variables;
use crate::shell::walk::{Stdin, Walker};
use crate::shell::word::{self, Known, Value};
use crate::writes::Writes;

/// Something that a value may be, told by its text.
#[derive(Debug, Clone)]
pub(in crate::shell) enum Check {
    /// What code says.
    Is(fn(&str) -> bool),
    /// The value, or its key, stands in a list of the table.
    Listed(String),
}

impl Check {
    /// By the name that the table uses.
    pub fn named(name: &str) -> Option<Check> {
        Some(match name {
            "git-setting" => Check::Is(git_config::is_harmless_pair),
            "remote" => Check::Is(is_remote),
            "ssh-command" => Check::Is(is_plain_ssh),
            "variable" => Check::Is(|name| !variables::changes(name, None)),
            list if list.starts_with('@') => Check::Listed(list.to_owned()),
            _ => return None,
        })
    }

    fn holds(&self, text: &str) -> bool {
        match self {
            Check::Is(is) => is(text),
            Check::Listed(list) => {
                let key = text.split(['=', ' ']).next().unwrap_or_default();
                table::lists(list, &key.to_lowercase())
            }
        }
    }
}

/// Whether a path is on another machine: a colon before any slash.
fn is_remote(path: &str) -> bool {
    let host = path.split('/').next();
    host.is_some_and(|host| host.contains(':'))
}

/// `ssh`, with nothing but where and as whom.
fn is_plain_ssh(command: &str) -> bool {
    let mut words = command.split_whitespace();
    if words.next() != Some("ssh") {
        return false;
    }
    while let Some(word) = words.next() {
        match word {
            "-p" | "-i" | "-l" => {
                words.next();
            }
            "-q" | "-4" | "-6" | "-C" | "-T" | "-x" => {}
            _ => return false,
        }
    }
    true
}

/// An entry that is being followed.
struct Entry<'a> {
    run: &'a Run<'a>,
    found: &'a Words<'a>,
    /// Where it stands by now.
    walker: Walker,
}

/// Follows the steps of an entry.
pub(super) fn run(walker: &mut Walker, run: &Run<'_>, writes: &mut Writes) {
    let name = run.name;
    let dashed;
    let words = match (run.spec.bundled, run.words.first()) {
        (true, Some(Value::Plain(_))) => {
            dashed = archives::dashed(run.words, run.spec);
            &dashed
        }
        (true, Some(_)) => {
            return writes.doubt(format!("what {name} does depends on an expansion"));
        }
        _ => run.words,
    };
    let found = Words::of(words, run.spec);
    found.check(name, writes);
    if run.spec.operands != Operands::Subcommand && !table::is_literal(name) {
        doubt_indices(name, words, writes);
    }
    let mut entry = Entry {
        run,
        found: &found,
        walker: walker.clone(),
    };
    for step in &run.spec.steps {
        if step.when.iter().all(|condition| entry.meets(condition)) {
            match &step.verb {
                Verb::Rule((_, rule)) => rule(walker, run, &found, writes),
                _ => entry.take(step, writes),
            }
            match step.verb {
                Verb::RunHere => walker.place = entry.walker.place.clone(),
                Verb::Copy(_) | Verb::GiveUp | Verb::Stop => return,
                _ => {}
            }
        }
    }
    match run.spec.operands {
        Operands::None if !found.operands.is_empty() => {
            writes.doubt(format!("{name} does more where it is given an operand"));
        }
        Operands::Subcommand => entry.subcommand(writes),
        _ => {}
    }
}

impl Entry<'_> {
    fn take(&mut self, step: &Step, writes: &mut Writes) {
        let by = self.run.name;
        match step.verb {
            Verb::Worktree => {
                let whole = Value::Below(self.walker.place.whole().to_owned());
                return self.walker.tree(&whole, by, writes);
            }
            Verb::Nowhere => self.walker.place = self.walker.place.nowhere(),
            Verb::Ask | Verb::GiveUp => {
                return writes.doubt(format!("what {by} does with these words is not known"));
            }
            Verb::Copy(kind) => return copies::run(&self.walker, by, kind, self.found, writes),
            Verb::EvaluateInput => {
                if let Some(Stdin::Text(text)) = &self.run.stdin
                    && word::runs_in_index(text)
                {
                    writes.doubt(format!("{by} is given what may run as an index"));
                }
            }
            Verb::Stop => {}
            _ => {}
        }
        let values = self.select(&step.what);
        match step.verb {
            Verb::Unpack => return archives::extracts(&self.walker, by, &values, writes),
            Verb::RelativeTo => {
                // Of several, the last one counts.
                self.walker.place = match values.last() {
                    Some(Value::Plain(dir)) => self.walker.place.below(dir),
                    Some(_) => self.walker.place.nowhere(),
                    None => return,
                };
                return;
            }
            Verb::Run => return self.program(&values, writes),
            Verb::RunHere => {
                let mut inside = self.walker.clone();
                super::run(&mut inside, &values, self.run.stdin.clone(), writes);
                self.walker.place = inside.place;
                return;
            }
            Verb::Line => {
                let words: Option<Vec<&str>> = values.iter().map(Value::plain).collect();
                return self.script(words.map(|words| words.join(" ")).as_deref(), writes);
            }
            _ => {}
        }
        for value in &values {
            self.each(&step.verb, value, writes);
        }
    }

    /// What a step does with one value.
    fn each(&mut self, verb: &Verb, value: &Value, writes: &mut Writes) {
        let by = self.run.name;
        let walker = &self.walker;
        match (verb, value) {
            (
                Verb::Output | Verb::Named(_) | Verb::Packed(_) | Verb::Unpacked,
                Value::Plain(path),
            ) if path == "-" => {}
            (Verb::Entry, _) => walker.entry(value, by, writes),
            (Verb::Dir, _) => walker.target(&found_below(value), by, writes),
            (Verb::Tree, _) => walker.tree(&found_below(value), by, writes),
            (Verb::Overlay, _) => walker.overlay(value, by, writes),
            (Verb::Prefix, Value::Plain(path)) if path.ends_with('/') => {
                walker.target_below(path, by, writes);
            }
            (Verb::Prefix, Value::Plain(path)) => walker.target_below(parent(path), by, writes),
            (Verb::Beside, Value::Plain(path)) => walker.target_below(parent(path), by, writes),
            (Verb::Beside, _) => {}
            (Verb::Paths, _) => self.git_path(value, writes),
            (Verb::Named(end), Value::Plain(path)) if !last_name(path).contains('.') => {
                walker.target(&Value::Plain(format!("{path}{end}")), by, writes);
            }
            (Verb::Packed(end), Value::Plain(path)) => {
                walker.target(&Value::Plain(format!("{path}{end}")), by, writes);
            }
            (Verb::Unpacked, Value::Plain(path)) => {
                walker.target(&pack::unpacked(path), by, writes);
            }
            (Verb::Leads, _) => walker.leads(value.plain(), None, false),
            (Verb::Script, _) => self.script(value.plain(), writes),
            (Verb::Set, Value::Plain(name)) => {
                walker.variable(name, None, writes);
                walker.remember().gives(name, Known::Nothing);
            }
            (Verb::Set, _) => writes.doubt("which variable is set depends on an expansion"),
            (Verb::In, Value::Plain(dir)) => self.walker.place = walker.place.within(dir),
            (Verb::In, _) => self.walker.place = walker.place.nowhere(),
            _ => walker.target(value, by, writes),
        }
    }

    fn program(&self, words: &[Value], writes: &mut Writes) {
        let mut inside = self.walker.clone();
        super::run(&mut inside, words, self.run.stdin.clone(), writes);
    }

    fn script(&self, script: Option<&str>, writes: &mut Writes) {
        match script {
            Some(script) => self.walker.run_apart(script, writes),
            None => writes.doubt(format!("{} runs what an expansion says", self.run.name)),
        }
    }

    /// A path that may hold a pattern, or begin at the top.
    fn git_path(&self, path: &Value, writes: &mut Writes) {
        let (walker, by) = (&self.walker, self.run.name);
        let Value::Plain(text) = path else {
            return walker.entry(path, by, writes);
        };
        if text.starts_with(':') {
            let whole = Value::Below(walker.place.whole().to_owned());
            return walker.tree(&whole, by, writes);
        }
        match text.find(['*', '?', '[', '\\']) {
            None => walker.entry(path, by, writes),
            Some(at) => {
                let fixed = text.get(..at).unwrap_or_default();
                let dir = match fixed.rsplit_once('/') {
                    None => ".",
                    Some(("", _)) => "/",
                    Some((dir, _)) => dir,
                };
                walker.tree(&Value::Below(dir.to_owned()), by, writes);
            }
        }
    }

    /// The first operand has an entry of its own.
    fn subcommand(&mut self, writes: &mut Writes) {
        let program = self.run.name;
        let Some((name, words)) = self.found.operands.split_first() else {
            return;
        };
        let Some(name) = name.plain() else {
            return writes.doubt(format!(
                "the subcommand of {program} depends on an expansion"
            ));
        };
        let path = format!("{program} {name}");
        let words: Vec<Value> = words.iter().map(|word| (*word).clone()).collect();
        match table::spec(&path) {
            None if self.run.spec.closed => writes.doubt(format!("{path} is not known")),
            None => super::unknown(&self.walker, &path, &words, writes),
            Some(spec) => {
                let inner = Run {
                    name: &path,
                    spec,
                    words: &words,
                    stdin: self.run.stdin.clone(),
                };
                super::judge(&mut self.walker, &inner, writes);
            }
        }
    }

    /// The words that a step is about.
    fn select(&self, what: &What) -> Vec<Value> {
        let mut values = match what.options.is_empty() {
            true => Vec::new(),
            false => self.found.values(&what.options),
        };
        for pick in &what.others {
            self.pick(pick, &mut values);
        }
        values
    }

    fn pick(&self, pick: &Pick, values: &mut Vec<Value>) {
        let operands = self.found.operands.as_slice();
        let count = operands.len();
        let some = match pick {
            Pick::Operand(number) => operands.get(number - 1..*number),
            Pick::From(number) => operands.get(number - 1..),
            Pick::Last => operands.get(count.saturating_sub(1)..),
            Pick::Sources => operands.get(..count.saturating_sub(1)),
            Pick::Behind(word) => return values.extend(self.behind(word).iter().cloned()),
            Pick::Expanded => {
                let expanded = operands.iter().filter(|word| word.plain().is_none());
                return values.extend(expanded.map(|word| (*word).clone()));
            }
            Pick::Text(text) => return values.push(Value::Plain(text.clone())),
            Pick::After(start) => {
                let plain = operands.iter().filter_map(|operand| operand.plain());
                let behind = plain.filter_map(|text| text.strip_prefix(start.as_str()));
                return values.extend(behind.map(|text| Value::Plain(text.to_owned())));
            }
        };
        values.extend(some.unwrap_or_default().iter().map(|word| (*word).clone()));
    }

    fn behind(&self, word: &str) -> &[Value] {
        let words = self.run.words;
        let at = words.iter().position(|other| other.plain() == Some(word));
        let behind = at.and_then(|at| words.get(at + 1..)).unwrap_or_default();
        match word {
            "--" => behind,
            _ => Words::leading(behind, self.run.spec).1,
        }
    }

    fn meets(&self, condition: &Condition) -> bool {
        let found = self.found;
        let met = match &condition.test {
            Test::Has(names) => found.has(names),
            Test::Sure(names) => found.sure(names),
            Test::Before(names) => found.has_before(names),
            Test::Only(names) => found
                .options
                .iter()
                .all(|option| names.contains(&option.name)),
            Test::Last(names, over) => found.is_last(names, over),
            Test::Joined(letter) => self.run.words.iter().any(|word| joins(word, letter)),
            Test::Unclear => found.options.iter().any(|option| option.name.is_empty()),
            Test::Word(words) => found
                .first()
                .is_some_and(|first| words.iter().any(|word| word == first)),
            Test::None(what) => self.select(what).is_empty(),
            Test::Plain(what) => self
                .select(what)
                .iter()
                .all(|value| value.plain().is_some()),
            Test::Open(what) => self.select(what).iter().any(Value::may_be_option),
            Test::Holds(text, what) => {
                let holds = |value: &str| match text.strip_prefix('^') {
                    Some(start) => value.starts_with(start),
                    None => value.contains(text.as_str()),
                };
                let values = self.select(what);
                values.iter().filter_map(Value::plain).any(holds)
            }
            Test::Fits(check, what) => {
                let fits = |value: &Value| value.plain().is_some_and(|text| check.holds(text));
                self.select(what).iter().all(fits)
            }
        };
        met != condition.negated
    }
}

/// Whether a word holds a letter among others behind one dash.
fn joins(word: &Value, letter: &str) -> bool {
    let letters = word.plain().and_then(|text| text.strip_prefix('-'));
    letters.is_some_and(|text| !text.starts_with('-') && text.len() > 1 && text.contains(letter))
}
