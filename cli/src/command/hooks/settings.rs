//! The JSON settings that some agents read their hooks from.

use super::Whose;
use serde_json::{Map, Value, json};
use teamlog_team::engine::Json;

/// Seconds that an agent waits for the guard.
const TIMEOUT: u64 = 10;

/// The tools that write, as the agents name them.
fn matcher(whose: Whose) -> &'static str {
    match whose {
        Whose::Codex => "Bash|apply_patch|Edit|Write",
        Whose::Claude | Whose::Pi => "Write|Edit|MultiEdit|NotebookEdit|Bash",
    }
}

/// The settings with our hook in the place of an older one of ours, or behind those that are there.
///
/// # Errors
/// Why the old settings cannot be taken, as the rest of a sentence.
pub fn with_hook(old: Option<&str>, whose: Whose, command: &str) -> Result<String, String> {
    let mut settings = match old.map(str::trim).filter(|old| !old.is_empty()) {
        None => Map::new(),
        // Stricter than the parser below, which would drop a key that is there twice.
        Some(old) => match Json::parse(old).map(|json| serde_json::from_str(json.as_str())) {
            Ok(Ok(Value::Object(settings))) => settings,
            Ok(Ok(_)) => return Err("it is no JSON object".to_owned()),
            Ok(Err(error)) => return Err(error.to_string()),
            Err(error) => return Err(error.to_string()),
        },
    };
    let before = settings.clone();
    let hooks = settings.entry("hooks").or_insert_with(|| json!({}));
    let hooks = hooks.as_object_mut().ok_or("hooks is no object")?;
    let calls = hooks.entry("PreToolUse").or_insert_with(|| json!([]));
    let calls = calls.as_array_mut().ok_or("hooks.PreToolUse is no list")?;
    let own = json!({
        "matcher": matcher(whose),
        "hooks": [{"type": "command", "command": command, "timeout": TIMEOUT}],
    });
    match calls.iter_mut().find(|call| is_ours(call)) {
        Some(call) => *call = own,
        None => calls.push(own),
    }
    match (old, settings == before) {
        (Some(old), true) => Ok(old.to_owned()),
        _ => {
            let text = serde_json::to_string_pretty(&Value::Object(settings));
            text.map(|text| text + "\n")
                .map_err(|error| error.to_string())
        }
    }
}

/// Whether a hook does nothing but ask the guard.
fn is_ours(call: &Value) -> bool {
    let Some([hook]) = call
        .get("hooks")
        .and_then(Value::as_array)
        .map(Vec::as_slice)
    else {
        return false;
    };
    let command = hook.get("command").and_then(Value::as_str);
    command.is_some_and(|command| command.contains(" guard --data-root "))
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMMAND: &str = "/bin/teamlog guard --data-root /d --on-unknown ask || exit 2";

    #[test]
    fn what_else_is_there_stays_and_a_second_time_changes_nothing() {
        let old =
            r#"{"model":"x","hooks":{"Stop":[1],"PreToolUse":[{"matcher":"Read","hooks":[]}]}}"#;
        let first = with_hook(Some(old), Whose::Claude, COMMAND).unwrap();
        let settings: Value = serde_json::from_str(&first).unwrap();
        assert_eq!(settings["model"], "x");
        assert_eq!(settings["hooks"]["Stop"], json!([1]));
        let calls = settings["hooks"]["PreToolUse"].as_array().unwrap();
        assert_eq!((calls.len(), &calls[0]["matcher"]), (2, &json!("Read")));
        assert_eq!(calls[1]["hooks"][0]["command"], COMMAND);
        let again = with_hook(Some(&first), Whose::Claude, COMMAND).unwrap();
        assert_eq!(again, first);
        let other = COMMAND.replace("ask", "deny");
        let changed = with_hook(Some(&first), Whose::Claude, &other).unwrap();
        let settings: Value = serde_json::from_str(&changed).unwrap();
        let calls = settings["hooks"]["PreToolUse"].as_array().unwrap();
        assert_eq!(calls.len(), 2);
        assert_eq!(calls[1]["hooks"][0]["command"], other);
    }

    #[test]
    fn settings_that_cannot_be_read_are_left_alone() {
        for old in [
            "[]",
            "{",
            r#"{"a":1,"a":2}"#,
            r#"{"hooks":[]}"#,
            r#"{"hooks":{"PreToolUse":{}}}"#,
        ] {
            assert!(
                with_hook(Some(old), Whose::Codex, COMMAND).is_err(),
                "{old}"
            );
        }
        for old in [None, Some(""), Some(" \n")] {
            let made = with_hook(old, Whose::Codex, COMMAND).unwrap();
            assert!(made.contains("apply_patch"), "{made}");
        }
    }
}
