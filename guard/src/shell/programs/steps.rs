//! Carries out the steps that the table lists for a program.

use super::check::is_harmless;
use super::copies::Copies;
use super::*;
use crate::patch;
use crate::shell::history::AssignedValue;
use crate::shell::step::{Condition, Pick, Step, Test, Verb, What};

/// An entry of the table that is being carried out.
struct Entry<'a> {
    run: &'a Run<'a>,
    found: &'a Words<'a>,
    /// State of the walk through the command.
    walker: Walker,
    /// Directories in which the program finds files. Empty if they are unknown.
    finds: Vec<Value>,
    /// Words that the program replaces by the name of a found file.
    marks: Vec<Value>,
    /// True if the program keeps files that a copy replaces.
    backup: bool,
    /// True if a copy replaces a link to a directory.
    over: bool,
}

pub(super) fn run(walker: &mut Walker, run: &Run<'_>) {
    let name = run.name;
    let dashed;
    let words = match (run.spec.is(Note::Bundled), run.words.first()) {
        (true, Some(Value::Plain(_))) => {
            dashed = packed::dashed(run.words, run.spec);
            &dashed
        }
        (true, Some(_)) => {
            return walker.add_unknown(format!("the options of {name} depend on an expansion"));
        }
        _ => run.words,
    };
    let found = Words::split(words, run.spec);
    found.check(name, walker);
    let program = name.split(' ').next().unwrap_or_default();
    if run.spec.operands != Operands::Subcommand && !table::lists("@literal", program) {
        words
            .iter()
            .for_each(|word| add_unknown_index(walker, name, word));
    }
    let mut entry = Entry {
        run,
        found: &found,
        walker: walker.clone(),
        finds: Vec::new(),
        marks: Vec::new(),
        backup: false,
        over: false,
    };
    entry.follow();
    if run.spec.is(Note::Here) {
        *walker = entry.walker;
    }
}

/// Adds an unknown write if an index in the word may run a command when the word is evaluated.
fn add_unknown_index(walker: &Walker, name: &str, word: &Value) {
    if word.plain().is_some_and(word::runs_in_index) {
        walker.add_unknown(format!("{name} may run a command in an array index"));
    }
}

impl Entry<'_> {
    fn follow(&mut self) {
        for step in &self.run.spec.steps {
            if step.when.iter().all(|condition| self.meets(condition)) {
                self.take(step);
                if matches!(step.verb, Verb::Copy(_) | Verb::GiveUp | Verb::Stop) {
                    return;
                }
            }
        }
        match self.run.spec.operands {
            Operands::None if !self.found.operands.is_empty() => {
                self.doubt_that(|name| format!("cannot tell what {name} writes with an argument"))
            }
            Operands::Subcommand => self.subcommand(),
            _ => {}
        }
    }

    fn doubt_that(&self, why: impl Fn(&str) -> String) {
        self.walker.add_unknown(why(self.run.name));
    }

    fn take(&mut self, step: &Step) {
        let by = self.run.name;
        let values = self.select(&step.what);
        match &step.verb {
            Verb::Worktree => self.worktree(),
            Verb::Ask | Verb::GiveUp => {
                self.doubt_that(|name| {
                    format!("cannot tell what {name} writes with these arguments")
                });
            }
            Verb::Stop => {}
            Verb::Backup => self.backup = true,
            Verb::Over => self.over = true,
            Verb::Copy(kind) => {
                let copies = Copies::new(by, *kind, &self.found.operands, values.first());
                if let Some(copies) = copies {
                    if self.backup {
                        copies.keep(&self.walker);
                    }
                    copies.write(&self.walker, self.over);
                }
            }
            Verb::Kept => self.kept(&step.what),
            Verb::Unpack => packed::extracts(&self.walker, by, &values),
            Verb::Run => self.program(&values, self.run.stdin.clone()),
            Verb::RunAssigned => self.assigned(&values),
            Verb::RunFor => {
                self.run_for(&step.what);
                self.walker.answer.set(Answer::Unknown);
            }
            Verb::Answers(Answer::Top) if !self.walker.place.holds(".") => {}
            Verb::Answers(answer) => self.walker.answer.set(*answer),
            Verb::Finds => self.finds.extend(values.iter().map(found_below)),
            Verb::Marks => self.marks.extend(values),
            Verb::Line => {
                let words: Option<Vec<&str>> = values.iter().map(Value::plain).collect();
                self.script(words.map(|words| words.join(" ")).as_deref());
            }
            Verb::Setting => self.setting(&values),
            Verb::Chdir => self.chdir(&values),
            Verb::Nowhere => {
                self.finds = self
                    .finds
                    .iter()
                    .map(|place| self.absolute(place))
                    .collect();
                self.walker.place = self.walker.place.nowhere();
            }
            // If there are several directories, the last is used.
            Verb::RelativeTo => {
                self.walker.place = match values.last() {
                    Some(Value::Plain(dir)) => self.walker.place.below(dir),
                    Some(_) => self.walker.place.nowhere(),
                    None => return,
                };
            }
            verb => values.iter().for_each(|value| self.each(verb, value)),
        }
    }

    fn each(&mut self, verb: &Verb, value: &Value) {
        let by = self.run.name;
        let walker = &self.walker;
        let text = value.plain();
        match (verb, text) {
            (Verb::Output | Verb::Named(_) | Verb::Packed(_) | Verb::Unpacked, Some("-")) => {}
            (Verb::Entry, _) => walker.reach(value, Follow::Entry, by),
            (Verb::Dir, _) => walker.target(&found_below(value), by),
            (Verb::Tree, _) => walker.reach(&found_below(value), Follow::Tree, by),
            (Verb::Overlay, _) => walker.reach(value, Follow::Deep, by),
            (Verb::Prefix, Some(path)) if path.ends_with('/') => walker.target_below(path, by),
            (Verb::Prefix | Verb::Beside, Some(path)) => walker.target_below(parent(path), by),
            (Verb::Beside, None) => {}
            (Verb::Paths, _) => self.git_path(value),
            (Verb::Named(end), Some(path)) if !last_name(path).contains('.') => {
                walker.target(&Value::Plain(format!("{path}{end}")), by);
            }
            (Verb::Packed(end), Some(path)) => {
                walker.target(&Value::Plain(format!("{path}{end}")), by);
            }
            (Verb::Unpacked, Some(path)) => walker.target(&packed::unpacked(path), by),
            (Verb::UnknownLink, _) => walker.add_link(text, None, false),
            (Verb::Patch, _) => self.patch(text),
            (Verb::Script, _) => self.script(text),
            (Verb::Later, _) => self.later(text),
            (Verb::Set, Some(name)) => self.walker.fill(name),
            (Verb::Index, _) => walker.index_of(value),
            (Verb::Compute, Some(expression)) => walker.arithmetic(expression),
            (Verb::Compute, None) if *value == Value::Number => {}
            (Verb::Compute, None) => walker.add_unknown(format!(
                "{by} evaluates an expansion, which may run commands"
            )),
            (Verb::Integer, _) => self.integer(value),
            (Verb::Repository, Some(dir)) => self.repository(dir),
            (Verb::Declare, Some(text)) => self.declare(text),
            // The code that reads the word has already added an unknown write if one is needed.
            (Verb::Declare, None) if matches!(value, Value::Begins(text) if text.ends_with('=')) => {
            }
            (Verb::Set | Verb::Declare, None) => {
                walker.add_unknown("the name of a variable depends on an expansion");
            }
            (Verb::Evaluate, _) => add_unknown_index(walker, by, value),
            (Verb::In, Some(dir)) => self.walker.place = walker.place.within(dir),
            (Verb::In, None) => self.walker.place = walker.place.nowhere(),
            _ => walker.target(value, by),
        }
    }

    fn program(&mut self, words: &[Value], stdin: Option<Stdin>) {
        match self.run.spec.is(Note::Here) {
            true => super::run(&mut self.walker, words, stdin),
            false => super::run(&mut self.walker.clone(), words, stdin),
        }
    }

    /// Runs the program after assignments of variables, such as `env A=1 make`.
    fn assigned(&mut self, mut words: &[Value]) {
        while let Some((first, rest)) = words.split_first() {
            match first {
                Value::Plain(word) => match word.split_once('=') {
                    Some((name, value)) => self.walker.variable(name, Some(value)),
                    None => break,
                },
                Value::Begins(word) if word.ends_with('=') => {
                    self.walker.variable(word.trim_end_matches('='), None);
                }
                _ => break,
            }
            words = rest;
        }
        self.program(words, self.run.stdin.clone());
    }

    /// Runs a command for each found file. The command is in the words of an option, or in the operands.
    fn run_for(&mut self, what: &What) {
        let end = self.others(what);
        let commands = match what.options.is_empty() {
            true => vec![&[][..]],
            false => self.found.commands(&what.options),
        };
        for command in commands {
            for found in self.pick(&Pick::Found) {
                let words = command.iter().chain(&end);
                let filled: Vec<Value> = words.map(|word| self.filled(word, &found)).collect();
                self.program(&filled, Some(Stdin::Other));
            }
        }
    }

    /// Replaces placeholders in a word by the found file.
    fn filled(&self, word: &Value, found: &Value) -> Value {
        let Some(text) = word.plain() else {
            return word.clone();
        };
        // An unknown placeholder may be anywhere in the word.
        let marks = self
            .marks
            .iter()
            .map(|mark| mark.plain().unwrap_or_default());
        if marks.clone().any(|mark| mark == text) {
            return found.clone();
        }
        match marks.filter_map(|mark| text.find(mark)).min() {
            None => word.clone(),
            Some(at) if at > 0 && text.starts_with('-') => {
                Value::Begins(text.get(..at).unwrap_or_default().to_owned())
            }
            Some(_) => Value::Unknown,
        }
    }

    fn absolute(&self, dir: &Value) -> Value {
        match dir {
            Value::Below(dir) => {
                let dir = self.walker.place.resolve(dir);
                dir.map_or(Value::Unknown, Value::Below)
            }
            other => other.clone(),
        }
    }

    fn script(&mut self, script: Option<&str>) {
        match script {
            Some(script) if self.run.spec.is(Note::Here) => self.walker.run(script),
            Some(script) => self.walker.run_in_subshell(script),
            None => {
                self.doubt_that(|name| format!("{name} runs a script that depends on an expansion"))
            }
        }
    }

    /// Records a script that runs later, and walks through it.
    fn later(&mut self, script: Option<&str>) {
        if let Some(script) = script {
            let mut history = self.walker.remember();
            history.concurrent = true;
            if !history.traps.iter().any(|known| known == script) {
                history.traps.push(script.to_owned());
            }
        }
        self.script(script);
    }

    /// Declares a variable, and assigns its value if there is one.
    fn declare(&mut self, text: &str) {
        match text.split_once('=') {
            Some((name, value)) => {
                let given = AssignedValue::from_value(&Value::Plain(value.to_owned()));
                let value = Some(value).filter(|value| !value.is_empty());
                self.walker.index(name);
                self.walker.set(name, value, given);
            }
            // A declaration without a value keeps the variable's earlier value.
            None => {
                self.walker.index(text);
                self.walker.variable(text, None);
                // Inside a function, a new variable is empty.
                let anew = !matches!(self.run.name, "export" | "readonly");
                if anew && self.walker.history().has_variable(text) {
                    let empty = AssignedValue::from_value(&Value::Plain(String::new()));
                    self.walker.remember().add_value(text, empty);
                }
            }
        }
    }

    /// Declares a variable whose values are evaluated as arithmetic. Assigns its value if there is one.
    fn integer(&mut self, value: &Value) {
        let (Value::Plain(text) | Value::Begins(text)) = value else {
            return;
        };
        let (name, given) = text.split_once('=').unwrap_or((text, ""));
        self.walker.remember().add_integer(name);
        if matches!(value, Value::Plain(_)) {
            self.walker.arithmetic(given);
        } else if !self.walker.history().is_number(name) {
            self.walker.add_unknown(format!(
                "{name} is evaluated as arithmetic, and its value is unknown"
            ));
        }
    }

    /// Records a write of the `git` repository at a directory. The agent's own repository is not a target.
    fn repository(&self, dir: &str) {
        if !self.walker.is_own(dir) {
            self.walker
                .target_below(&format!("{dir}/.git"), self.run.name);
        }
    }

    fn chdir(&mut self, values: &[Value]) {
        let place = &self.walker.place;
        // `+N` and `-` select an earlier directory.
        let plain = |dir: &str| !dir.is_empty() && dir != "-" && !dir.starts_with('+');
        self.walker.place = match values {
            [Value::Plain(dir)] if plain(dir) => place.within(dir),
            _ => place.nowhere(),
        };
        self.walker.run_traps();
    }

    /// Adds an unknown write if a setting of `git` may name a program. A setting without a value is removed.
    fn setting(&self, values: &[Value]) {
        let key = values.first().and_then(Value::plain);
        let value = values.get(1).and_then(Value::plain);
        if !key.is_some_and(|key| is_harmless(key, value)) {
            let setting = key.map_or("a git setting".to_owned(), |key| {
                format!("the git setting {key}")
            });
            self.walker
                .add_unknown(format!("{setting} may name a program that git runs"));
        }
    }

    fn patch(&self, text: Option<&str>) {
        match text.and_then(patch::files) {
            Some(files) => files
                .into_iter()
                .for_each(|file| self.walker.target(&Value::Plain(file), self.run.name)),
            None => self
                .doubt_that(|name| format!("cannot tell which files the patch of {name} writes")),
        }
    }

    /// Records the backup copies of files that a program changes in place. The option's value is the suffix of the
    /// names of the copies.
    fn kept(&self, what: &What) {
        let files = self.others(what);
        for suffix in self.found.values(&what.options) {
            for file in &files {
                self.walker.target(&kept(file, &suffix), self.run.name);
            }
        }
    }

    fn worktree(&self) {
        let whole = Value::Below(self.walker.place.whole().to_owned());
        self.walker.reach(&whole, Follow::Tree, self.run.name);
    }

    /// Records a write of a `git` path, which may contain a pattern or be relative to the top of the repository.
    fn git_path(&self, path: &Value) {
        let (walker, by) = (&self.walker, self.run.name);
        let text = path.plain().unwrap_or_default();
        if text.starts_with(':') {
            return self.worktree();
        }
        match text.find(['*', '?', '[', '\\']) {
            None => walker.reach(path, Follow::Entry, by),
            Some(at) => {
                let dir = parent(text.get(..=at).unwrap_or_default());
                walker.reach(&Value::Below(dir.to_owned()), Follow::Tree, by);
            }
        }
    }

    /// Handles the first operand as a subcommand that has its own entry.
    fn subcommand(&mut self) {
        let program = self.run.name;
        let Some((name, words)) = self.found.operands.split_first() else {
            return;
        };
        let Some(name) = name.plain() else {
            return self.doubt_that(|program| {
                format!("the subcommand of {program} depends on an expansion")
            });
        };
        let path = format!("{program} {name}");
        let words: Vec<Value> = words.iter().map(|word| (*word).clone()).collect();
        match table::spec(&path) {
            None if self.run.spec.is(Note::Closed) => {
                self.walker
                    .add_unknown(format!("unknown subcommand {path}"));
            }
            None => super::unknown(&self.walker, &path, &words),
            Some(spec) => {
                let inner = Run {
                    name: &path,
                    spec,
                    words: &words,
                    stdin: self.run.stdin.clone(),
                };
                super::judge(&mut self.walker, &inner);
            }
        }
    }

    /// Returns the words that a step concerns.
    fn select(&self, what: &What) -> Vec<Value> {
        let values = match what.options.is_empty() {
            true => Vec::new(),
            false => self.found.values(&what.options),
        };
        [values, self.others(what)].concat()
    }

    /// Returns the words that a step concerns, without values of options.
    fn others(&self, what: &What) -> Vec<Value> {
        what.others
            .iter()
            .flat_map(|pick| self.pick(pick))
            .collect()
    }

    fn pick(&self, pick: &Pick) -> Vec<Value> {
        let operands = self.found.operands.as_slice();
        let but_last = operands.len().saturating_sub(1);
        let some = match pick {
            Pick::Operand(number) => operands.get(number - 1..*number),
            Pick::From(number) => operands.get(number - 1..),
            Pick::Last => operands.get(but_last..),
            Pick::Sources => operands.get(..but_last),
            Pick::Starts => Some(self.found.starts()),
            Pick::Behind(word) => return self.behind(word).to_vec(),
            Pick::Expanded => {
                let expanded = operands.iter().filter(|word| word.plain().is_none());
                return expanded.map(|word| (*word).clone()).collect();
            }
            Pick::After(start) => {
                let plain = operands.iter().filter_map(|operand| operand.plain());
                let behind = plain.filter_map(|text| text.strip_prefix(start.as_str()));
                return behind.map(|text| Value::Plain(text.to_owned())).collect();
            }
            Pick::Text(text) => return vec![self.text(text)],
            Pick::Anywhere => return vec![Value::Unknown],
            Pick::Found if self.finds.is_empty() => return vec![Value::Unknown],
            Pick::Found => return self.finds.clone(),
            Pick::Input => {
                return vec![match &self.run.stdin {
                    Some(Stdin::Text(text)) => Value::Plain(text.clone()),
                    _ => Value::Unknown,
                }];
            }
        };
        some.unwrap_or_default()
            .iter()
            .map(|word| (*word).clone())
            .collect()
    }

    /// Returns a text of the table. Replaces `~/` by the home directory.
    fn text(&self, text: &str) -> Value {
        match (text.strip_prefix('~'), &self.walker.place.home) {
            (None, _) => Value::Plain(text.to_owned()),
            (Some(rest), Some(home)) => Value::Plain(format!("{home}{rest}")),
            (Some(_), None) => Value::Unknown,
        }
    }

    fn behind(&self, word: &str) -> &[Value] {
        let words = self.run.words;
        if word == "1" {
            let operands = Words::leading(words, self.run.spec).1;
            return operands.get(1..).unwrap_or_default();
        }
        let at = words.iter().position(|other| other.plain() == Some(word));
        let behind = at.and_then(|at| words.get(at + 1..)).unwrap_or_default();
        match word {
            "--" => behind,
            _ => Words::leading(behind, self.run.spec).1,
        }
    }

    fn meets(&self, condition: &Condition) -> bool {
        let (found, words) = (self.found, &condition.words);
        let values = || self.select(&condition.what);
        let word = words.first().map_or("", String::as_str);
        let met =
            match &condition.test {
                Test::Has => found.has(words),
                Test::Sure => found.is_certain(words),
                Test::Before => found.has_before(words),
                Test::Only => found
                    .options
                    .iter()
                    .all(|option| words.contains(&option.name)),
                Test::Last => found.is_last(words, &condition.what.options),
                Test::Joined => self.run.words.iter().any(|other| joins(other, word)),
                Test::Unclear => found.options.iter().any(|option| option.name.is_empty()),
                Test::Word => found
                    .first()
                    .is_some_and(|first| words.iter().any(|word| word == first)),
                Test::None => values().is_empty(),
                Test::Output => self.walker.has_output,
                Test::Plain => values().iter().all(|value| value.plain().is_some()),
                Test::Open => values().iter().any(Value::may_be_option),
                Test::Holds => values().iter().filter_map(Value::plain).any(|value| {
                    match word.strip_prefix('^') {
                        Some(start) => value.starts_with(start),
                        None => value.contains(word),
                    }
                }),
                Test::Fits(check) => values()
                    .iter()
                    .all(|value| value.plain().is_some_and(|text| check.holds(text))),
            };
        met != condition.negated
    }
}

/// Returns true if a word combines several option letters and one of them is `letter`.
fn joins(word: &Value, letter: &str) -> bool {
    let letters = word.plain().and_then(|text| text.strip_prefix('-'));
    letters.is_some_and(|text| !text.starts_with('-') && text.len() > 1 && text.contains(letter))
}

/// Returns the name of a kept copy. If the suffix contains a star, the star is replaced by the file's name.
fn kept(file: &Value, suffix: &Value) -> Value {
    match (file, suffix) {
        (Value::Plain(file), Value::Plain(suffix)) => {
            let name = match suffix.contains('*') {
                true => suffix.replace('*', last_name(file)),
                false => format!("{}{suffix}", last_name(file)),
            };
            match (name.contains('/'), parent(file)) {
                (true, _) | (_, ".") => Value::Plain(name),
                (false, dir) => Value::Plain(format!("{dir}/{name}")),
            }
        }
        (Value::Below(dir), Value::Plain(suffix)) if !suffix.contains('/') => {
            Value::Below(dir.clone())
        }
        _ => Value::Unknown,
    }
}
