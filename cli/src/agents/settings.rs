//! Edits hooks in the JSON settings of Claude Code and Codex.
//!
//! Both agents use one structure: `hooks` maps an event to a list of groups, and a group has a matcher and a list of
//! commands. Each hook of teamlog is a group with one command. All other content stays unchanged.

use super::Agent;
use super::json_text::{JsonText, Step};
use serde_json::{Map, Value, json};
use teamlog_team::mode::rules::denial::MCP_SERVER;

/// Number of seconds that an agent waits for a hook.
const TIMEOUT: u64 = 10;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hook {
    /// Asks the guard before a tool writes.
    Guard,
    /// Tells an agent its state at the start of a session and after a compaction.
    Start,
    /// Registers a subagent, and tells the subagent its name and state.
    SubagentStart,
    /// Tells a subagent once that it still holds tasks.
    SubagentStop,
    /// The hook before a compaction. `setup` no longer installs this hook, because agents ignore its output.
    Compaction,
    /// Carries out the modes that a prompt names.
    Prompt,
    /// Tells an agent the modes that have not ended.
    Stop,
}

impl Hook {
    pub fn event(self) -> &'static str {
        match self {
            Hook::Guard => "PreToolUse",
            Hook::Start => "SessionStart",
            Hook::SubagentStart => "SubagentStart",
            Hook::SubagentStop => "SubagentStop",
            Hook::Compaction => "PreCompact",
            Hook::Prompt => "UserPromptSubmit",
            Hook::Stop => "Stop",
        }
    }

    /// Returns the path of the hook's groups in the settings.
    fn place(self, group: Step<'static>) -> [Step<'static>; 3] {
        [Step::Key("hooks"), Step::Key(self.event()), group]
    }

    /// Returns the teamlog command that the hook runs.
    pub fn verb(self) -> &'static str {
        match self {
            Hook::Guard => "guard",
            Hook::Start | Hook::SubagentStart | Hook::SubagentStop | Hook::Compaction => "prime",
            Hook::Prompt => "mode prompt",
            Hook::Stop => "mode outcome",
        }
    }

    /// Returns true if `command` is a command line that teamlog wrote for this hook.
    fn wrote(self, command: &str) -> bool {
        let begins = |option: &str| command.contains(&format!(" {} {option} ", self.verb()));
        if begins("--data-root") {
            return self == Hook::Guard || command.contains(" --hook ");
        }
        // Without `--data-root`, the hook asks a daemon on another machine.
        match self {
            Hook::Guard => begins("--client") && command.ends_with(" || exit 2"),
            _ => begins("--hook") && command.ends_with(" || exit 1"),
        }
    }

    /// Returns the group to add to the settings.
    pub fn group(self, whose: Agent, command: &str) -> Value {
        let mut run = json!({"type": "command", "command": command, "timeout": TIMEOUT});
        let mut group = json!({});
        if self == Hook::Guard {
            group["matcher"] = json!(matcher(whose));
            if whose == Agent::Claude {
                // Without this field, the call is allowed if the hook cannot be started or times out.
                run["onFailure"] = json!("block");
            }
        }
        group["hooks"] = json!([run]);
        group
    }
}

/// Returns a pattern that matches the agent's tools that write or run commands, and all tools of MCP servers. The guard
/// decides which of these tools write.
fn matcher(whose: Agent) -> &'static str {
    match whose {
        Agent::Codex => "^(Bash|apply_patch|Edit|Write|mcp__.*)$",
        Agent::Claude | Agent::Pi => {
            "^(Write|Edit|MultiEdit|NotebookEdit|Bash|Monitor|PowerShell|mcp__.*)$"
        }
    }
}

/// A hook of teamlog in the settings.
#[derive(Debug, Clone, PartialEq)]
pub struct Installed {
    at: usize,
    /// Index of the command in its group, if the group has other commands too.
    beside: Option<usize>,
    pub group: Value,
    pub command: String,
}

pub fn installed(settings: &JsonText, hook: Hook) -> Vec<Installed> {
    let settings = settings.value();
    let groups = settings
        .get("hooks")
        .and_then(|hooks| hooks.get(hook.event())?.as_array());
    let mut found = Vec::new();
    for (at, group) in groups.into_iter().flatten().enumerate() {
        let runs = group.get("hooks").and_then(Value::as_array);
        for (nth, run) in runs.into_iter().flatten().enumerate() {
            let command = run.get("command").and_then(Value::as_str);
            let Some(command) = command.filter(|command| hook.wrote(command)) else {
                continue;
            };
            let alone = runs.is_some_and(|runs| runs.len() == 1);
            found.push(Installed {
                at,
                beside: (!alone).then_some(nth),
                group: group.clone(),
                command: command.to_owned(),
            });
        }
    }
    found
}

/// Replaces an older hook of teamlog, or adds the hook after the existing hooks.
///
/// # Errors
/// `hooks` is not an object, or the event is not a list. The error text is the end of a sentence that the caller begins.
pub fn put(settings: &mut JsonText, hook: Hook, group: &Value) -> Result<(), String> {
    let mut found = installed(settings, hook);
    let kept = found.iter().position(|one| one.beside.is_none());
    let kept = kept.map(|at| found.remove(at));
    if let Some(kept) = &kept
        && kept.group != *group
    {
        settings.put(&hook.place(Step::At(kept.at)), group)?;
    }
    take_out(settings, hook, &found);
    match kept {
        Some(_) => Ok(()),
        None => settings.put(&hook.place(Step::End), group),
    }
}

pub fn remove(settings: &mut JsonText, hook: Hook) {
    let found = installed(settings, hook);
    take_out(settings, hook, &found);
}

fn take_out(settings: &mut JsonText, hook: Hook, found: &[Installed]) {
    // Remove from the end, so that the other indexes stay valid.
    for one in found.iter().rev() {
        let group = hook.place(Step::At(one.at));
        match one.beside {
            None => settings.remove(&group),
            Some(nth) => {
                let [hooks, event, at] = group;
                settings.remove(&[hooks, event, at, Step::Key("hooks"), Step::At(nth)])
            }
        };
    }
}

/// Path of the MCP server's entry in `.mcp.json`.
pub const MCP: [Step<'static>; 2] = [Step::Key("mcpServers"), Step::Key(MCP_SERVER)];

pub fn mcp(settings: &JsonText) -> Option<Value> {
    let value = settings.value();
    value.get("mcpServers")?.get(MCP_SERVER).cloned()
}

pub fn mcp_entry(words: &[String]) -> Value {
    let mut entry = Map::new();
    if let Some((program, rest)) = words.split_first() {
        entry.insert("command".to_owned(), json!(program));
        entry.insert("args".to_owned(), json!(rest));
    }
    Value::Object(entry)
}

/// Returns true if the entry starts the MCP server of teamlog and has no other settings.
pub fn is_own_mcp(entry: &Value) -> bool {
    let args = entry.get("args").and_then(Value::as_array);
    args.is_some_and(|args| {
        let root = args.get(1).and_then(Value::as_str);
        args.first() == Some(&json!("mcp")) && matches!(root, Some("--data-root" | "--team"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMMAND: &str = "/bin/teamlog guard --data-root /d --on-unknown ask || exit 2";

    fn with(settings: &mut JsonText, command: &str) -> Value {
        let group = Hook::Guard.group(Agent::Claude, command);
        put(settings, Hook::Guard, &group).unwrap();
        settings.value()
    }

    #[test]
    fn what_else_is_there_stays_and_a_second_time_changes_nothing() {
        let old = "{\"model\":\"x\",\"hooks\":{\"Stop\":[1],\"PreToolUse\":[{\"matcher\":\"Read\",\"hooks\":[]}]},\"a\":1}";
        let mut settings = JsonText::parse(Some(old)).unwrap();
        let value = with(&mut settings, COMMAND);
        assert!(
            settings
                .text()
                .starts_with("{\"model\":\"x\",\"hooks\":{\"Stop\":[1],")
        );
        let calls = value["hooks"]["PreToolUse"].as_array().unwrap();
        assert_eq!((calls.len(), &calls[0]["matcher"]), (2, &json!("Read")));
        assert_eq!(calls[1]["hooks"][0]["command"], COMMAND);
        let first = settings.clone();
        with(&mut settings, COMMAND);
        assert_eq!(settings, first);
        let other = COMMAND.replace("ask", "deny");
        let value = with(&mut settings, &other);
        let calls = value["hooks"]["PreToolUse"].as_array().unwrap();
        assert_eq!(calls.len(), 2);
        assert_eq!(calls[1]["hooks"][0]["command"], other);
        remove(&mut settings, Hook::Guard);
        assert_eq!(settings.text(), old);
    }

    #[test]
    fn one_that_stands_beside_others_is_taken_out_alone() {
        let old = json!({"hooks": {"Stop": [{"hooks": [
            {"command": "mine"},
            {"command": "/t mode outcome --data-root /d --hook -- x || exit 1"},
        ]}]}});
        let mut settings = JsonText::parse(Some(&old.to_string())).unwrap();
        let group = Hook::Stop.group(
            Agent::Codex,
            "/t mode outcome --data-root /e --hook -- x || exit 1",
        );
        put(&mut settings, Hook::Stop, &group).unwrap();
        let value = settings.value();
        assert_eq!(
            value["hooks"]["Stop"][0]["hooks"],
            json!([{"command": "mine"}])
        );
        assert_eq!(value["hooks"]["Stop"][1], group);
        // A hook that a person wrote stays, even if its command equals the command of our hook.
        let own =
            json!({"hooks": {"Stop": [{"hooks": [{"command": "teamlog mode outcome x forge"}]}]}});
        let mut settings = JsonText::parse(Some(&own.to_string())).unwrap();
        remove(&mut settings, Hook::Stop);
        assert_eq!(settings.value(), own);
    }

    #[test]
    fn each_agent_asks_for_what_writes() {
        for (whose, tool) in [
            (Agent::Claude, "NotebookEdit"),
            (Agent::Claude, "|Monitor|"),
            (Agent::Claude, "|PowerShell|"),
            (Agent::Codex, "apply_patch"),
        ] {
            let group = Hook::Guard.group(whose, COMMAND);
            let matcher = group["matcher"].as_str().unwrap();
            assert!(
                matcher.contains(tool) && matcher.contains("mcp__.*"),
                "{matcher}"
            );
            let blocks = group["hooks"][0]["onFailure"] == "block";
            assert_eq!(blocks, whose == Agent::Claude);
        }
    }
}
