//! Tool calls in the forms in which common coding agents pass them to a hook before they run.
//!
//! | form | tool | input |
//! |---|---|---|
//! | `{tool_name, tool_input{…}, cwd?}` | `Write`, `Edit`, `MultiEdit`, `NotebookEdit`, `Bash`, `Monitor`, `PowerShell`, `apply_patch` | `file_path`, `notebook_path`, `command`, `input`, `patch` |
//! | `{tool, params{…}}`, `{tool, input{…}, cwd?}`, `{name, arguments{…}}` | `write`, `edit`, `bash`, `shell`, `exec_command` | `path`, `filePath`, `command` (text or arguments), `cmd`, `workdir` |

use crate::json::Unique;
use crate::known::Programs;
use crate::patch;
use crate::place::Place;
use crate::shell;
use crate::writes::{Unknown, Writes};
use serde::Deserialize;
use serde_json::{Map, Value};

/// A tool call.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// The tool, as the agent names it.
    pub tool: String,
    /// Effect of the call on files.
    pub action: Action,
    /// Working directory, if the call names one.
    pub cwd: Option<String>,
    /// Form of the call.
    pub form: Form,
}

/// JSON form of a call. The form of a call also determines the form of the answer that the hook expects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// `{tool_name, tool_input}`, the form of a native hook.
    Native,
    /// Any other form.
    Plain,
}

/// Effect of a tool call on files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Writes these files.
    Files(Vec<String>),
    /// Runs a command in a shell.
    Shell(String),
    /// Runs a program with arguments, without a shell.
    Program(Vec<String>),
    /// Writes nothing.
    Reads,
    /// The call writes unknown files. The text is the reason; the list has the files that the call names.
    Unknown(String, Vec<String>),
    /// The tool is unknown, but a team may trust it. The list has the files that the call names.
    Foreign(Vec<String>),
}

/// Reason why a text is not a valid tool call.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct CallError(String);

/// Names of fields that may hold the tool, and names of fields that may hold its input.
const FORMS: [(&str, &str); 6] = [
    ("tool_name", "tool_input"),
    ("toolName", "input"),
    ("tool", "params"),
    ("tool", "input"),
    ("tool", "arguments"),
    ("name", "arguments"),
];
const NAMES: [&str; 4] = ["tool_name", "toolName", "tool", "name"];
const INPUTS: [&str; 4] = ["tool_input", "input", "params", "arguments"];
const PLACES: [&str; 3] = ["cwd", "workdir", "working_directory"];

impl Call {
    /// Parses a tool call from the JSON that a hook receives.
    ///
    /// # Errors
    /// The JSON is not an object, does not name a tool, or has a field twice.
    pub fn parse(text: &str) -> Result<Call, CallError> {
        let lacks = |what: String| CallError(format!("the tool call must {what}"));
        let Unique(value) =
            serde_json::from_str(text).map_err(|error| lacks(format!("be JSON: {error}")))?;
        let Value::Object(call) = value else {
            return Err(lacks("be a JSON object".into()));
        };
        let tool = FORMS
            .iter()
            .find_map(|(tool, _)| call.get(*tool)?.as_str())
            .filter(|tool| !tool.is_empty())
            .ok_or_else(|| lacks("name its tool in tool_name, toolName, tool or name".into()))?;
        let input = FORMS
            .iter()
            .filter(|(name, _)| call.contains_key(*name))
            .find_map(|(_, input)| call.get(*input))
            .map(|input| object(input).map_err(|error| lacks(format!("be JSON: {error}"))))
            .transpose()?
            .unwrap_or_default();
        let dir = |fields: &Map<String, Value>| {
            let dir = PLACES.iter().find_map(|field| fields.get(*field)?.as_str());
            dir.map(str::to_owned)
        };
        // If both the call and its input name a directory, the input's directory may be relative to the call's directory.
        let cwd = match (dir(&call), dir(&input)) {
            (Some(outer), Some(inner)) if !inner.starts_with('/') => {
                Some(format!("{outer}/{inner}"))
            }
            (outer, inner) => inner.or(outer),
        };
        let twice = [
            several("its tool", &call, &NAMES),
            several("its input", &call, &INPUTS),
            several("its directory", &input, &PLACES),
        ];
        Ok(Call {
            tool: tool.to_owned(),
            action: match twice.into_iter().flatten().next() {
                Some(why) => Action::Unknown(why, files(&input)),
                None => action(tool, &input),
            },
            cwd,
            form: match call.contains_key("tool_name") {
                true => Form::Native,
                false => Form::Plain,
            },
        })
    }

    /// Returns the writes of the call. The call runs in the directory that it names, or else at `place`. `programs`
    /// are known in addition to the programs of the table.
    pub fn writes(&self, place: &Place, programs: &Programs) -> Writes {
        let place = match &self.cwd {
            Some(cwd) => place.within(cwd),
            None => place.clone(),
        };
        let mut writes = Writes::default();
        match &self.action {
            Action::Shell(command) => return shell::writes(command, &place, programs),
            Action::Program(words) => return shell::program_writes(words, &place, programs),
            Action::Files(files) => self.files(files, &place, &mut writes),
            Action::Reads => {}
            Action::Unknown(why, files) => {
                self.files(files, &place, &mut writes);
                writes.add_unknown(why.clone());
            }
            Action::Foreign(_) if programs.trusts(&[Some(&self.tool)]) => {}
            Action::Foreign(files) => {
                self.files(files, &place, &mut writes);
                writes.add_unknown(Unknown::for_program(self.tool.clone()));
            }
        }
        writes
    }

    fn files(&self, files: &[String], place: &Place, writes: &mut Writes) {
        for file in files {
            let file = &at_home(file, place);
            match place.resolve(file) {
                Some(path) => writes.write(path, false, &self.tool),
                None => writes.add_unknown(format!(
                    "{file} is relative to a directory that is not known"
                )),
            }
        }
    }
}

/// Returns the reason for an unknown write if several of the fields `names` are present.
fn several(what: &str, fields: &Map<String, Value>, names: &[&str]) -> Option<String> {
    let given: Vec<&str> = names
        .iter()
        .copied()
        .filter(|name| fields.contains_key(*name))
        .collect();
    (given.len() > 1).then(|| format!("the call names {what} in {}", given.join(" and ")))
}

/// Expands `~` to the home directory, as some tools do.
fn at_home(file: &str, place: &Place) -> String {
    match (file.strip_prefix("~/"), &place.home) {
        (Some(rest), Some(home)) => format!("{home}/{rest}"),
        _ => file.to_owned(),
    }
}

/// Parses an object, or a text that contains an object. Any other value becomes an empty object.
fn object(value: &Value) -> Result<Map<String, Value>, serde_json::Error> {
    let parsed = match value {
        Value::String(text) => serde_json::from_str::<Unique>(text)?.0,
        other => other.clone(),
    };
    match parsed {
        Value::Object(object) => Ok(object),
        _ => Ok(Map::new()),
    }
}

fn action(tool: &str, input: &Map<String, Value>) -> Action {
    let name = tool.to_lowercase();
    let name = name.as_str();
    if shell::lists("@tool-shell", name) {
        return shell_action(tool, input);
    }
    if shell::lists("@tool-unread-shell", name) {
        let why = format!("{tool} runs commands that are not for a POSIX shell");
        return Action::Unknown(why, files(input));
    }
    if name == "apply_patch" || name == "applypatch" {
        return patch_action(tool, input);
    }
    if shell::lists("@tool-writes", name) {
        return files_action(tool, input);
    }
    if shell::lists("@tool-reads", name) {
        return Action::Reads;
    }
    if shell::lists("@tool-looks", name) {
        let own = name.starts_with("mcp__teamlog__");
        return match own || !may_write(input) {
            true => Action::Reads,
            false => Action::Unknown(
                format!("{tool} gets a path and content, so it may write files"),
                files(input),
            ),
        };
    }
    // The name of another server's tool proves nothing, but a name can suggest that the tool writes.
    let bare = name.rsplit("__").next().unwrap_or(name);
    match shell::lists("@tool-writes", bare) {
        true => Action::Foreign(files(input)),
        false => Action::Foreign(Vec::new()),
    }
}

/// Returns the effect of a tool that writes the files in its input. Some of these tools have several functions, which the
/// field `command` selects.
fn files_action(tool: &str, input: &Map<String, Value>) -> Action {
    let files = files(input);
    if input.get("command").and_then(Value::as_str) == Some("view") {
        return match input.keys().all(|field| shell::lists("@tool-view", field)) {
            true => Action::Reads,
            false => Action::Unknown(
                format!("{tool} has the command view, and fields that view does not take"),
                files,
            ),
        };
    }
    match files.is_empty() {
        true => Action::Unknown(format!("{tool} names no file"), files),
        false => Action::Files(files),
    }
}

/// Returns the files that an input names.
fn files(input: &Map<String, Value>) -> Vec<String> {
    let fields = input
        .iter()
        .filter(|(field, _)| shell::lists("@tool-file", &field.to_lowercase()));
    fields
        .filter_map(|(_, file)| file.as_str().map(str::to_owned))
        .collect()
}

/// Returns true if the input names a destination, or both a file and a content.
fn may_write(input: &Map<String, Value>) -> bool {
    let has = |list: &str| {
        input
            .keys()
            .any(|field| parts(field).iter().any(|part| shell::lists(list, part)))
    };
    has("@tool-output") || (has("@tool-place") && has("@tool-content"))
}

/// Splits the name of a field into lower-case words. Examples are `dirForAssets` and `out_file`.
fn parts(field: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    for letter in field.chars() {
        if letter.is_uppercase() || !letter.is_alphanumeric() {
            parts.push(String::new());
        }
        if let (Some(last), true) = (parts.last_mut(), letter.is_alphanumeric()) {
            last.extend(letter.to_lowercase());
        }
    }
    parts
}

fn patch_action(tool: &str, input: &Map<String, Value>) -> Action {
    let fields = ["input", "patch", "command", "patchText"];
    if let Some(why) = several("its patch", input, &fields) {
        return Action::Unknown(why, files(input));
    }
    let text = fields.iter().find_map(|field| match input.get(*field)? {
        Value::String(text) => Some(text.as_str()),
        Value::Array(words) => words.last()?.as_str(),
        _ => None,
    });
    match text.and_then(patch::files) {
        Some(files) => Action::Files(files),
        None => Action::Unknown(
            format!("cannot tell which files the patch of {tool} writes"),
            Vec::new(),
        ),
    }
}

fn shell_action(tool: &str, input: &Map<String, Value>) -> Action {
    let fields = ["command", "cmd", "script"];
    if let Some(why) = several("its command", input, &fields) {
        return Action::Unknown(why, files(input));
    }
    let unknown = |what: &str| Action::Unknown(format!("{tool} has {what}"), files(input));
    match fields.iter().find_map(|field| input.get(*field)) {
        Some(Value::String(command)) => Action::Shell(command.clone()),
        Some(words @ Value::Array(_)) => match Vec::<String>::deserialize(words) {
            Ok(words) if !words.is_empty() => Action::Program(words),
            _ => unknown("a command that is no list of texts"),
        },
        _ => unknown("no command"),
    }
}
