//! Reads the input of an agent's hook from standard input, and defines the answers of a hook.

use super::subagent::Subagent;
use crate::context::Context;
use crate::exit::CommandError;
use crate::given;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

/// Input of a hook. These fields are common to Claude Code and Codex; other fields are ignored.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct HookEvent {
    /// Name of the event: `SessionStart`, `SubagentStart`, `Stop`, …
    pub event: String,
    pub session_id: Option<String>,
    /// The subagent that triggered the hook, if any.
    pub subagent: Option<Subagent>,
    /// True if the agent continues because a stop hook kept it from stopping earlier.
    pub stop_hook_active: bool,
}

impl HookEvent {
    /// Reads the hook's input from standard input.
    pub fn read(context: &Context) -> Result<HookEvent, CommandError> {
        HookEvent::from_fields(&given::object(context.env(), "the event", "-")?)
    }

    fn from_fields(fields: &Map<String, Value>) -> Result<HookEvent, CommandError> {
        let text = |field: &str| given::text(fields, field);
        Ok(HookEvent {
            event: text("hook_event_name")?.unwrap_or_default(),
            session_id: text("session_id")?,
            subagent: Subagent::from_fields(fields)?,
            stop_hook_active: fields.get("stop_hook_active") == Some(&Value::Bool(true)),
        })
    }
}

/// Answer that adds context for an agent: `{hookSpecificOutput}`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ContextAnswer {
    /// Output of the hook
    hook_specific_output: HookOutput,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct HookOutput {
    /// The event: `UserPromptSubmit`, `SessionStart` or `SubagentStart`
    hook_event_name: &'static str,
    /// Context for the agent, added to its prompt; may be empty
    additional_context: String,
}

impl ContextAnswer {
    pub fn new(event: &'static str, text: String) -> ContextAnswer {
        ContextAnswer {
            hook_specific_output: HookOutput {
                hook_event_name: event,
                additional_context: text,
            },
        }
    }
}

/// Answer that makes the agent continue: `{decision, reason}`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct StopAnswer {
    /// Always `block`
    #[schemars(extend("enum" = ["block"]))]
    decision: &'static str,
    /// Reason, for the agent
    reason: String,
}

impl StopAnswer {
    pub fn new(reason: String) -> StopAnswer {
        StopAnswer {
            decision: "block",
            reason,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_event_is_read_and_the_rest_of_it_passed_by() {
        let told = |value: Value| HookEvent::from_fields(value.as_object().unwrap());
        let stop = json!({"hook_event_name": "Stop", "session_id": "s", "stop_hook_active": true, "n": [1]});
        let read = told(stop).unwrap();
        assert_eq!((&*read.event, read.stop_hook_active), ("Stop", true));
        assert_eq!(read.session_id.as_deref(), Some("s"));
        assert_eq!(
            told(json!({"session_id": null})).unwrap(),
            HookEvent::default()
        );
        let error = told(json!({"session_id": 7})).unwrap_err();
        assert_eq!(error.code(), "invalid_input");
    }
}
