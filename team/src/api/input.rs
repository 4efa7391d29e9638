//! Parser for the input of an operation. Every fault names the field, the value and the rule.
//!
//! Faults are checked in this order: unknown fields; invalid names (`worker`, `from_worker`, `to_worker`, `task_id`,
//! `team_name`), even if another field is missing; missing fields; values of the wrong type. For a required text, a number
//! counts as its text, and `null`, `false`, `0` and blank text count as missing.

use super::fault::Fault;
use super::operation::{Operation, Shapes};
use super::rules::TEAM;
use super::shape::{Field, Kind};
use crate::command::Control;
use crate::names;
use crate::operation::Rules;
use crate::projections::spelling;
use crate::refusal::{Code, Refusal, shown};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Field that every operation accepts and ignores.
const WORKING_DIRECTORY: &str = "workingDirectory";
const EXPECTED_VERSION: &str = "expected_version";
/// The field `claim_token`. Its value is checked like a required text, although a claim can be proved by `epoch` instead.
const TOKEN: &str = "claim_token";

/// Fields with names, in the order of their checks.
const NAMES: [&str; 5] = ["worker", "from_worker", "to_worker", "task_id", TEAM];

/// Fields with lists of task ids.
const TASK_LISTS: [&str; 3] = ["blocked_by", "depends_on", "deps"];

/// Maximum number of letters in which an unknown field may differ from a known field to count as a misspelling.
const LOOKALIKE: usize = 2;

/// A checked input, without the fields that all operations have in common.
#[derive(Debug)]
pub struct Request {
    pub team: String,
    pub control: Control,
    own: Map<String, Value>,
    shapes: Arc<Shapes>,
    rules: Rules,
}

impl Request {
    pub fn read(
        operation: &Operation,
        input: Map<String, Value>,
        control: Control,
    ) -> Result<Request, Fault> {
        let mut reader = InputReader {
            operation,
            shapes: operation.shapes(),
            input,
        };
        reader.rename();
        reader.refuse_unknown()?;
        reader.check_names()?;
        reader.check_missing()?;
        reader.check_types()?;
        Ok(reader.into_request(control))
    }

    /// Returns the worker in the input; for a list of tasks, the owner in the filter.
    pub fn worker(&self) -> Option<String> {
        let named = ["worker", "owner"]
            .iter()
            .find_map(|name| self.own.get(*name));
        named.and_then(Value::as_str).map(str::to_owned)
    }

    /// Parses the operation's own fields.
    pub fn typed<T>(&self, read: impl FnOnce(Value) -> serde_json::Result<T>) -> Result<T, Fault> {
        read(Value::Object(self.own.clone())).map_err(|error| self.unreadable(&error))
    }

    /// Returns the fault of an input that cannot be parsed although every field has the right type. Usually a field that allows only
    /// certain words has another word.
    fn unreadable(&self, error: &serde_json::Error) -> Fault {
        for field in &self.shapes.own.fields {
            let (Kind::Choice(words), Some(Value::String(word))) =
                (&field.kind, self.own.get(&field.name))
            else {
                continue;
            };
            if !words.contains(word) {
                let rule = match (self.rules.choices, word.is_empty()) {
                    (_, true) => "cannot be empty".to_owned(),
                    (Some(called), _) => {
                        format!("must be one of the {called}: {}", words.join(", "))
                    }
                    (None, _) => format!("must be {}", field.kind.rule()),
                };
                return mistyped(self.rules, field, &rule, &Value::String(word.clone()));
            }
        }
        let message = format!("input: {}", plain(&error.to_string()));
        Fault::refused(&Refusal::new(Code::InvalidInput, message).field("input"))
    }
}

/// Returns the text of a parsing error in terms of JSON, with `object` instead of the name of a Rust type.
fn plain(error: &str) -> String {
    match error.split_once("expected struct ") {
        Some((before, rest)) => {
            let rest = rest.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_');
            format!("{before}expected an object{rest}")
        }
        None => error.to_owned(),
    }
}

/// An input that is being checked.
struct InputReader<'a> {
    operation: &'a Operation,
    shapes: Arc<Shapes>,
    input: Map<String, Value>,
}

impl InputReader<'_> {
    fn rules(&self) -> Rules {
        self.operation.rules
    }

    /// Replaces aliases by the known names of fields.
    fn rename(&mut self) {
        for (alias, name) in self.rules().aliases {
            if let Some(value) = self.input.remove(*alias) {
                self.input.entry(*name).or_insert(value);
            }
        }
    }

    fn refuse_unknown(&self) -> Result<(), Fault> {
        let names = self.input.keys().map(String::as_str);
        let unknown: Vec<&str> = names
            .filter(|name| self.shapes.whole.field(name).is_none())
            .collect();
        let lifecycle = |name: &&str| self.rules().lifecycle.contains(name);
        let of_others: Vec<&str> = unknown.iter().copied().filter(lifecycle).collect();
        if !of_others.is_empty() {
            return Err(self.lifecycle(&of_others));
        }
        let refused = |name: &&str| !self.shapes.whole.open || self.is_lookalike(name);
        let refused: Vec<&str> = unknown.into_iter().filter(refused).collect();
        match refused.is_empty() {
            true => Ok(()),
            false => Err(self.unknown(&refused)),
        }
    }

    /// Returns true if an unknown field looks like a misspelled known field. Such a field is not kept.
    fn is_lookalike(&self, name: &str) -> bool {
        let near = spelling::nearest(name, self.known());
        // In a short name, fewer letters may differ than in a long name. Otherwise, nearly the whole short name could differ.
        let bound = LOOKALIKE.min(name.len().saturating_sub(1) / 2);
        !self.rules().keeps_lookalikes && near.is_some_and(|(_, far)| far <= bound)
    }

    /// Returns the known names of fields.
    fn known(&self) -> impl Iterator<Item = &str> {
        let lifecycle = self.operation.rules.lifecycle.iter().copied();
        self.shapes.whole.names().chain(lifecycle)
    }

    fn lifecycle(&self, fields: &[&str]) -> Fault {
        let message = format!(
            "{} cannot change the lifecycle fields {}",
            self.operation.name,
            fields.join(", ")
        );
        let refusal = Refusal::new(Code::InvalidInput, message)
            .hint("use claim-task, transition-task-status, release-task-claim, cancel-task or reopen-task");
        let first = fields.first().copied().unwrap_or_default();
        Fault::refused(&refusal.field(first).detail("unsupported", list(fields)))
    }

    fn unknown(&self, fields: &[&str]) -> Fault {
        let nearest = |field: &&str| match spelling::meant(field, self.known()) {
            Some(meant) => format!("{} (did you mean {meant}?)", shown(field)),
            None => shown(field),
        };
        let known: Vec<&str> = self.shapes.whole.names().collect();
        let said: Vec<String> = fields.iter().take(LISTED_MAX).map(nearest).collect();
        let message = format!(
            "unsupported fields for {}: {}; it takes {}",
            self.operation.name,
            said.join(", "),
            known.join(", ")
        );
        let first = fields.first().copied().unwrap_or_default();
        let listed = fields.get(..LISTED_MAX).unwrap_or(fields);
        let refusal = Refusal::new(Code::InvalidInput, message)
            .field(cut(first))
            .detail("unsupported", list(listed))
            .detail("known", list(&known));
        Fault::refused(&refusal)
    }

    fn check_names(&mut self) -> Result<(), Fault> {
        for name in NAMES {
            if self.shapes.whole.field(name).is_none() {
                continue;
            }
            let Some(value) = self.input.get(name) else {
                continue;
            };
            if is_missing(value) {
                self.input.remove(name);
                continue;
            }
            let checked = match text(value) {
                Some(text) => names::check_known(name, &text).map(|()| text),
                None => {
                    let rule = format!("{name} must be a string, but is {}", brief(value));
                    Err(Refusal::new(Code::InvalidInput, rule).field(name))
                }
            };
            match checked {
                Ok(text) => self.input.insert(name.to_owned(), Value::String(text)),
                Err(refusal) => return Err(Fault::misnamed(name, &refusal)),
            };
        }
        Ok(())
    }

    fn check_missing(&mut self) -> Result<(), Fault> {
        // Booleans and numbers in required text fields. Such a value counts as missing, and the
        // error message shows how to write the value as text.
        let mut empty = BTreeMap::new();
        for field in &self.shapes.whole.fields {
            let Some(value) = self.input.get(&field.name) else {
                continue;
            };
            if lacks(field, value) && !self.rules().never_null.contains(&field.name.as_str()) {
                if matches!(value, Value::Bool(_) | Value::Number(_)) {
                    empty.insert(field.name.clone(), value.to_string());
                }
                self.input.remove(&field.name);
            }
        }
        let is_missing = |name: &&str| !self.input.contains_key(*name);
        let missing: Vec<&str> = self.shapes.whole.required().filter(is_missing).collect();
        let Some(first) = missing.first() else {
            return Ok(());
        };
        let said: Vec<String> = missing
            .iter()
            .map(|name| match self.mistaken_for(name) {
                _ if let Some(word) = empty.get(*name) => {
                    format!("{name} is required as text, so write \"{word}\" and not {word}")
                }
                Some(given) => {
                    format!("{name} is required (did you mean {name} instead of {given:?}?)")
                }
                None => format!("{name} is required"),
            })
            .collect();
        let required: Vec<&str> = self.shapes.whole.required().collect();
        let message = format!(
            "{}; {} needs {}",
            said.join(", "),
            self.operation.name,
            required.join(", ")
        );
        let refusal = Refusal::new(Code::InvalidInput, message)
            .field(*first)
            .detail("missing", list(&missing))
            .detail("required", list(&required));
        Err(Fault::refused(&refusal))
    }

    /// Returns the unknown field whose name is probably a misspelling of the missing field.
    fn mistaken_for(&self, missing: &str) -> Option<&str> {
        let names = self.input.keys().map(String::as_str);
        let mut unknown = names.filter(|name| self.shapes.whole.field(name).is_none());
        unknown.find(|name| spelling::meant(name, self.known()) == Some(missing))
    }

    fn check_types(&mut self) -> Result<(), Fault> {
        let rules = self.rules();
        for field in &self.shapes.whole.fields {
            let Some(value) = self.input.get_mut(&field.name) else {
                continue;
            };
            if field.required
                && matches!(field.kind, Kind::Text | Kind::Choice(_))
                && let Some(text) = text(value)
            {
                *value = Value::String(text);
            }
            if field.name == TOKEN
                && let Value::String(token) = value
            {
                *token = token.trim().to_owned();
            }
            if field.kind == Kind::Texts && value.as_array().is_some_and(|items| !texts(items)) {
                return Err(mistyped(rules, field, "entries must be strings", value));
            }
            if !field.kind.holds(value) {
                let rule = match &field.kind {
                    Kind::Choice(_) => Kind::Text.rule(),
                    kind => kind.rule(),
                };
                let provided = if field.required { "" } else { " when provided" };
                let rule = format!("must be {rule}{provided}");
                return Err(mistyped(rules, field, &rule, value));
            }
            if TASK_LISTS.contains(&field.name.as_str()) {
                check_tasks(field, value)?;
            }
        }
        Ok(())
    }

    /// Takes a common field out of the input, unless the operation declares its own field of that
    /// name.
    fn take_common(&mut self, name: &str) -> Option<String> {
        match self.shapes.own.field(name) {
            Some(_) => None,
            None => take(&mut self.input, name),
        }
    }

    fn into_request(mut self, mut control: Control) -> Request {
        let key = self.take_common("key");
        self.input.remove(WORKING_DIRECTORY);
        control.operation = self.operation.name.to_owned();
        if self.operation.mutates() {
            control.key = key.or(control.key);
            if control.key.is_some() {
                control.request = serde_json::to_vec(&self.input).unwrap_or_default();
            }
            let trace = self.take_common("trace_id");
            let trace = trace.filter(|trace| !trace.is_empty());
            control.trace_id = trace.or(control.trace_id);
            control.actor = self.take_common("actor").or(control.actor);
        }
        let team = take(&mut self.input, TEAM).unwrap_or_default();
        if self.shapes.own.field(EXPECTED_VERSION).is_none() {
            self.input.remove(EXPECTED_VERSION);
        }
        Request {
            team,
            control,
            own: self.input,
            shapes: self.shapes,
            rules: self.operation.rules,
        }
    }
}

/// Maximum number of unknown fields that an error message lists.
const LISTED_MAX: usize = 20;
/// Maximum number of characters of a field's name that an error message repeats.
const CUT: usize = 80;

/// Checks that the entries of a list are valid task ids.
fn check_tasks(field: &Field, tasks: &Value) -> Result<(), Fault> {
    let tasks = tasks.as_array().into_iter().flatten();
    for task in tasks.filter_map(Value::as_str) {
        if let Err(refusal) = names::check_known("task_id", task) {
            let message = format!("{} names an invalid task ID: {refusal}", field.name);
            let refusal = Refusal::new(Code::InvalidInput, message);
            return Err(Fault::refused(&refusal.field(field.name.as_str())));
        }
    }
    Ok(())
}

fn mistyped(rules: Rules, field: &Field, rule: &str, value: &Value) -> Fault {
    let message = format!("{} {rule}, but is {}", field.name, brief(value));
    let refusal = Refusal::new(Code::InvalidInput, message).field(field.name.as_str());
    match rules.lookups.contains(&field.name.as_str()) {
        true => Fault::failed(&refusal),
        false => Fault::refused(&refusal),
    }
}

/// Returns true if the field's value counts as absent.
fn lacks(field: &Field, value: &Value) -> bool {
    match (field.required, &field.kind) {
        (true, Kind::Text | Kind::Choice(_) | Kind::Any) => is_missing(value),
        (false, Kind::Text) if field.name == TOKEN => is_missing(value),
        _ => value.is_null(),
    }
}

/// Returns true if a value counts as absent when a text is required.
fn is_missing(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.trim().is_empty(),
        _ => false,
    }
}

/// Returns a scalar as text; `None` for other values.
fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.trim().to_owned()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        _ => None,
    }
}

/// Takes a text out of the input.
fn take(input: &mut Map<String, Value>, name: &str) -> Option<String> {
    match input.remove(name) {
        Some(Value::String(text)) => Some(text),
        _ => None,
    }
}

fn texts(items: &[Value]) -> bool {
    items.iter().all(Value::is_string)
}

/// Shortens a value for error messages.
fn brief(value: &Value) -> String {
    match value {
        Value::String(text) => shown(text),
        Value::Array(_) => "an array".to_owned(),
        Value::Object(_) => "an object".to_owned(),
        other => other.to_string(),
    }
}

fn cut(name: &str) -> String {
    name.chars().take(CUT).collect()
}

fn list(names: &[&str]) -> Value {
    names.iter().map(|name| Value::from(cut(name))).collect()
}

#[cfg(test)]
mod tests;
