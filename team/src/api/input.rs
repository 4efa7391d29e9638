//! Reading an input: every fault names the field, the value and the rule.
//!
//! Faults are looked for in this order: fields that are not known; names, whatever field is missing (`worker`,
//! `from_worker`, `to_worker`, `task_id`, `team_name`); fields that are missing; values of another type. Numbers stand
//! for the text that they are written as where a text is required; `null`, `false`, `0` and blank text there count as
//! missing.

use super::fault::Fault;
use super::operation::Operation;
use super::rules::{Rules, TEAM};
use super::shape::{Field, Kind, Shape};
use crate::act::Control;
use crate::names;
use crate::projections::spelling;
use crate::refusal::{Code, Refusal, shown};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// Fields that every operation takes.
const WORKING_DIRECTORY: &str = "workingDirectory";
const EXPECTED_VERSION: &str = "expected_version";
/// Read as a text that is required, though an epoch may stand in for it.
const TOKEN: &str = "claim_token";

/// Names, in the order in which they are checked.
const NAMES: [&str; 5] = ["worker", "from_worker", "to_worker", "task_id", TEAM];

/// Lists of names of tasks.
const TASK_LISTS: [&str; 3] = ["blocked_by", "depends_on", "deps"];

/// Most letters by which a field may differ from a known one to be taken for it, where others are kept.
const LOOKALIKE: usize = 2;

/// An input that was checked, apart from what every operation takes.
#[derive(Debug)]
pub struct Request {
    pub team: String,
    pub control: Control,
    own: Map<String, Value>,
    shape: Shape,
    rules: Rules,
}

impl Request {
    pub fn read(
        operation: &Operation,
        input: Map<String, Value>,
        control: Control,
    ) -> Result<Request, Fault> {
        let mut reading = Reading {
            operation,
            shape: Shape::of(&operation.input_schema()),
            own: Shape::of(&operation.own_schema()),
            input,
        };
        reading.rename();
        reading.refuse_unknown()?;
        reading.check_names()?;
        reading.check_missing()?;
        reading.check_types()?;
        Ok(reading.into_request(control))
    }

    /// The operation's own part.
    pub fn typed<T: DeserializeOwned>(&self) -> Result<T, Fault> {
        serde_json::from_value(Value::Object(self.own.clone()))
            .map_err(|error| self.unreadable(&error))
    }

    /// Why an input of the right types does not read: a word that is none of those that there are.
    fn unreadable(&self, error: &serde_json::Error) -> Fault {
        for field in &self.shape.fields {
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
        Fault::refused(&Refusal::new(Code::InvalidInput, format!("input {error}")).field("input"))
    }
}

/// An input that is being checked.
struct Reading<'a> {
    operation: &'a Operation,
    /// With what every operation takes.
    shape: Shape,
    /// The operation's own fields.
    own: Shape,
    input: Map<String, Value>,
}

impl Reading<'_> {
    fn rules(&self) -> Rules {
        self.operation.rules
    }

    /// Other names of fields become the ones that are known.
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
            .filter(|name| self.shape.field(name).is_none())
            .collect();
        let lifecycle = |name: &&str| self.rules().lifecycle.contains(name);
        let of_others: Vec<&str> = unknown.iter().copied().filter(lifecycle).collect();
        if !of_others.is_empty() {
            return Err(self.lifecycle(&of_others));
        }
        let refused = |name: &&str| !self.shape.open || self.is_lookalike(name);
        let refused: Vec<&str> = unknown.into_iter().filter(refused).collect();
        match refused.is_empty() {
            true => Ok(()),
            false => Err(self.unknown(&refused)),
        }
    }

    /// Whether a field that would be kept is one that somebody mistyped.
    fn is_lookalike(&self, name: &str) -> bool {
        let near = spelling::nearest(name, self.known());
        // Of a short name most letters would be others.
        let bound = LOOKALIKE.min(name.len().saturating_sub(1) / 2);
        !self.rules().keeps_lookalikes && near.is_some_and(|(_, far)| far <= bound)
    }

    /// The names that somebody may have meant.
    fn known(&self) -> impl Iterator<Item = &str> {
        let lifecycle = self.operation.rules.lifecycle.iter().copied();
        self.shape.names().chain(lifecycle)
    }

    fn lifecycle(&self, fields: &[&str]) -> Fault {
        let message = format!(
            "{} must leave lifecycle fields to the operations that change them, but was given {}",
            self.operation.name,
            fields.join(", ")
        );
        let refusal = Refusal::new(Code::InvalidInput, message)
            .hint("claim-task, transition-task-status, release-task-claim, cancel-task and reopen-task change them");
        let first = fields.first().copied().unwrap_or_default();
        Fault::refused(&refusal.field(first).detail("unsupported", list(fields)))
    }

    fn unknown(&self, fields: &[&str]) -> Fault {
        let nearest = |field: &&str| {
            let near = spelling::nearest(field, self.known());
            let near = near.filter(|(_, far)| *far <= (field.len() / 2).max(LOOKALIKE));
            match near {
                Some((near, _)) => format!("{} (did you mean {near}?)", shown(field)),
                None => shown(field),
            }
        };
        let known: Vec<&str> = self.shape.names().collect();
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
            if self.shape.field(name).is_none() {
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
        for field in &self.shape.fields {
            let Some(value) = self.input.get(&field.name) else {
                continue;
            };
            if lacks(field, value) && !self.rules().never_null.contains(&field.name.as_str()) {
                self.input.remove(&field.name);
            }
        }
        let is_missing = |name: &&str| !self.input.contains_key(*name);
        let missing: Vec<&str> = self.shape.required().filter(is_missing).collect();
        let Some(first) = missing.first() else {
            return Ok(());
        };
        let said: Vec<String> = missing
            .iter()
            .map(|name| format!("{name} is required"))
            .collect();
        let required: Vec<&str> = self.shape.required().collect();
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

    fn check_types(&mut self) -> Result<(), Fault> {
        let rules = self.rules();
        for field in &self.shape.fields {
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

    fn into_request(mut self, mut control: Control) -> Request {
        let key = take(&mut self.input, "key");
        self.input.remove(WORKING_DIRECTORY);
        control.operation = self.operation.name.to_owned();
        control.request = serde_json::to_vec(&self.input).unwrap_or_default();
        let team = take(&mut self.input, TEAM).unwrap_or_default();
        if self.operation.mutates {
            control.key = key.or(control.key);
            control.trace_id = take(&mut self.input, "trace_id").or(control.trace_id);
            control.actor = take(&mut self.input, "actor").or(control.actor);
        }
        if self.own.field(EXPECTED_VERSION).is_none() {
            self.input.remove(EXPECTED_VERSION);
        }
        Request {
            team,
            control,
            own: self.input,
            shape: self.own,
            rules: self.operation.rules,
        }
    }
}

/// Most unknown fields that a message lists.
const LISTED_MAX: usize = 20;
/// Most characters of a field's name that is repeated.
const CUT: usize = 80;

/// Whether a list names tasks.
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

/// Whether a field counts as not given.
fn lacks(field: &Field, value: &Value) -> bool {
    match (field.required, &field.kind) {
        (true, Kind::Text | Kind::Choice(_) | Kind::Any) => is_missing(value),
        (false, Kind::Text) if field.name == TOKEN => is_missing(value),
        _ => value.is_null(),
    }
}

/// What stands for nothing where a text is wanted.
fn is_missing(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.trim().is_empty(),
        _ => false,
    }
}

/// A scalar as the text that it stands for.
fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.trim().to_owned()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        _ => None,
    }
}

/// The text of a field, taken off.
fn take(input: &mut Map<String, Value>, name: &str) -> Option<String> {
    match input.remove(name) {
        Some(Value::String(text)) => Some(text),
        _ => None,
    }
}

fn texts(items: &[Value]) -> bool {
    items.iter().all(Value::is_string)
}

/// A value as messages repeat it.
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
mod tests {
    use super::super::operation::{Op, row};
    use super::*;
    use crate::failure::Result as Answer;
    use crate::team::Team;
    use schemars::JsonSchema;
    use serde::Deserialize;
    use serde_json::json;

    /// A mutation of a task, as strict as most.
    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    struct Turn {
        worker: String,
        task_id: String,
        to: Word,
        #[schemars(range(min = 1))]
        expected_version: Option<u64>,
        blocked_by: Option<Vec<String>>,
        result: Option<String>,
        silent: Option<bool>,
        confirm: Option<bool>,
    }

    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    enum Word {
        Completed,
        #[serde(alias = "broken")]
        Failed,
    }

    impl Op for Turn {
        type Data = Value;
        const NAME: &'static str = "turn";
        const DOC: &'static str = "Turn";
        const MUTATES: bool = true;
        const RULES: Rules = Rules {
            lifecycle: &["status"],
            aliases: &[("confirmIt", "confirm")],
            lookups: &["silent"],
            never_null: &["result"],
            choices: Some("ways to turn"),
            ..Rules::COMMON
        };
        fn run(self, _: &mut Team) -> Answer<Value> {
            Ok(Value::Null)
        }
    }

    /// A mutation that keeps what it does not know.
    #[derive(Deserialize, JsonSchema)]
    #[allow(dead_code, reason = "what is read is enough")]
    struct Keep {
        body: String,
        index: f64,
        alive: bool,
        snapshot: Value,
        #[serde(flatten)]
        extra: Map<String, Value>,
    }

    impl Op for Keep {
        type Data = Value;
        const NAME: &'static str = "keep";
        const DOC: &'static str = "Keep";
        const MUTATES: bool = true;
        const RULES: Rules = Rules {
            lifecycle: &["status"],
            ..Rules::COMMON
        };
        fn run(self, _: &mut Team) -> Answer<Value> {
            Ok(Value::Null)
        }
    }

    /// A read.
    #[derive(Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    struct Look {}

    impl Op for Look {
        type Data = Value;
        const NAME: &'static str = "look";
        const DOC: &'static str = "Look";
        const MUTATES: bool = false;
        fn run(self, _: &mut Team) -> Answer<Value> {
            Ok(Value::Null)
        }
    }

    fn read<O: Op>(input: Value) -> Result<(Request, O), Fault> {
        let input = input.as_object().unwrap().clone();
        let request = Request::read(&row::<O>(), input, Control::default())?;
        let own = request.typed()?;
        Ok((request, own))
    }

    /// A good input of `turn` with that over it.
    fn turn(over: Value) -> Value {
        let mut input =
            json!({"team_name": "demo", "worker": "dev", "task_id": "1", "to": "failed"});
        let fields = input.as_object_mut().unwrap();
        for (name, value) in over.as_object().unwrap() {
            fields.insert(name.clone(), value.clone());
        }
        input
    }

    #[track_caller]
    fn refused<O: Op>(input: Value) -> Fault {
        match read::<O>(input.clone()) {
            Ok(_) => panic!("{input} was taken"),
            Err(fault) => fault,
        }
    }

    #[track_caller]
    fn said(code: &str, part: &str, input: Value) {
        let fault = refused::<Turn>(input.clone());
        assert_eq!(fault.code, code, "{input}: {fault:?}");
        assert!(fault.message.contains(part), "{input}: {fault:?}");
    }

    #[test]
    fn what_every_operation_takes_is_taken_off() {
        let (request, own) = read::<Turn>(turn(json!({
            "key": "k", "trace_id": "tr", "actor": "boss", "workingDirectory": "/tmp",
            "expected_version": 3, "confirmIt": true,
        })))
        .unwrap();
        assert_eq!(request.team, "demo");
        let control = &request.control;
        assert_eq!(control.operation, "turn");
        assert_eq!(control.key.as_deref(), Some("k"));
        assert_eq!(control.trace_id.as_deref(), Some("tr"));
        assert_eq!(control.actor.as_deref(), Some("boss"));
        assert_eq!(own.expected_version, Some(3));
        assert_eq!(own.confirm, Some(true));
        // Where there is no version to compare, it is passed by.
        let more = json!({"team_name": "demo", "body": "b", "index": 1, "alive": false,
            "snapshot": {}, "expected_version": 3, "more": [null], "lane": 7});
        let (_, own) = read::<Keep>(more).unwrap();
        let kept: Vec<&str> = own.extra.keys().map(String::as_str).collect();
        assert_eq!(kept, ["lane", "more"]);
        // A read has no story and no key.
        let fault = refused::<Look>(json!({"team_name": "demo", "key": "k"}));
        assert!(fault.message.contains("\"key\""), "{fault:?}");
        read::<Look>(json!({"team_name": "demo", "workingDirectory": "/"})).unwrap();
    }

    #[test]
    fn the_same_request_is_known_by_its_bytes_whatever_its_spelling() {
        let bytes = |input: Value| read::<Turn>(input).unwrap().0.control.request;
        let first = bytes(turn(json!({"key": "k"})));
        assert_eq!(bytes(turn(json!({"task_id": 1}))), first);
        assert_eq!(bytes(turn(json!({"worker": " dev "}))), first);
        assert_eq!(bytes(turn(json!({"workingDirectory": "/x"}))), first);
        assert_eq!(bytes(turn(json!({"silent": null}))), first);
        assert_ne!(bytes(turn(json!({"silent": true}))), first);
        assert_ne!(bytes(turn(json!({"team_name": "other"}))), first);
    }

    #[test]
    fn faults_are_looked_for_in_their_order() {
        // All of them at once, then one less each time.
        said(
            "invalid_input",
            "lifecycle fields",
            turn(json!({"status": 1, "x": 1, "worker": "a/b", "to": null, "silent": 7})),
        );
        said(
            "invalid_input",
            "unsupported fields",
            turn(json!({"x": 1, "worker": "a/b", "to": null, "silent": 7})),
        );
        said(
            "operation_failed",
            "Invalid worker",
            turn(
                json!({"worker": "a/b", "task_id": "../x", "team_name": "", "to": null, "silent": 7}),
            ),
        );
        said(
            "operation_failed",
            "Invalid task_id",
            turn(json!({"task_id": "../x", "team_name": "..", "to": null, "silent": 7})),
        );
        said(
            "operation_failed",
            "Invalid team_name",
            turn(json!({"team_name": "..", "to": null, "silent": 7})),
        );
        said(
            "invalid_input",
            "to is required",
            turn(json!({"to": null, "silent": 7})),
        );
        said(
            "operation_failed",
            "silent must be a boolean when provided, but is 7",
            turn(json!({"silent": 7, "to": "sideways"})),
        );
        said(
            "invalid_input",
            "to must be one of the ways to turn: completed, failed",
            turn(json!({"to": "sideways"})),
        );
    }

    #[test]
    fn a_fault_outside_the_common_codes_tells_the_precise_one() {
        let fault = refused::<Turn>(turn(json!({"worker": ".."})));
        assert_eq!(fault.details["code"], "invalid_input");
        assert_eq!(fault.details["field"], "worker");
        let fault = refused::<Turn>(turn(json!({"silent": 7})));
        assert_eq!(fault.details["code"], "invalid_input");
        let fault = refused::<Turn>(turn(json!({"result": 7})));
        assert!(!fault.details.contains_key("code"), "{fault:?}");
    }

    #[test]
    fn unknown_fields_are_refused_with_the_nearest_known_one() {
        for (typed, meant) in [
            ("taskId", "task_id"),
            ("teamName", "team_name"),
            ("workr", "worker"),
            ("expectedVersion", "expected_version"),
            ("results", "result"),
        ] {
            let fault = refused::<Turn>(turn(json!({typed: 1})));
            let said = format!("{typed:?} (did you mean {meant}?)");
            assert!(fault.message.contains(&said), "{fault:?}");
            assert_eq!(fault.details["unsupported"], json!([typed]));
        }
        let fault = refused::<Turn>(turn(json!({"zzzzzz": 1})));
        assert!(!fault.message.contains("did you mean"), "{fault:?}");
        assert!(
            fault
                .message
                .contains("it takes team_name, worker, task_id, to,")
        );
        // However many and however long they are, the answer is short.
        let many: Map<String, Value> = (0..5_000)
            .map(|n| (format!("{n}{}", "x".repeat(1_000)), Value::Null))
            .collect();
        let fault = refused::<Turn>(turn(many.into()));
        let text = serde_json::to_string(&fault).unwrap();
        assert!(text.len() < 6_000, "{}", text.len());
    }

    #[test]
    fn what_is_kept_is_neither_a_slip_nor_what_others_change() {
        let keep = |field: &str| json!({"team_name": "demo", "body": "b", "index": 1, "alive": true, "snapshot": 1, field: 1});
        for (field, part) in [
            ("status", "lifecycle fields"),
            ("statuss", "did you mean"),
            ("boddy", "did you mean body?"),
            ("Body", "did you mean body?"),
            ("team-name", "did you mean team_name?"),
        ] {
            let fault = refused::<Keep>(keep(field));
            assert!(fault.message.contains(part), "{field}: {fault:?}");
        }
        for field in ["role", "lane", "filePaths", "domains", "delegation", "x"] {
            read::<Keep>(keep(field)).unwrap();
        }
    }

    #[test]
    fn all_missing_fields_are_named_and_all_required_ones_listed() {
        let fault = refused::<Turn>(json!({"team_name": "demo"}));
        assert_eq!(
            fault.message,
            "worker is required, task_id is required, to is required; turn needs team_name, worker, task_id, to"
        );
        assert_eq!(fault.details["missing"], json!(["worker", "task_id", "to"]));
        for nothing in [json!(null), json!(""), json!("  "), json!(0), json!(false)] {
            said(
                "invalid_input",
                "task_id is required",
                turn(json!({"task_id": nothing})),
            );
        }
        let good =
            json!({"team_name": "demo", "body": "b", "index": 0, "alive": false, "snapshot": 1});
        read::<Keep>(good.clone()).unwrap();
        for (field, nothing) in [
            ("snapshot", json!(0)),
            ("snapshot", json!("")),
            ("body", json!(false)),
            ("alive", json!(null)),
            ("index", json!(null)),
        ] {
            let mut input = good.clone();
            input[field] = nothing;
            let fault = refused::<Keep>(input);
            assert!(
                fault.message.contains(&format!("{field} is required")),
                "{fault:?}"
            );
        }
    }

    #[test]
    fn scalars_stand_for_required_text_and_are_trimmed() {
        let (_, own) = read::<Turn>(turn(
            json!({"task_id": 17, "worker": " dev\n", "to": " failed"}),
        ))
        .unwrap();
        assert_eq!(
            (&*own.task_id, &*own.worker, own.to),
            ("17", "dev", Word::Failed)
        );
        // Optional text is taken as it is, and nothing else for it.
        let (_, own) = read::<Turn>(turn(json!({"result": " r "}))).unwrap();
        assert_eq!(own.result.as_deref(), Some(" r "));
        said(
            "invalid_input",
            "result must be a string when provided, but is 7",
            turn(json!({"result": 7})),
        );
        said(
            "invalid_input",
            "result must be a string when provided, but is null",
            turn(json!({"result": null})),
        );
        said(
            "operation_failed",
            "Invalid worker: worker must be a string, but is an array",
            turn(json!({"worker": ["dev"]})),
        );
    }

    #[test]
    fn each_type_has_its_words() {
        for (over, part) in [
            (
                json!({"expected_version": 0}),
                "expected_version must be a positive integer when provided, but is 0",
            ),
            (
                json!({"expected_version": "1"}),
                "must be a positive integer",
            ),
            (
                json!({"expected_version": 1.5}),
                "must be a positive integer",
            ),
            (json!({"blocked_by": "1"}), "blocked_by must be an array"),
            (
                json!({"blocked_by": [1]}),
                "blocked_by entries must be strings",
            ),
            (json!({"blocked_by": ["1", "../x"]}), "invalid task ID"),
            (json!({"to": ["failed"]}), "to must be a string"),
        ] {
            said("invalid_input", part, turn(over));
        }
        // What is no word of the schema may still be another spelling.
        let (_, own) = read::<Turn>(turn(json!({"to": "broken"}))).unwrap();
        assert_eq!(own.to, Word::Failed);
    }
}
