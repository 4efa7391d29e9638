//! Tools of earlier versions that changed a team. A call of such a tool is answered with the command to use instead.

use serde_json::{Map, Value, json};

/// Operations that had a tool. The name of the tool was `team_` and the operation's name with underscores.
const OPERATIONS: &str = "\
    send-message broadcast mailbox-list mailbox-mark-notified mailbox-mark-delivered create-task \
    read-task list-tasks update-task claim-task transition-task-status release-task-claim read-config \
    read-manifest read-worker-status read-worker-heartbeat update-worker-heartbeat write-worker-inbox \
    write-worker-identity append-event get-summary cleanup orphan-cleanup write-shutdown-request \
    read-shutdown-ack read-monitor-snapshot write-monitor-snapshot read-task-approval \
    write-task-approval";

/// Returns the answer to a call of a tool of earlier versions. Returns `None` for any other name.
pub fn deprecation(tool: &str, arguments: &Map<String, Value>) -> Option<String> {
    let operation = tool.strip_prefix("team_")?.replace('_', "-");
    OPERATIONS
        .split_whitespace()
        .find(|known| *known == operation)?;
    let mut arguments = arguments.clone();
    // Operations call this field `team_name`.
    if let Some(team) = arguments.remove("team") {
        arguments.entry("team_name").or_insert(team);
    }
    let input = Value::Object(arguments).to_string();
    let answer = json!({
        "error": format!("the tool {tool} is hard-deprecated: a team is changed through the command line"),
        "code": "deprecated_cli_only",
        "hint": format!("Use CLI interop: rcs team api {operation} --input {} --json", quoted(&input)),
        // The team API prescribes the hint. The command also works if no program is called `rcs`.
        "command": format!("teamlog team api {operation} --input {} --json", quoted(&input)),
    });
    Some(answer.to_string())
}

/// Quotes a text as one word of a POSIX shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_had_an_operation_that_is_still_there() {
        for operation in OPERATIONS.split_whitespace() {
            let found = teamlog_team::api::find(operation);
            assert_eq!(found.map(|found| found.name), Some(operation));
        }
    }

    #[test]
    fn the_hint_can_be_typed_as_it_is() {
        let Value::Object(arguments) = json!({"team_name": "demo", "body": "it's"}) else {
            unreachable!()
        };
        let text = deprecation("team_send_message", &arguments).unwrap();
        let answer: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(answer["code"], "deprecated_cli_only");
        assert!(
            answer["error"]
                .as_str()
                .unwrap()
                .contains("team_send_message")
        );
        assert_eq!(
            answer["hint"],
            r#"Use CLI interop: rcs team api send-message --input '{"body":"it'\''s","team_name":"demo"}' --json"#
        );
        let Value::Object(arguments) = json!({"team": "demo"}) else {
            unreachable!()
        };
        let text = deprecation("team_list_tasks", &arguments).unwrap();
        assert!(
            text.contains("team_name") && !text.contains("\\\"team\\\""),
            "{text}"
        );
    }

    #[test]
    fn other_names_are_no_business_of_ours() {
        for name in [
            "team_read_events",
            "send_message",
            "team_",
            "",
            "team_nothing",
        ] {
            assert_eq!(deprecation(name, &Map::new()), None, "{name}");
        }
    }
}
