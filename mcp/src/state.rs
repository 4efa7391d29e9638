//! Tools that read and write states of modes. Each tool runs the command `rcs state …` with its name.
//!
//! Without `session_id`, a tool uses the session of the server, as the command uses the session of its environment. `null` means the root.

use crate::query::{Query, ToolError};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use std::sync::LazyLock;
use teamlog_team::api::{Effect, Op};
use teamlog_team::mode::clear::ModeClear;
use teamlog_team::mode::rules::shown::SKILL_ACTIVE;
use teamlog_team::mode::state::{StateGetStatus, StateListActive, StateRead};
use teamlog_team::mode::write::ModeWrite;
use teamlog_team::projections::mode::Mode;
use teamlog_team::{Failure, Team};

/// The default session of state tools. `None` is the root. If it is an error, each call that uses the default returns
/// this error.
pub type Session = Result<Option<String>, ToolError>;

/// All state tools.
pub static STATES: LazyLock<Vec<Query>> = LazyLock::new(|| {
    vec![
        tool(
            "state_read",
            "Read the state of a mode in the session, or else at the root",
            Effect::Reads,
            |asked: StateRead, team| team.state_read(asked),
        ),
        tool(
            "state_write",
            "Write fields of a mode's state; this may start or end the mode, or complete modes that hand over to it",
            ModeWrite::EFFECT,
            |asked: ModeWrite, team| team.state_write(asked),
        ),
        tool(
            "state_clear",
            "Remove the state of a mode, so that other modes may start",
            ModeClear::EFFECT,
            |asked: ModeClear, team| team.state_clear(asked),
        ),
        tool(
            "state_list_active",
            "List the active modes",
            Effect::Reads,
            |asked: StateListActive, team| team.state_list_active(asked),
        ),
        tool(
            "state_get_status",
            "Read the status of a mode, or of all modes that have a state",
            Effect::Reads,
            |asked: StateGetStatus, team| team.state_get_status(asked),
        ),
    ]
});

/// Makes a state tool. The argument `mode` of the tool can also be `skill-active`, the list of active skills.
fn tool<I, A>(
    name: &'static str,
    doc: &'static str,
    effect: Effect,
    ask: fn(I, &mut Team) -> Result<A, Failure>,
) -> Query
where
    I: DeserializeOwned + JsonSchema + 'static,
    A: Serialize + 'static,
{
    let mut tool = Query::new(name, doc, effect, ask);
    tool.of_states = true;
    let mode = tool
        .schema
        .get_mut("properties")
        .and_then(|fields| fields.get_mut("mode"));
    if let Some(mode) = mode {
        let modes = Mode::ALL.map(Mode::name).into_iter();
        let names: Vec<&str> = modes.chain([SKILL_ACTIVE]).collect();
        let about = "Name of the mode, or `skill-active` for the list of active skills, of which only the metadata can \
            be written or cleared";
        *mode = json!({"type": "string", "description": about, "enum": names});
        // The schema no longer refers to its definitions.
        tool.schema.remove("$defs");
    }
    tool.reshape();
    tool
}

/// Removes arguments that the operations do not accept. Adds the default session unless the call names a session or sets
/// `all_sessions`.
pub(crate) fn put_session(
    arguments: &mut Map<String, Value>,
    session: &Session,
) -> Result<(), ToolError> {
    arguments.remove("workingDirectory");
    let everywhere = arguments.get("all_sessions") == Some(&Value::Bool(true));
    if everywhere || arguments.contains_key("session_id") {
        return Ok(());
    }
    if let Some(session) = session.clone()? {
        arguments.insert("session_id".to_owned(), session.into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_says_what_it_takes_and_two_of_them_change_something() {
        for tool in STATES.iter() {
            for field in ["team", "session_id"] {
                assert!(
                    tool.schema["properties"][field].is_object(),
                    "{}",
                    tool.name
                );
            }
            if let Some(mode) = tool.schema["properties"].get("mode") {
                let names = mode["enum"].as_array().unwrap();
                assert_eq!(names.len(), Mode::ALL.len() + 1, "{}", tool.name);
                assert!(mode["description"].is_string(), "{}", tool.name);
            }
            let text = serde_json::to_string(&tool.schema).unwrap();
            assert!(!text.contains("$ref"), "{}", tool.name);
        }
        let writing = STATES.iter().filter(|tool| tool.mutates);
        let writing: Vec<&str> = writing.map(|tool| tool.name).collect();
        assert_eq!(writing, ["state_write", "state_clear"]);
    }
}
