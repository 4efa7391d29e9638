//! Walks through a parsed command. Keeps track of the working directory, and collects the writes.

use super::cases::Case;
use super::history::{AssignedValue, History};
use super::*;
use brush_parser::ast::{
    AndOr, AndOrList, Assignment, AssignmentName, AssignmentValue, Command,
    CommandPrefixOrSuffixItem, CompoundCommand, CompoundList, FunctionBody, Pipeline,
    SeparatorOperator, SimpleCommand, Word,
};
use brush_parser::{Parser, ParserOptions};
use std::cell::{Cell, Ref, RefCell, RefMut};
use std::collections::BTreeSet;
use std::rc::Rc;

/// Maximum depth of nested commands.
const DEPTH_MAX: usize = 16;
/// Maximum number of walks through a part that may run repeatedly. The walks end earlier if a walk changes nothing.
const ROUNDS_MAX: usize = 8;

/// Standard input of a program, if it is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Stdin {
    /// Standard input is this text.
    Text(String),
    /// Standard input is unknown, but it is not the terminal.
    Other,
}

impl Stdin {
    pub fn from_value(value: Value) -> Stdin {
        match value {
            Value::Plain(text) => Stdin::Text(text),
            _ => Stdin::Other,
        }
    }
}

/// Output of a command, if it is known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Answer {
    #[default]
    Unknown,
    /// Words without a leading dash and without a pattern, such as names of commits.
    Name,
    /// One or more numbers.
    Number,
    /// The path of the repository's top directory.
    Top,
}

/// A walk through commands, with the current working directory.
#[derive(Clone, Default)]
pub(super) struct Walker {
    pub place: Place,
    /// Directory in which the tool call starts.
    start_dir: Option<String>,
    /// All possible bodies of each function, because it is unknown which declarations run.
    functions: BTreeMap<String, Vec<FunctionBody>>,
    depth: usize,
    /// Variables that were certainly assigned.
    pub assigned: BTreeSet<String>,
    /// The values of variables in this walk, one combination.
    pub case: Case,
    /// True if standard output is not the standard output of the tool call.
    pub has_output: bool,
    /// Output of the last command, if it is known.
    pub answer: Rc<Cell<Answer>>,
    history: Rc<RefCell<History>>,
    /// The targets and unknown writes that were found so far.
    pub writes: Rc<RefCell<Writes>>,
    /// Programs that are known in addition to the table of programs.
    pub programs: Rc<Programs>,
}

impl Walker {
    pub fn new(place: Place, programs: Programs) -> Walker {
        Walker {
            start_dir: place.dir.clone(),
            place,
            programs: Rc::new(programs),
            ..Walker::default()
        }
    }

    /// Returns true if a directory is in the agent's repository or below the directory in which the tool call starts.
    pub fn is_own(&self, dir: &str) -> bool {
        let here = Place {
            top: self.start_dir.clone(),
            ..self.place.clone()
        };
        self.place.holds(dir) || here.holds(dir)
    }

    /// Adds an unknown write.
    pub fn add_unknown(&self, unknown: impl Into<Unknown>) {
        self.writes.borrow_mut().add_unknown(unknown);
    }

    /// Returns the effects of the command so far. All walks of a tool call share them.
    pub fn history(&self) -> Ref<'_, History> {
        self.history.borrow()
    }
    pub fn remember(&self) -> RefMut<'_, History> {
        self.history.borrow_mut()
    }

    /// Walks through the whole tool call, and returns its writes.
    pub fn whole(&mut self, look: impl Fn(&mut Walker)) -> Writes {
        // Repeat until nothing changes, because a part that runs concurrently may use a link or a variable that a later part
        // creates.
        for _ in 0..ROUNDS_MAX {
            let known = self.history().revision();
            look(&mut self.clone());
            let history = self.history();
            if !history.concurrent || history.revision() == known {
                return self.writes.take();
            }
        }
        self.add_unknown("parts that run at the same time affect each other");
        self.writes.take()
    }

    pub fn run(&mut self, script: &str) {
        if self.depth >= DEPTH_MAX {
            return self.add_unknown("commands are nested too deeply");
        }
        self.depth += 1;
        let options = ParserOptions::default();
        match Parser::new(script.as_bytes(), &options).parse_program() {
            Err(_) => self.add_unknown("the command could not be parsed"),
            Ok(program) => {
                for list in &program.complete_commands {
                    self.list(list);
                }
                self.keep_single_answer(program.complete_commands.len());
            }
        }
        self.depth -= 1;
    }

    /// Walks through a script in a subshell.
    pub fn run_in_subshell(&self, script: &str) {
        self.clone().run(script);
    }

    /// Makes the output unknown unless there is a single command.
    fn keep_single_answer(&self, commands: usize) {
        if commands != 1 {
            self.answer.set(Answer::Unknown);
        }
    }

    /// Walks through a command substitution. Returns its output, if it is known.
    pub fn substitution(&self, command: &str) -> Answer {
        let mut inner = self.clone();
        inner.has_output = true;
        self.answer.set(Answer::Unknown);
        inner.run(command);
        self.answer.take()
    }

    pub fn list(&mut self, list: &CompoundList) {
        for item in &list.0 {
            match item.1 {
                SeparatorOperator::Async => {
                    self.remember().concurrent = true;
                    self.clone().and_or(&item.0);
                }
                SeparatorOperator::Sequence => {
                    let before = self.place.clone();
                    let sure = self.and_or(&item.0);
                    // Only parts after `&&` can rely on a successful change of directory.
                    if !sure {
                        self.settle(&before);
                    }
                }
            }
        }
        self.keep_single_answer(list.0.len());
    }

    /// Makes the working directory unknown if a part that may fail has changed it.
    fn settle(&mut self, before: &Place) {
        if self.place != *before {
            self.place = before.nowhere();
        }
    }

    /// Walks through commands joined by `&&` and `||`. Returns true if the commands after this list run only if all
    /// commands of the list succeeded.
    fn and_or(&mut self, list: &AndOrList) -> bool {
        let begun = self.place.clone();
        self.pipeline(&list.first);
        let assigned = self.assigned.clone();
        let mut sure = false;
        for next in &list.additional {
            sure = false;
            match next {
                AndOr::And(pipeline) => self.pipeline(pipeline),
                AndOr::Or(pipeline) => {
                    // An `||` part runs after a failure. The part after the `||` part runs in both cases.
                    let succeeded = self.place.clone();
                    self.settle(&begun);
                    self.assigned.clone_from(&assigned);
                    self.pipeline(pipeline);
                    self.assigned.clone_from(&assigned);
                    sure = self.leaves(pipeline);
                    match sure {
                        true => self.place = succeeded,
                        false => self.settle(&succeeded),
                    }
                }
            }
        }
        self.assigned = assigned;
        self.keep_single_answer(list.additional.len() + 1);
        sure
    }

    /// Returns true if no command runs after this pipeline.
    fn leaves(&self, pipeline: &Pipeline) -> bool {
        let [command] = pipeline.seq.as_slice() else {
            return false;
        };
        match command {
            Command::Simple(simple) => {
                let named = simple.word_or_name.as_ref().map(|name| &*name.value) == Some("exit");
                let suffix: Vec<_> = simple.suffix.iter().flat_map(|items| &items.0).collect();
                let plain = matches!(suffix.as_slice(), [] | [CommandPrefixOrSuffixItem::Word(_)]);
                named && plain && simple.prefix.is_none() && !self.functions.contains_key("exit")
            }
            Command::Compound(CompoundCommand::BraceGroup(group), None) => group
                .list
                .0
                .last()
                .is_some_and(|last| last.0.additional.is_empty() && self.leaves(&last.0.first)),
            _ => false,
        }
    }

    fn pipeline(&mut self, pipeline: &Pipeline) {
        if let [only] = pipeline.seq.as_slice() {
            let before = self.place.clone();
            self.command(only, None);
            if pipeline.bang {
                // After `!`, the next part runs if the command failed.
                self.settle(&before);
            }
            return;
        }
        let mut growing = Vec::new();
        for at in 0..pipeline.seq.len() {
            let known = self.history().links.len();
            self.member(pipeline, at);
            if self.history().links.len() > known {
                growing.push(at);
            }
        }
        // The commands of a pipeline run concurrently, so each may use links that the others create.
        for at in 0..pipeline.seq.len() {
            if growing.iter().any(|other| *other != at) {
                self.member(pipeline, at);
            }
        }
        if !growing.is_empty() {
            self.answer.set(Answer::Unknown);
        }
    }

    fn member(&self, pipeline: &Pipeline, at: usize) {
        if let Some(command) = pipeline.seq.get(at) {
            let stdin = (at > 0).then_some(Stdin::Other);
            let mut inner = self.clone();
            inner.has_output |= at + 1 < pipeline.seq.len();
            inner.command(command, stdin);
        }
    }

    fn command(&mut self, command: &Command, stdin: Option<Stdin>) {
        match command {
            Command::Simple(simple) => {
                let text = simple.to_string();
                self.in_each_case(&text, |walker| walker.simple(simple, stdin.clone()));
            }
            Command::Compound(compound, redirects) => {
                self.redirects(redirects.as_ref());
                let has_output = self.has_output;
                let redirects = redirects.iter().flat_map(|list| &list.0);
                self.has_output |= redirects.into_iter().any(redirect::gives_output);
                self.compound(compound);
                self.has_output = has_output;
                self.answer.set(Answer::Unknown);
            }
            Command::Function(function) => {
                let bodies = self.functions.entry(function.fname.value.clone());
                let bodies = bodies.or_default();
                let text = function.body.to_string();
                if bodies.iter().all(|body| body.to_string() != text) {
                    bodies.push(function.body.clone());
                }
                // A trap that was set before may call the function.
                self.run_traps();
            }
            Command::ExtendedTest(test, redirects) => {
                self.redirects(redirects.as_ref());
                self.test(&test.expr);
            }
        }
    }

    fn compound(&mut self, compound: &CompoundCommand) {
        let before = self.place.clone();
        match compound {
            CompoundCommand::BraceGroup(group) => return self.list(&group.list),
            CompoundCommand::Subshell(subshell) => {
                return self.clone().list(&subshell.list);
            }
            CompoundCommand::Arithmetic(arithmetic) => self.arithmetic(&arithmetic.expr.value),
            CompoundCommand::ArithmeticForClause(clause) => {
                let parts = [&clause.initializer, &clause.condition, &clause.updater];
                for part in parts.into_iter().flatten() {
                    self.arithmetic(&part.value);
                }
                self.looped(&clause.body.list);
            }
            CompoundCommand::ForClause(clause) => {
                match &clause.values {
                    None => self.set(&clause.variable_name, None, AssignedValue::unknown()),
                    Some(values) => {
                        let words: Vec<&Word> = values.iter().collect();
                        let values = words.into_iter().map(|word| self.words(word));
                        let values: Vec<Vec<Value>> = values.collect();
                        for value in values.concat() {
                            let given = AssignedValue::from_value(&value);
                            self.set(&clause.variable_name, value.plain(), given);
                        }
                    }
                }
                self.looped(&clause.body.list);
            }
            CompoundCommand::WhileClause(clause) | CompoundCommand::UntilClause(clause) => {
                self.looped(&clause.0);
                self.looped(&clause.1.list);
            }
            CompoundCommand::CaseClause(clause) => {
                self.word(&clause.value);
                for case in &clause.cases {
                    for pattern in &case.patterns {
                        self.word(pattern);
                    }
                    if let Some(list) = &case.cmd {
                        self.branch(list, &before);
                    }
                }
            }
            CompoundCommand::IfClause(clause) => {
                self.list(&clause.condition);
                let before = self.place.clone();
                let mut assigned = self.branch(&clause.then, &before);
                let mut ends = false;
                for other in clause.elses.iter().flatten() {
                    match &other.condition {
                        Some(condition) => drop(self.branch(condition, &before)),
                        None => ends = true,
                    }
                    let here = self.branch(&other.body, &before);
                    assigned.retain(|name| here.contains(name));
                }
                if ends {
                    self.assigned.extend(assigned);
                }
            }
            CompoundCommand::Coprocess(coprocess) => {
                self.remember().concurrent = true;
                if let Some(name) = &coprocess.name {
                    self.fill(&name.value);
                }
                self.clone().command(&coprocess.body, Some(Stdin::Other));
            }
        }
        self.settle(&before);
    }

    /// Walks through a part that may or may not run. Returns the variables that are certainly set after the part.
    fn branch(&mut self, list: &CompoundList, before: &Place) -> BTreeSet<String> {
        let mut inside = self.clone();
        inside.place = before.clone();
        inside.list(list);
        self.functions = inside.functions;
        if inside.place != *before {
            self.place = before.nowhere();
        }
        inside.assigned
    }

    /// Walks through a part that may run repeatedly. Each walk starts with the state after the previous walk.
    fn looped(&mut self, list: &CompoundList) {
        let before = self.place.clone();
        let mut stable = false;
        for _ in 0..ROUNDS_MAX {
            let known = self.history().revision();
            let mut first = Walker {
                writes: Rc::default(),
                ..self.clone()
            };
            first.branch(list, &before);
            (self.functions, self.place) = (first.functions, first.place);
            stable = self.history().revision() == known;
            if stable {
                break;
            }
        }
        if !stable {
            self.add_unknown("a loop changes its own variables or directory too often");
        }
        let assigned = self.assigned.clone();
        self.list(list);
        self.assigned = assigned;
        self.settle(&before);
    }

    /// Returns the value of a word. Walks through the commands in the word.
    pub fn word(&self, word: &Word) -> Value {
        word::read(&word.value, self)
    }

    fn simple(&mut self, simple: &SimpleCommand, stdin: Option<Stdin>) {
        let prefix = simple.prefix.iter().flat_map(|items| &items.0);
        let suffix = simple.suffix.iter().flat_map(|items| &items.0);
        let mut words: Vec<Value> = Vec::new();
        let mut stdin = stdin;
        for item in prefix {
            self.item(item, &mut Vec::new(), &mut stdin);
            if let (CommandPrefixOrSuffixItem::AssignmentWord(assignment, _), Some(_)) =
                (item, &simple.word_or_name)
            {
                // The words of this command still see the earlier value.
                self.remember()
                    .add_value(name_of(assignment), AssignedValue::unknown());
            }
        }
        if let Some(name) = &simple.word_or_name {
            words.push(self.word(name));
        }
        let mut names_descriptor = false;
        for item in suffix {
            if names_descriptor && matches!(item, CommandPrefixOrSuffixItem::IoRedirect(_)) {
                self.add_unknown("a word in braces may name a descriptor");
            }
            names_descriptor = matches!(item, CommandPrefixOrSuffixItem::Word(word)
                if word::names_descriptor(&word.value));
            self.item(item, &mut words, &mut stdin);
        }
        self.answer.set(Answer::Unknown);
        if !words.is_empty() {
            let has_output = self.has_output;
            let items = simple.prefix.iter().flat_map(|items| &items.0);
            let items = items.chain(simple.suffix.iter().flat_map(|items| &items.0));
            self.has_output |= items.into_iter().any(|item| {
                matches!(item, CommandPrefixOrSuffixItem::IoRedirect(redirect)
                    if redirect::gives_output(redirect))
            });
            self.program(words, stdin);
            self.has_output = has_output;
        }
    }

    fn item(
        &mut self,
        item: &CommandPrefixOrSuffixItem,
        words: &mut Vec<Value>,
        stdin: &mut Option<Stdin>,
    ) {
        match item {
            CommandPrefixOrSuffixItem::IoRedirect(redirect) => {
                if let Some(given) = self.redirect(redirect) {
                    *stdin = Some(given);
                }
            }
            CommandPrefixOrSuffixItem::Word(word) => words.push(self.word(word)),
            CommandPrefixOrSuffixItem::AssignmentWord(assignment, _) => {
                words.push(self.assignment(assignment));
            }
            CommandPrefixOrSuffixItem::ProcessSubstitution(_, subshell) => {
                self.remember().concurrent = true;
                self.clone().list(&subshell.list);
                // Descriptor 63 is the pipe of the substitution and not a file.
                self.remember().open_descriptor(63, true);
                words.push(Value::Plain("/dev/fd/63".to_owned()));
            }
        }
    }

    /// Assigns a value to a variable. Returns the assignment as an operand.
    fn assignment(&mut self, assignment: &Assignment) -> Value {
        let name = name_of(assignment);
        if let AssignmentName::ArrayElementName(_, index) = &assignment.name {
            self.arithmetic(index);
        }
        match &assignment.value {
            AssignmentValue::Scalar(word) => {
                let value = self.word(word);
                let mut given = AssignedValue::from_value(&value);
                if assignment.append {
                    given.value = None;
                }
                self.set(name, value.plain(), given);
                match value {
                    Value::Plain(value) => Value::Plain(format!("{name}={value}")),
                    _ => Value::Begins(format!("{name}=")),
                }
            }
            AssignmentValue::Array(values) => {
                let mut number = true;
                for (index, value) in values {
                    if let Some(index) = index {
                        self.arithmetic(&index.value);
                    }
                    number &= AssignedValue::from_value(&self.word(value)).number;
                }
                let given = AssignedValue {
                    number,
                    ..AssignedValue::unknown()
                };
                self.set(name, None, given);
                Value::Begins(format!("{name}="))
            }
        }
    }

    /// Adds the unknown writes of assigning a value to a variable. `None` is an unknown value.
    pub fn variable(&self, name: &str, value: Option<&str>) {
        if variables::changes(name, value) {
            self.add_unknown(format!("the variable {name} changes what programs do"));
        }
        if value.is_some_and(word::runs_in_index) {
            self.add_unknown(format!(
                "the value of {name} may run a command in an array index"
            ));
        }
    }

    /// Walks through the scripts that `trap` runs later.
    pub fn run_traps(&self) {
        let traps = self.history().traps.clone();
        traps.iter().for_each(|trap| self.run_in_subshell(trap));
    }

    /// Walks through a run of a program, or of a function with this name.
    pub fn program(&mut self, words: Vec<Value>, stdin: Option<Stdin>) {
        let name = words.first().and_then(Value::plain).unwrap_or_default();
        let Some(bodies) = self.functions.get(name).cloned() else {
            return programs::run(self, &words, stdin);
        };
        if self.depth >= DEPTH_MAX {
            return self.add_unknown(format!("the function {name} calls itself too often"));
        }
        if programs::is_known(name) {
            // If the function is not declared when this command runs, the program with this name runs.
            programs::run(&mut self.clone(), &words, stdin);
        }
        self.depth += 1;
        let assigned = self.assigned.clone();
        for body in &bodies {
            self.redirects(body.1.as_ref());
            let before = self.place.clone();
            self.compound(&body.0);
            self.settle(&before);
        }
        self.assigned = assigned;
        self.answer.set(Answer::Unknown);
        self.depth -= 1;
    }
}

fn name_of(assignment: &Assignment) -> &str {
    match &assignment.name {
        AssignmentName::VariableName(name) | AssignmentName::ArrayElementName(name, _) => name,
    }
}
