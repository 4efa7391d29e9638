//! `config.json` of a team chat directory: timeout and number of attempts of deliveries, per type of message.

use crate::projections::team::event::ConfigChanged;
use crate::projections::team::settings::Value;
use crate::projections::{MessageType, Setting};
use serde_json::{Map, Value as Any};

/// Returns the settings in an old configuration, and the entries that cannot be used.
pub(crate) fn settings(bytes: &[u8]) -> Result<(ConfigChanged, Vec<String>), String> {
    let config: Map<String, Any> = serde_json::from_slice(bytes)
        .map_err(|error| format!("must be a JSON object ({error})"))?;
    let mut changed = ConfigChanged {
        changes: Vec::new(),
    };
    let mut problems = Vec::new();
    let Some(policies) = config.get("ack_policy").filter(|policy| !policy.is_null()) else {
        return Ok((changed, problems));
    };
    let Some(policies) = policies.as_object() else {
        problems.push(format!("ack_policy must be an object, but is {policies}"));
        return Ok((changed, problems));
    };
    for (name, policy) in policies {
        match (kind(name), policy.as_object()) {
            (None, _) => problems.push(format!(
                "ack_policy must name types of messages or default, but names {name:?}"
            )),
            (_, None) => problems.push(format!(
                "ack_policy.{name} must be an object, but is {policy}"
            )),
            (Some(kind), Some(policy)) => {
                let fields = [
                    ("ack_timeout_seconds", Setting::AckTimeout(kind)),
                    ("max_retries", Setting::MaxRetries(kind)),
                ];
                for (field, setting) in fields {
                    let value = policy.get(field);
                    match value.map(|value| setting.parse(&value.to_string())) {
                        Some(Ok(value @ Value::Number(_))) => {
                            changed.changes.push((setting, Some(value)));
                        }
                        None | Some(Ok(_)) => {}
                        Some(Err(rule)) => {
                            problems.push(format!("ack_policy.{name}.{field} {rule}"));
                        }
                    }
                }
            }
        }
    }
    Ok((changed, problems))
}

/// Returns the message type of a policy. `default` means all other types.
fn kind(name: &str) -> Option<Option<MessageType>> {
    match name {
        "default" => Some(None),
        name => MessageType::from_name(name).map(Some),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_becomes_settings_and_what_is_wrong_is_named() {
        let text = r#"{"ack_policy":{"default":{"ack_timeout_seconds":5,"max_retries":1},"handoff":{"max_retries":0},
            "paused":{"max_retries":1},"message":7,"decision_required":{"ack_timeout_seconds":0,"max_retries":"many"}},"x":1}"#;
        let (changed, problems) = settings(text.as_bytes()).unwrap();
        let changes = [
            (Setting::AckTimeout(None), 5),
            (Setting::MaxRetries(None), 1),
            (Setting::MaxRetries(Some(MessageType::Handoff)), 0),
        ];
        let changes = changes.map(|(setting, number)| (setting, Some(Value::Number(number))));
        let mut found = changed.changes;
        found.sort_by_key(|(setting, _)| *setting);
        assert_eq!(found, changes);
        let named = [
            "\"paused\"",
            "ack_policy.message",
            "decision_required.ack_timeout",
            "decision_required.max_retries",
        ];
        assert_eq!(problems.len(), named.len(), "{problems:?}");
        for name in named {
            assert!(
                problems.iter().any(|problem| problem.contains(name)),
                "{name} {problems:?}"
            );
        }
        assert!(settings(b"[1]").is_err() && settings(b"{").is_err());
        for nothing in ["{}", r#"{"ack_policy":null}"#] {
            let (changed, problems) = settings(nothing.as_bytes()).unwrap();
            assert!(changed.changes.is_empty() && problems.is_empty());
        }
    }
}
