//! Tool calls as the common coding agents show them to a hook before they run.
//!
//! | form | tool | input |
//! |---|---|---|
//! | `{tool_name, tool_input{…}, cwd?}` | `Write`, `Edit`, `MultiEdit`, `NotebookEdit`, `Bash`, `apply_patch` | `file_path`, `notebook_path`, `command`, `input`, `patch` |
//! | `{tool, params{…}}`, `{tool, input{…}, cwd?}`, `{name, arguments{…}}` | `write`, `edit`, `bash`, `shell`, `exec_command` | `path`, `filePath`, `command` (text or arguments), `cmd`, `workdir` |

use crate::known::Programs;
use crate::patch;
use crate::place::Place;
use crate::shell;
use crate::writes::Writes;
use serde::Deserialize;
use serde_json::{Map, Value};

/// A tool call.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// The tool, as the agent names it.
    pub tool: String,
    /// What it does.
    pub deed: Deed,
    /// Where it runs, if the call says so.
    pub cwd: Option<String>,
    /// The form of the hook that it was shown to.
    pub form: Form,
}

/// How a call is written down, and how its answer is expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// `{tool_name, tool_input}`: a native hook.
    Native,
    /// Any other.
    Plain,
}

/// What a tool call does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Deed {
    /// It writes these files.
    Files(Vec<String>),
    /// It runs a command in a shell.
    Shell(String),
    /// It runs a program with arguments, without a shell.
    Program(Vec<String>),
    /// It writes nothing.
    Reads,
    /// Nobody can say.
    Unknown(String),
}

/// Why a text is no tool call.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct CallError(String);

/// Where a call may say its tool, and where the tool's input.
const FORMS: [(&str, &str); 6] = [
    ("tool_name", "tool_input"),
    ("toolName", "input"),
    ("tool", "params"),
    ("tool", "input"),
    ("tool", "arguments"),
    ("name", "arguments"),
];
impl Call {
    /// Reads a call out of the JSON that a hook is given, which must be an object and name its tool.
    ///
    /// # Errors
    /// What it lacks.
    pub fn parse(text: &str) -> Result<Call, CallError> {
        let lacks = |what: String| CallError(format!("the tool call must {what}"));
        let value: Value =
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
            .find_map(|(_, input)| object(call.get(*input)?))
            .unwrap_or_default();
        let cwd = ["cwd", "workdir", "working_directory"]
            .iter()
            .find_map(|field| input.get(*field).or_else(|| call.get(*field))?.as_str());
        Ok(Call {
            tool: tool.to_owned(),
            deed: deed(tool, &input),
            cwd: cwd.map(str::to_owned),
            form: match call.contains_key("tool_name") {
                true => Form::Native,
                false => Form::Plain,
            },
        })
    }

    /// What it would write, run at `place`, or where it says itself, with these programs known beside those of the table.
    pub fn writes(&self, place: &Place, programs: &Programs) -> Writes {
        let place = match &self.cwd {
            Some(cwd) => place.within(cwd),
            None => place.clone(),
        };
        let mut writes = Writes::default();
        match &self.deed {
            Deed::Shell(command) => return shell::writes(command, &place, programs),
            Deed::Program(words) => return shell::program_writes(words, &place, programs),
            Deed::Files(files) => {
                for file in files {
                    let file = &at_home(file, &place);
                    match place.resolve(file) {
                        Some(path) => writes.write(path, false, &self.tool),
                        None => writes.doubt(format!(
                            "{file} is relative to a directory that is not known"
                        )),
                    }
                }
            }
            Deed::Reads => {}
            Deed::Unknown(why) => writes.doubt(why.clone()),
        }
        writes
    }
}

/// Some tools know the home by its sign.
fn at_home(file: &str, place: &Place) -> String {
    match (file.strip_prefix("~/"), &place.home) {
        (Some(rest), Some(home)) => format!("{home}/{rest}"),
        _ => file.to_owned(),
    }
}

/// An object, also where it stands as text.
fn object(value: &Value) -> Option<Map<String, Value>> {
    match value {
        Value::Object(object) => Some(object.clone()),
        Value::String(text) => serde_json::from_str(text).ok(),
        _ => None,
    }
}

fn deed(tool: &str, input: &Map<String, Value>) -> Deed {
    // Some agents put a namespace before the name.
    let bare = tool.rsplit("__").next().unwrap_or(tool).to_lowercase();
    let bare = bare.as_str();
    if shell::lists("@tool-shell", bare) {
        return shell_deed(tool, input);
    }
    if bare == "apply_patch" || bare == "applypatch" {
        return patch_deed(tool, input);
    }
    if shell::lists("@tool-writes", bare) {
        // Some of them do more than one thing, and say which.
        if input.get("command").and_then(Value::as_str) == Some("view") {
            return Deed::Reads;
        }
        let fields = input
            .iter()
            .filter(|(field, _)| shell::lists("@tool-file", field));
        let files: Vec<String> = fields
            .filter_map(|(_, file)| file.as_str().map(str::to_owned))
            .collect();
        return match files.is_empty() {
            true => Deed::Unknown(format!("{tool} names no file")),
            false => Deed::Files(files),
        };
    }
    match shell::lists("@tool-reads", bare) || only_looks(tool, bare) {
        true => Deed::Reads,
        false => Deed::Unknown(format!("{tool} is no tool that is known")),
    }
}

/// Whether a tool of another server, `mcp__server__tool`, says by its name that it writes no file. Those of teamlog write
/// into the log.
fn only_looks(tool: &str, bare: &str) -> bool {
    let Some(rest) = tool.strip_prefix("mcp__") else {
        return false;
    };
    let verb = bare.split(['_', '-']).next().unwrap_or_default();
    rest.starts_with("teamlog__") || shell::lists("@tool-looks", verb)
}

fn patch_deed(tool: &str, input: &Map<String, Value>) -> Deed {
    let text = ["input", "patch", "command", "patchText"]
        .iter()
        .find_map(|field| match input.get(*field)? {
            Value::String(text) => Some(text.as_str()),
            Value::Array(words) => words.last()?.as_str(),
            _ => None,
        });
    match text.and_then(patch::files) {
        Some(files) => Deed::Files(files),
        None => Deed::Unknown(format!("{tool} holds no patch whose files can be read")),
    }
}

fn shell_deed(tool: &str, input: &Map<String, Value>) -> Deed {
    let command = ["command", "cmd", "script"]
        .iter()
        .find_map(|field| input.get(*field));
    match command {
        Some(Value::String(command)) => Deed::Shell(command.clone()),
        Some(words @ Value::Array(_)) => match Vec::<String>::deserialize(words) {
            Ok(words) if !words.is_empty() => Deed::Program(words),
            _ => Deed::Unknown(format!("{tool} has a command that is no list of texts")),
        },
        _ => Deed::Unknown(format!("{tool} has no command")),
    }
}
