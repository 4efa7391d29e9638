//! Compiled scripts.

use crate::event::{self, EventView};
use crate::field::Field;
use crate::language::ENGINE;
use crate::limits::{KEY_BYTES_MAX, KEY_SOURCE_BYTES_MAX, SOURCE_BYTES_MAX};
use crate::reads::Reads;
use crate::value;
use rhai::{AST, CallFnOptions, Dynamic, EvalAltResult, Position, Scope};
use std::fmt;

/// Name of the function that every source defines.
const FOLD: &str = "fold";
/// Name of the event, in folds and keys.
const EVENT: &str = "event";
/// Largest message of an error, in characters. A script chooses the text that it throws.
const MESSAGE_CHARS_MAX: usize = 300;

/// The texts of a script.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    /// Definitions of functions, one of which is `fn fold(event)`.
    pub fold: &'a str,
    /// First state of each key, as JSON.
    pub init: &'a str,
    /// Expression over `event` that gives the key of an event's state, or `()` to skip the event. If absent, there is one state, with
    /// an empty key.
    pub key: Option<&'a str>,
}

/// A compiled script.
#[derive(Debug)]
pub struct Script {
    fold: AST,
    key: Option<Key>,
    /// First state of each key, as canonical JSON.
    init: Vec<u8>,
    reads: Reads,
}

#[derive(Debug)]
enum Key {
    /// `event.FIELD`, which needs no evaluation.
    Field(Field),
    Expression(AST),
}

/// An event that is about to be folded.
#[derive(Debug)]
pub struct Folding {
    key: String,
    event: Dynamic,
}

impl Folding {
    /// Returns the key of the state that the event changes; empty if the script has no key.
    pub fn key(&self) -> &str {
        &self.key
    }
}

/// Text of a script that breaks a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompileError {
    /// Name of the text: `fold`, `init` or `key`.
    pub field: &'static str,
    /// The rule.
    pub message: String,
    /// Line of the error, from 1, if it has one.
    pub line: Option<usize>,
    /// Column of the error, from 1, if it has one.
    pub column: Option<usize>,
}

/// Error of one fold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoldError {
    /// Name of the text with the error: `fold` or `key`.
    pub field: &'static str,
    /// The error.
    pub message: String,
    /// Line of the error, from 1, if it has one.
    pub line: Option<usize>,
}

impl std::error::Error for CompileError {}
impl std::error::Error for FoldError {}

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.field)?;
        if let (Some(line), Some(column)) = (self.line, self.column) {
            write!(f, ", line {line}, column {column}")?;
        }
        write!(f, ": {}", self.message)
    }
}

impl fmt::Display for FoldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.field)?;
        if let Some(line) = self.line {
            write!(f, ", line {line}")?;
        }
        write!(f, ": {}", self.message)
    }
}

impl CompileError {
    fn new(field: &'static str, message: impl Into<String>, at: Position) -> CompileError {
        CompileError {
            field,
            message: cut(message.into()),
            line: at.line(),
            column: at.position(),
        }
    }
}

impl FoldError {
    fn new(field: &'static str, message: impl Into<String>) -> FoldError {
        FoldError {
            field,
            message: cut(message.into()),
            line: None,
        }
    }

    fn of_evaluation(field: &'static str, error: &EvalAltResult) -> FoldError {
        let mut error = error.unwrap_inner();
        while let EvalAltResult::ErrorInFunctionCall(_, _, inner, _) = error {
            error = inner.unwrap_inner();
        }
        let line = error.position().line();
        let text = error.to_string();
        // The message ends with the position, which has a field of its own.
        let message = text.rsplit_once(" (line ").map_or(&*text, |(head, _)| head);
        FoldError {
            line,
            ..FoldError::new(field, message)
        }
    }
}

fn cut(message: String) -> String {
    match message.char_indices().nth(MESSAGE_CHARS_MAX) {
        Some((end, _)) => format!("{}…", message.get(..end).unwrap_or_default()),
        None => message,
    }
}

impl Script {
    /// Compiles a script.
    ///
    /// # Errors
    /// The name of the text, the place, and the rule that it breaks.
    pub fn compile(source: &Source<'_>) -> Result<Script, CompileError> {
        let fold = compile_fold(source.fold)?;
        let mut reads = Reads::of_source(source.fold);
        let mut key = None;
        if let Some(text) = source.key {
            reads = reads.and(Reads::of_source(text));
            key = Some(compile_key(text)?);
        }
        Ok(Script {
            fold,
            key,
            init: first_state(source.init)?,
            reads,
        })
    }

    /// Returns true if the script reads a field of events.
    pub fn reads(&self, field: Field) -> bool {
        self.reads.has(field)
    }

    /// Returns the first state of each key, as JSON.
    pub fn init(&self) -> &[u8] {
        &self.init
    }

    /// Finds the key of an event, and prepares the event for its fold. Returns `None` for an event without a key.
    ///
    /// # Errors
    /// The evaluation of the key failed, or the key breaks a rule; the payload cannot be read.
    pub fn begin(&self, event: &EventView<'_>) -> Result<Option<Folding>, FoldError> {
        if let Some(Key::Field(field)) = &self.key
            && let Some(own) = own_text(*field, event)
        {
            let Some(key) = own else { return Ok(None) };
            let key = checked(key.to_owned())?;
            let event = self.map(event)?;
            return Ok(Some(Folding { key, event }));
        }
        let event = self.map(event)?;
        let Some(Key::Expression(ast)) = &self.key else {
            let key = String::new();
            return Ok(Some(Folding { key, event }));
        };
        let mut scope = Scope::new();
        scope.push_constant_dynamic(EVENT, event);
        let key = ENGINE
            .eval_ast_with_scope::<Dynamic>(&mut scope, ast)
            .map_err(|error| FoldError::of_evaluation("key", &error))?;
        let Some(key) = key_text(&key)? else {
            return Ok(None);
        };
        let event = scope.remove::<Dynamic>(EVENT).unwrap_or_default();
        Ok(Some(Folding {
            key: checked(key)?,
            event,
        }))
    }

    fn map(&self, event: &EventView<'_>) -> Result<Dynamic, FoldError> {
        event::map(event, &self.reads).map_err(|message| FoldError::new(FOLD, message))
    }

    /// Folds an event into the state of its key, and returns the new state as JSON. `state` is the state before; `None` for a new key.
    ///
    /// # Errors
    /// The fold failed or broke a limit, or the state is not JSON. The state before remains valid.
    pub fn fold(&self, folding: Folding, state: Option<&[u8]>) -> Result<Vec<u8>, FoldError> {
        let before = state.unwrap_or(&self.init);
        let mut state = value::parse(before)
            .map_err(|error| FoldError::new(FOLD, format!("the state is no JSON: {error}")))?;
        let options = CallFnOptions::new()
            .eval_ast(false)
            .bind_this_ptr(&mut state);
        let mut scope = Scope::new();
        let _result = ENGINE
            .call_fn_with_options::<Dynamic>(
                options,
                &mut scope,
                &self.fold,
                FOLD,
                (folding.event,),
            )
            .map_err(|error| FoldError::of_evaluation(FOLD, &error))?;
        value::write(&state).map_err(|message| FoldError::new(FOLD, message))
    }
}

fn compile_fold(text: &str) -> Result<AST, CompileError> {
    let none = Position::NONE;
    if text.len() > SOURCE_BYTES_MAX {
        let count = text.len();
        let message = format!("must have at most {SOURCE_BYTES_MAX} bytes, but has {count}");
        return Err(CompileError::new(FOLD, message, none));
    }
    let ast = ENGINE.compile(text).map_err(|error| {
        let message = error.err_type().to_string();
        CompileError::new(FOLD, message, error.position())
    })?;
    if let Some(statement) = ast.statements().first() {
        let message = "must hold functions only: put the statements into fn fold(event) { … }";
        return Err(CompileError::new(FOLD, message, statement.position()));
    }
    let is_fold = ast
        .iter_functions()
        .any(|function| function.name == FOLD && function.params == [EVENT]);
    if !is_fold {
        let message = "must define fn fold(event) { … }, which changes the state `this`";
        return Err(CompileError::new(FOLD, message, none));
    }
    Ok(ast)
}

fn compile_key(text: &str) -> Result<Key, CompileError> {
    if text.len() > KEY_SOURCE_BYTES_MAX {
        let count = text.len();
        let message = format!("must have at most {KEY_SOURCE_BYTES_MAX} bytes, but has {count}");
        return Err(CompileError::new("key", message, Position::NONE));
    }
    let field = text
        .trim()
        .strip_prefix("event.")
        .and_then(Field::from_name);
    let mut scope = Scope::new();
    scope.push_constant_dynamic(EVENT, Dynamic::UNIT);
    let ast = ENGINE
        .compile_expression_with_scope(&scope, text)
        .map_err(|error| {
            let message = error.err_type().to_string();
            CompileError::new("key", message, error.position())
        })?;
    Ok(match field {
        Some(field) if own_text(field, &EventView::default()).is_some() => Key::Field(field),
        _ => Key::Expression(ast),
    })
}

fn first_state(json: &str) -> Result<Vec<u8>, CompileError> {
    let fail = |message: String| CompileError::new("init", message, Position::NONE);
    let value = value::parse(json.as_bytes()).map_err(|error| {
        let mut broken = fail(format!("must be JSON, but is not: {error}"));
        broken.line = Some(error.line());
        broken.column = Some(error.column());
        broken
    })?;
    value::write(&value).map_err(|message| fail(message.replacen("the state", "the value", 1)))
}

/// Returns the text of a field that is a text. The inner `None` is an absent ref, the outer `None` is a field of another type.
fn own_text<'a>(field: Field, event: &EventView<'a>) -> Option<Option<&'a str>> {
    Some(match field {
        Field::Id => Some(event.id),
        Field::Kind => Some(event.kind),
        Field::Actor => Some(event.actor),
        Field::Trace => event.trace,
        Field::Task => event.task,
        Field::Agent => event.agent,
        Field::Message => event.message,
        Field::Thread => event.thread,
        Field::Session => event.session,
        Field::Seq | Field::At | Field::AtMs | Field::Tags | Field::Payload => return None,
    })
}

/// Returns the text of a key; `None` for `()`.
fn key_text(key: &Dynamic) -> Result<Option<String>, FoldError> {
    if key.is_unit() {
        return Ok(None);
    }
    if let Ok(text) = key.as_immutable_string_ref() {
        return Ok(Some(text.to_string()));
    }
    if key.is_int() || key.is_bool() || key.is_char() {
        return Ok(Some(key.to_string()));
    }
    let kind = key.type_name();
    let message = format!("must give a text, an integer, a bool or (), but gave {kind}");
    Err(FoldError::new("key", message))
}

fn checked(key: String) -> Result<String, FoldError> {
    if key.is_empty() || key.len() > KEY_BYTES_MAX {
        let count = key.len();
        let message = format!(
            "must give 1 to {KEY_BYTES_MAX} bytes, or () to skip the event, but gave {count} bytes"
        );
        return Err(FoldError::new("key", message));
    }
    Ok(key)
}
