//! Modes for callers of the link `rcs`. These callers get payloads in their own format, and the commands in a denial run as printed.

use super::Link;
use crate::mcp::Client;
use crate::prelude::*;

#[test]
fn callers_of_the_link_get_the_payloads_they_know() {
    let cli = Cli::with_team();
    let rcs = Link::new(&cli);
    let wrote = rcs.json(
        &cli,
        r#"rcs state write --input '{"mode":"forge","active":true,"workingDirectory":"/x","state":{"owner":"dev"}}' --json"#,
    );
    assert_eq!(
        wrote,
        json!({"success": true, "mode": "forge", "path": "teams/demo/modes/forge-state.json"})
    );
    let read = rcs.json(
        &cli,
        r#"rcs state read --mode forge --input '{"workingDirectory":"/x"}'"#,
    );
    assert!(read.get("workingDirectory").is_none(), "{read}");
    has!(read, {"active": true, "owner": "dev"});
    let file = std::fs::read_to_string(cli.dir().join("teams/demo/modes/forge-state.json"));
    assert_eq!(serde_json::from_str::<Value>(&file.unwrap()).unwrap(), read);
    assert_eq!(
        rcs.json(&cli, r#"rcs state read --input='{"mode":"team"}'"#),
        json!({"exists": false, "mode": "team"})
    );
    assert_eq!(
        rcs.json(&cli, "rcs state list-active"),
        json!({"active_modes": ["forge"]})
    );
    assert_eq!(
        rcs.json(&cli, "rcs state list_active --json"),
        json!({"active_modes": ["forge"]})
    );
    let status = rcs.json(&cli, "rcs state get-status");
    assert_eq!(status["statuses"]["forge"]["phase"], "starting");
    assert!(status["statuses"].get("skill-active").is_none());
    let status = rcs.json(&cli, "rcs state get-status --mode skill-active");
    assert_eq!(status["statuses"]["skill-active"]["active"], true);
    assert_eq!(
        rcs.json(&cli, "rcs state clear --mode forge --json"),
        json!({"cleared": true, "mode": "forge", "path": "teams/demo/modes/forge-state.json"})
    );
    let all = rcs.json(
        &cli,
        r#"rcs state clear --input '{"mode":"forge","all_sessions":true}'"#,
    );
    has!(all, {"all_sessions": true, "removed": 0});
    // The output is compact under `--json` and indented for people.
    let compact = rcs.run(&cli, "rcs state list-active --json", &[]).stdout;
    assert_eq!(compact, "{\"active_modes\":[]}\n");
    let indented = rcs.run(&cli, "rcs state list-active", &[]).stdout;
    assert_eq!(indented, "{\n  \"active_modes\": []\n}\n");
}

#[test]
fn what_is_wrong_with_a_call_of_the_link_is_exit_1_on_standard_error() {
    let cli = Cli::with_team();
    let rcs = Link::new(&cli);
    for (line, said) in [
        ("rcs state reed", "'reed'"),
        ("rcs state read --modes forge", "'--modes'"),
        ("rcs state read", "mode"),
        ("rcs state read --mode ../x", "must not contain"),
        (
            "rcs state read --mode nothing",
            "Unsupported workflow mode: nothing",
        ),
        (
            "rcs state read --input '[1]'",
            "input must be a JSON object",
        ),
        (
            "rcs state read --input '{\"mode\":\"forge\",\"x\":1}'",
            "`x`",
        ),
        (
            "rcs state read --mode forge --input '{\"mode\":\"team\"}'",
            "mode is given twice",
        ),
        (
            "rcs state read --mode forge --session a/b",
            "session_id must match",
        ),
        (
            "rcs state write --input '{\"mode\":\"forge\",\"session_id\":5}'",
            "session_id must be a string, but is 5",
        ),
        (
            "rcs state read --root --input '{\"mode\":\"forge\",\"session_id\":\"s\"}'",
            "--root",
        ),
        ("rcs state read --mode forge --team 7x/", "team"),
        (
            "rcs state read --input '{\"mode\":\"forge\",\"team\":7}'",
            "team must be a string",
        ),
        (
            "rcs state write --input '{\"mode\":\"forge\",\"current_phase\":\"x\"}'",
            "forge.current_phase must be one of",
        ),
    ] {
        let ran = rcs.run(&cli, line, &[]);
        assert_eq!((ran.code, &*ran.stdout), (Some(1), ""), "{line}: {ran:?}");
        assert!(ran.stderr.contains(said), "{line}: {ran:?}");
    }
}

#[test]
fn what_is_refused_comes_as_the_payload_that_callers_of_the_link_know() {
    let cli = Cli::with_team();
    let rcs = Link::new(&cli);
    cli.ok("mode start demo forge");
    let (mut client, _) = Client::initialized(&cli, "mcp");
    for (line, tool, arguments, code) in cases![
        ("rcs state read --mode nothing", "state_read", {"mode": "nothing"}, "unsupported_mode"),
        ("rcs state write --input '{\"mode\":\"blueprint\",\"active\":true}'", "state_write",
            {"mode": "blueprint", "active": true}, "mode_denied"),
        ("rcs state clear --mode forge --session a.b", "state_clear",
            {"mode": "forge", "session_id": "a.b"}, "invalid_input"),
    ] {
        let compact = rcs.run(&cli, &format!("{line} --json"), &[]);
        assert_eq!((compact.code, &*compact.stdout), (Some(1), ""));
        assert_eq!(compact.stderr.lines().count(), 1, "{compact:?}");
        let payload: Value = serde_json::from_str(&compact.stderr).unwrap();
        assert_eq!(payload["code"], code, "{line}");
        let (text, failed) = client.call(tool, arguments);
        assert!(failed);
        let told: Value = serde_json::from_str(&text).unwrap();
        for field in ["error", "code", "details"] {
            assert_eq!(payload[field], told[field], "{line}");
        }
        assert!(payload["error"].is_string());
        let indented = rcs.run(&cli, line, &[]);
        assert!(indented.stderr.starts_with("{\n"), "{indented:?}");
        let again: Value = serde_json::from_str(&indented.stderr).unwrap();
        assert_eq!(again, payload);
    }
    client.end();
    // An unknown option, and a team that does not exist.
    for line in [
        "rcs state read --modes forge",
        "rcs state read --mode forge --team no",
    ] {
        let ran = rcs.run(&cli, line, &[]);
        let payload: Value = serde_json::from_str(&ran.stderr).unwrap();
        assert!(
            payload["error"].is_string() && ran.code == Some(1),
            "{ran:?}"
        );
    }
}

/// Returns the texts between backticks in a message.
fn quoted(message: &str) -> Vec<&str> {
    message.split('`').skip(1).step_by(2).collect()
}

/// Starts that an active mode blocks: the commands before, the mode to start, and its session.
const BLOCKED: [(&[&str], &str, Option<&str>); 7] = [
    (&["mode start demo autopilot"], "team", None),
    (
        &["mode start demo forge --session s-1"],
        "blueprint",
        Some("s-1"),
    ),
    (&["mode start demo forge"], "blueprint", Some("s-1")),
    (
        &[
            "mode start demo team --session s-1",
            "mode start demo forge --session s-1",
        ],
        "autopilot",
        Some("s-1"),
    ),
    // The mode is active at the root and in a session. The session's mode started while no mode was active at the root.
    (
        &[
            "mode start demo team --session s-1",
            "mode start demo team --root",
        ],
        "ultraqa",
        Some("s-1"),
    ),
    (
        &["mode start demo autopilot --session s-1"],
        "ultraqa",
        None,
    ),
    // Modes in several sessions. One session has a name that looks like an option.
    (
        &[
            "mode start demo ultraqa --session s-1",
            "mode start demo autopilot --session=-a",
        ],
        "forge",
        None,
    ),
];

fn denied(cli: &Cli, before: &[&str], mode: &str, session: Option<&str>) -> (String, String) {
    for line in before {
        cli.ok(line);
    }
    let session = session.map_or_else(String::new, |session| format!(" --session {session}"));
    let start = format!("mode start demo {mode}{session}");
    let before = cli.ok("export demo");
    let refusal = cli.refused_json(1, &start);
    assert_eq!(refusal.code, "mode_denied");
    assert_eq!(refusal.details["kind"], "deny");
    // A start at the root can also be blocked by a mode in a session.
    let place = match refusal.details.get("session_id") {
        Some(session) => format!(" --session {}", session.as_str().unwrap()),
        None => String::new(),
    };
    let hint = refusal.hint.unwrap();
    shows!(hint => starts "typed here: `teamlog state clear --mode ");
    assert!(place.contains(&session), "{place}");
    assert_eq!(refusal.details["requested"], mode);
    assert_eq!(cli.ok("export demo"), before, "a denial records nothing");
    (start, refusal.message)
}

#[test]
fn the_commands_that_a_denial_prints_run_and_clear_the_way() {
    for (before, mode, session) in BLOCKED {
        let cli = Cli::with_team();
        let rcs = Link::new(&cli);
        let (start, message) = denied(&cli, before, mode, session);
        let commands: Vec<&str> = quoted(&message)
            .into_iter()
            .filter(|text| text.starts_with("rcs state clear"))
            .collect();
        assert!(!commands.is_empty(), "{message}");
        for command in commands {
            // The command works even if the environment of its reader names another session.
            let ran = rcs.run(&cli, command, &[("RCS_SESSION_ID", "s-1")]);
            assert_eq!(
                (ran.code, &*ran.stderr),
                (Some(0), ""),
                "{command}: {ran:?}"
            );
        }
        cli.ok(&start);
    }
}

#[test]
fn the_tool_calls_that_a_denial_prints_run_and_clear_the_way() {
    for (before, mode, session) in BLOCKED {
        let cli = Cli::with_team();
        let (start, message) = denied(&cli, before, mode, session);
        // The calls work even if the session of the server is another session.
        let vars = [("RCS_SESSION_ID", "s-1")];
        let (mut client, _) = Client::initialized_with(&cli, "mcp", &vars);
        let mut called = 0;
        for text in quoted(&message) {
            let Some(call) = text.strip_prefix("mcp__teamlog__") else {
                continue;
            };
            let (tool, arguments) = call.split_once(' ').unwrap();
            let cleared = client.json(tool, serde_json::from_str(arguments).unwrap());
            assert_eq!(cleared["cleared"], true, "{text}");
            called += 1;
        }
        assert!(called > 0, "{message}");
        client.end();
        cli.ok(&start);
    }
}
