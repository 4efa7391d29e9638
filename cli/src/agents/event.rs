//! What an agent tells a hook on standard input, and what it takes for an answer.

use super::subagent::Subagent;
use crate::context::Context;
use crate::exit::CommandError;
use crate::given;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

/// The fields that the hooks of Claude Code and of Codex share, as far as they matter here; all others are passed by.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct HookEvent {
    /// `SessionStart`, `SubagentStart`, `Stop`, …
    pub event: String,
    pub session_id: Option<String>,
    /// The subagent in which the hook fires, if it does in one.
    pub subagent: Option<Subagent>,
    /// Whether the agent goes on already because a hook kept it from stopping.
    pub stop_hook_active: bool,
}

impl HookEvent {
    /// Reads it from standard input.
    pub fn read(context: &Context) -> Result<HookEvent, CommandError> {
        HookEvent::of(&given::object(context.env(), "the event", "-")?)
    }

    fn of(fields: &Map<String, Value>) -> Result<HookEvent, CommandError> {
        let text = |field: &str| given::text(fields, field);
        Ok(HookEvent {
            event: text("hook_event_name")?.unwrap_or_default(),
            session_id: text("session_id")?,
            subagent: Subagent::of(fields)?,
            stop_hook_active: fields.get("stop_hook_active") == Some(&Value::Bool(true)),
        })
    }
}

/// `{hookSpecificOutput}`: what an agent is told beside what it knows.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ContextAnswer {
    /// What the hook says
    hook_specific_output: HookOutput,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct HookOutput {
    /// The event that is answered: `UserPromptSubmit`, `SessionStart` or `SubagentStart`
    hook_event_name: &'static str,
    /// What the agent is told beside its prompt; empty where there is nothing to tell
    additional_context: String,
}

impl ContextAnswer {
    pub fn of(event: &'static str, text: String) -> ContextAnswer {
        ContextAnswer {
            hook_specific_output: HookOutput {
                hook_event_name: event,
                additional_context: text,
            },
        }
    }
}

/// `{decision, reason}`: the agent is to go on.
#[derive(Debug, Serialize, JsonSchema)]
pub struct StopAnswer {
    /// Always `block`
    #[schemars(extend("enum" = ["block"]))]
    decision: &'static str,
    /// Why, for the agent
    reason: String,
}

impl StopAnswer {
    pub fn of(reason: String) -> StopAnswer {
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
        let told = |value: Value| HookEvent::of(value.as_object().unwrap());
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
