//! Sessions of the Model Context Protocol over the standard streams of a process.

mod client;

use crate::prelude::*;
pub use client::Client;
use std::io::{BufRead, Write};
use std::process::{ChildStdin, ChildStdout};

fn world() -> Cli {
    let cli = Cli::with_team();
    cli.ok("task-assign demo --from lead --to dev --task-id T-1 --subject First --trace-id tr-1");
    cli
}

#[test]
fn a_client_initializes_lists_and_calls() {
    let cli = world();
    let (mut client, about) = Client::initialized(&cli, "mcp");
    has!(about, {"/serverInfo/name": "teamlog", "protocolVersion": "2025-06-18"});
    let listed = client.ask("tools/list", json!({}));
    let tools = listed["tools"].as_array().unwrap();
    assert_eq!(tools.len(), 13, "{tools:?}");
    for tool in tools {
        let name = tool["name"].as_str().unwrap();
        assert!(!name.starts_with("team_"));
        let reads = !["state_write", "state_clear"].contains(&name);
        assert_eq!(tool["annotations"]["readOnlyHint"], reads, "{tool}");
        assert_eq!(tool["inputSchema"]["type"], "object", "{tool}");
        assert!(
            tool["inputSchema"]["properties"]["team"].is_object(),
            "{tool}"
        );
    }
    let before = std::fs::read(cli.dir().join("teams/demo/head")).unwrap();
    assert_eq!(client.json("ready", json!({"team": "demo"}))["total"], 1);
    assert_eq!(
        client.json("prime", json!({"team": "demo", "agent": "dev"}))["unread"]["total"],
        1
    );
    assert_eq!(
        client.json(
            "inbox",
            json!({"team": "demo", "agent": "dev", "unread": true})
        )["count"],
        1
    );
    let task = client.json("task", json!({"team": "demo", "task_id": "T-1"}));
    assert_eq!(task["task"]["owner"], "dev");
    assert_eq!(
        client.json("trace", json!({"team": "demo", "trace_id": "tr-1"}))["count"],
        1
    );
    assert_eq!(
        client.json("status", json!({"team": "demo"}))["task_count"],
        1
    );
    let events = client.json("events", json!({"team": "demo", "since": 1}));
    has!(events, {"count": 1, "last_seq": 2});
    assert_eq!(
        std::fs::read(cli.dir().join("teams/demo/head")).unwrap(),
        before
    );
    // The server sees events that another process records.
    cli.ok("send demo --from lead --to dev --type handoff");
    assert_eq!(
        client.json("events", json!({"team": "demo", "since": 2}))["count"],
        1
    );
    client.end();
}

#[test]
fn resources_are_the_same_queries() {
    let cli = world();
    let (mut client, _) = Client::initialized(&cli, "mcp");
    let listed = client.ask("resources/list", json!({}));
    let uris: Vec<&str> = listed["resources"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["uri"].as_str().unwrap())
        .collect();
    assert_eq!(
        uris,
        [
            "teamlog://demo/ready",
            "teamlog://demo/status",
            "teamlog://demo/events"
        ]
    );
    let templates = client.ask("resources/templates/list", json!({}));
    assert_eq!(templates["resourceTemplates"].as_array().unwrap().len(), 8);
    for uri in uris
        .into_iter()
        .chain(["teamlog://demo/task/T-1", "teamlog://demo/trace/tr%2D1"])
    {
        let read = client.ask("resources/read", json!({"uri": uri}));
        let text = read["contents"][0]["text"].as_str().unwrap();
        assert_eq!(
            serde_json::from_str::<Value>(text).unwrap()["team"],
            "demo",
            "{uri}"
        );
    }
    for uri in [
        "teamlog://demo/task",
        "teamlog://demo/nothing",
        "file:///etc/passwd",
        "teamlog://../status",
        "teamlog://demo/task/..%2F..%2Fx",
    ] {
        let answer = client.answer("resources/read", json!({"uri": uri}));
        assert!(answer["error"]["message"].is_string(), "{uri}: {answer}");
    }
    client.end();
}

#[test]
fn tools_that_changed_a_team_say_what_to_type() {
    let cli = world();
    let (mut client, _) = Client::initialized(&cli, "mcp");
    let fault = client.fault(
        "team_claim_task",
        json!({"team_name": "demo", "task_id": "1"}),
    );
    assert_eq!(fault["code"], "deprecated_cli_only");
    assert_eq!(
        fault["hint"],
        r#"Use CLI interop: rcs team api claim-task --input '{"task_id":"1","team_name":"demo"}' --json"#
    );
    let fault = client.fault("team_orphan_cleanup", json!({}));
    shows!(fault["hint"].as_str().unwrap() => has "orphan-cleanup --input '{}'");
    // A tool of this name never existed.
    assert_eq!(
        client.call("team_read_events", json!({})),
        ("Unknown tool: team_read_events".to_owned(), true)
    );
    client.end();
}

#[test]
fn what_cannot_be_answered_is_named() {
    let cli = world();
    let (mut client, _) = Client::initialized(&cli, "mcp");
    assert_eq!(client.json("ready", json!({}))["total"], 1);
    cli.ok("init other");
    let fault = client.fault("ready", json!({}));
    has!(fault, {"code": "invalid_input", "hint": "known teams: demo, other"});
    assert_eq!(
        client.fault("ready", json!({"team": "none"}))["code"],
        "team_not_found"
    );
    assert_eq!(
        client.fault("task", json!({"team": "demo", "task_id": "none"}))["code"],
        "task_not_found"
    );
    for arguments in [
        json!({"team": [7]}),
        json!({"team": "demo", "agnet": "dev"}),
        json!({"team": "../../etc"}),
        json!({"team": "demo", "limit": -1}),
        json!({"team": "demo", "agent": "\u{0}"}),
    ] {
        assert_eq!(
            client.fault("ready", arguments.clone())["code"],
            "invalid_input",
            "{arguments}"
        );
    }
    let (mut own, _) = Client::initialized(&cli, "mcp --team demo");
    assert_eq!(own.json("ready", json!({}))["total"], 1);
    own.end();
    client.end();
    assert!(cli.refused(1, "mcp --team none").contains("none"));
}

#[test]
fn states_of_modes_are_read_and_written_by_tools() {
    let cli = world();
    let (mut client, _) = Client::initialized(&cli, "mcp");
    let wrote = client.json(
        "state_write",
        json!({"mode": "forge", "active": true, "workingDirectory": "/x", "session_id": "s-1", "state": {"owner": "dev"}}),
    );
    assert_eq!(
        wrote,
        json!({"success": true, "mode": "forge", "path": "teams/demo/modes/sessions/s-1/forge-state.json"})
    );
    let read = client.json(
        "state_read",
        json!({"mode": "forge", "session_id": "s-1", "workingDirectory": "/x"}),
    );
    assert!(read.get("workingDirectory").is_none(), "{read}");
    has!(read, {"active": true, "owner": "dev"});
    assert_eq!(
        client.json("state_read", json!({"mode": "forge", "team": "demo"})),
        json!({"exists": false, "mode": "forge"}),
        "without a session it is the root"
    );
    assert_eq!(
        client.json("state_list_active", json!({"session_id": "s-1"})),
        json!({"active_modes": ["forge"]})
    );
    let status = client.json(
        "state_get_status",
        json!({"mode": "forge", "session_id": "s-1"}),
    );
    assert_eq!(status["statuses"]["forge"]["active"], true);
    let fault = client.fault(
        "state_write",
        json!({"mode": "blueprint", "active": true, "session_id": "s-1"}),
    );
    has!(fault, {"code": "mode_denied", "/details/denial": "rollback"});
    let said = fault["error"].as_str().unwrap();
    shows!(said => starts "Cannot write blueprint: forge is already active.");
    for (tool, arguments) in cases![
        ("state_read", {}),
        ("state_read", {"mode": "../x"}),
        ("state_read", {"mode": "forge", "session_id": "a.b"}),
        ("state_clear", {"mode": "nothing"}),
        ("state_clear", {"mode": "forge", "session_id": [7]}),
        ("state_write", {"mode": "forge", "current_phase": "x"}),
        ("state_get_status", {"more": 1}),
    ] {
        let fault = client.fault(tool, arguments.clone());
        assert!(
            fault["error"].is_string() && fault["code"].is_string(),
            "{tool} {arguments}: {fault}"
        );
    }
    let cleared = client.json(
        "state_clear",
        json!({"mode": "forge", "all_sessions": true}),
    );
    has!(cleared, {"removed": 1, "mode": "forge"});
    // Another process sees the state that the server wrote.
    shows!(cli.ok("mode list demo --session s-1 --active") => is "no modes\n");
    client.end();
}

#[test]
fn tools_of_states_act_in_the_session_of_the_server() {
    let all = [
        ("RCS_SESSION_ID", "r"),
        ("CODEX_SESSION_ID", "c"),
        ("SESSION_ID", "s"),
    ];
    for (line, vars, session) in [
        ("mcp --team demo", &all[..], "r"),
        ("mcp --team demo", &all[1..], "c"),
        ("mcp --team demo", &all[2..], "s"),
        ("mcp --team demo --session mine", &all[..], "mine"),
        ("mcp --team demo --root", &all[..], ""),
    ] {
        let cli = world();
        let at = match session {
            "" => "--root".to_owned(),
            session => format!("--session {session}"),
        };
        let (mut client, _) = Client::initialized_with(&cli, line, vars);
        let wrote = client.json("state_write", json!({"mode": "forge", "active": true}));
        let path = match session {
            "" => "teams/demo/modes/forge-state.json".to_owned(),
            session => format!("teams/demo/modes/sessions/{session}/forge-state.json"),
        };
        assert_eq!(wrote["path"], path);
        let show = format!("mode show demo forge {at}");
        assert_eq!(cli.json::<Value>(&show)["mode"]["active"], true);
        assert_eq!(
            client.json("state_read", json!({"mode": "forge"}))["active"],
            true
        );
        let active = json!({"active_modes": ["forge"]});
        assert_eq!(client.json("state_list_active", json!({})), active);
        let statuses = client.json("state_get_status", json!({}));
        assert_eq!(statuses["statuses"]["forge"]["active"], true);
        // `session_id` takes precedence over the environment.
        client.json(
            "state_write",
            json!({"mode": "ultrawork", "active": true, "session_id": "other"}),
        );
        assert_eq!(
            cli.json::<Value>("mode show demo ultrawork --session other")["mode"]["active"],
            true
        );
        // Reporting an outcome ends the mode.
        client.json(
            "state_write",
            json!({"mode": "forge", "lifecycle_outcome": "finished"}),
        );
        assert_eq!(cli.json::<Value>(&show)["mode"]["active"], false);
        let cleared = client.json("state_clear", json!({"mode": "forge"}));
        assert_eq!(cleared["path"], path);
        assert_eq!(
            client.json("state_read", json!({"mode": "forge"}))["exists"],
            false
        );
        client.json(
            "state_write",
            json!({"mode": "forge", "active": true, "session_id": null}),
        );
        assert_eq!(
            cli.json::<Value>("mode show demo forge --root")["mode"]["active"],
            true,
            "null is the root"
        );
        let cleared = client.json(
            "state_clear",
            json!({"mode": "forge", "all_sessions": true}),
        );
        assert_eq!(cleared["removed"], 1);
        client.end();
    }
}

#[test]
fn what_cannot_be_a_session_is_told_where_one_is_meant() {
    let cli = world();
    let vars = [("SESSION_ID", "a.b")];
    let (mut client, _) = Client::initialized_with(&cli, "mcp", &vars);
    assert_eq!(client.json("ready", json!({}))["total"], 1);
    let fault = client.fault("state_read", json!({"mode": "forge"}));
    let refused = Ran::of(cli.command("mode show demo forge --json").envs(vars));
    let refused: Value = serde_json::from_str(&refused.stderr).unwrap();
    for (told, typed) in [("error", "message"), ("code", "code"), ("hint", "hint")] {
        assert_eq!(fault[told], refused["error"][typed]);
    }
    let read = client.json("state_read", json!({"mode": "forge", "session_id": null}));
    assert_eq!(read["exists"], false);
    client.end();
    let error = cli.refused_json(1, "mcp --session a.b");
    assert_eq!(error.field.as_deref(), Some("session_id"));
}

#[test]
fn the_call_that_a_hook_advises_goes_on_with_what_it_started() {
    for (prompt, mode, path) in [
        ("$forge it", "forge", "sessions/s-1/forge-state.json"),
        ("$team it", "team", "team-state.json"),
    ] {
        let cli = world();
        let hook = json!({"prompt": prompt, "session_id": "s-1"}).to_string();
        let told = cli.run_with_input("mode prompt demo --hook", &hook).stdout;
        let told: Value = serde_json::from_str(&told).unwrap();
        let told = told["hookSpecificOutput"]["additionalContext"].as_str();
        let told = told.unwrap();
        assert!(told.contains("write subsequent updates with the MCP server teamlog."));
        let (_, call) = told.split_once("`mcp__teamlog__").unwrap();
        let (tool, rest) = call.split_once(' ').unwrap();
        let (arguments, _) = rest.split_once('`').unwrap();
        let mut arguments: Value = serde_json::from_str(arguments).unwrap();
        arguments["current_phase"] = "complete".into();
        // The written path does not depend on the server's session.
        for vars in [&[][..], &[("RCS_SESSION_ID", "s-2")]] {
            let (mut client, _) = Client::initialized_with(&cli, "mcp", vars);
            let wrote = client.json(tool, arguments.clone());
            assert_eq!(wrote["path"], format!("teams/demo/modes/{path}"));
            client.end();
        }
        let shown: Value = cli.json(&format!("mode show demo {mode} --session s-1"));
        assert_eq!(shown["mode"]["active"], false, "{shown}");
        assert_eq!(shown["hidden"], Value::Null);
    }
}

#[test]
fn a_client_without_a_session_is_served_too() {
    let cli = world();
    let mut client = Client::start(&cli, "mcp --team demo");
    client.meta = Some(json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }));
    let listed = client.ask("tools/list", json!({}));
    assert!(listed["tools"].as_array().unwrap().len() > 5);
    assert_eq!(client.json("status", json!({}))["team"], "demo");
    client.end();
}

#[test]
fn noise_ends_in_no_panic() {
    let cli = world();
    for noise in [
        "",
        "\n",
        "not json\n",
        "{}\n",
        "[1,2]\n",
        "{\"jsonrpc\":\"2.0\",\"id\":1}\n",
    ] {
        let mut client = Client::start(&cli, "mcp");
        let _ = client.to.as_mut().unwrap().write_all(noise.as_bytes());
        drop(client.to.take());
        let code = client.child.wait().unwrap().code();
        assert!(matches!(code, Some(0 | 74)), "{noise:?}: {code:?}");
    }
}

#[test]
fn arguments_are_read_as_models_write_them() {
    let cli = world();
    let (mut client, _) = Client::initialized(&cli, "mcp");
    for (tool, arguments) in cases![
        ("ready", {"limit": "5", "team_name": "demo"}),
        ("ready", {"limit": 5.0, "agent": "", "cursor": null}),
        ("inbox", {"agent": "dev", "unread": "true"}),
        ("events", {"since": "0", "limit": "2"}),
    ] {
        assert_eq!(client.json(tool, arguments)["team"], "demo");
    }
    assert_eq!(client.json("ready", json!("{\"limit\": 1}"))["count"], 1);
    assert_eq!(client.json("ready", Value::Null)["total"], 1);
    client.json(
        "state_write",
        json!({"mode": "forge", "state": "{\"active\": true}", "session_id": ""}),
    );
    assert_eq!(
        client.json("state_read", json!({"mode": "forge"}))["active"],
        true
    );
    for (tool, arguments, field, said) in cases![
        ("ready" => "limit", {"limit": "many"}, "limit must be an integer from 1 to 1000"),
        ("inbox" => "unread", {"agent": "dev", "unread": "maybe"}, "unread must be a boolean"),
        ("inbox" => "agent", {}, "agent is required"),
        ("ready" => "agnet", {"agnet": "dev"}, "did you mean agent?"),
    ]
    .map(|(tool, field, arguments, said)| (tool, arguments, field, said))
    {
        let fault = client.fault(tool, arguments);
        has!(fault, {"code": "invalid_input", "field": field});
        shows!(fault["error"].as_str().unwrap() => has said);
    }
    // An argument that is not similar to a field is ignored, and a note names it.
    let result = client.ask(
        "tools/call",
        json!({"name": "ready", "arguments": {"verbosity_level": 3}}),
    );
    assert_ne!(result["isError"], true, "{result}");
    assert_eq!(
        result["content"][1]["text"],
        "note: ignored verbosity_level, which ready does not have"
    );
    client.end();
}

#[test]
fn every_request_with_an_id_is_answered() {
    let cli = world();
    let mut client = Client::start(&cli, "mcp");
    // Requests are answered before `initialize`, and after lines that are not requests.
    let early = client.raw(br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"a":NaN}}"#);
    has!(early, {"id": 1, "/error/code": -32700, "/error/data/offset": 60});
    client.say(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    let (mut client, _) = client.introduced();
    for (line, id, code) in [
        (&br#"{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"\ud800"}}"#[..], json!("a"), -32700),
        (b"{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"\xff\"}}", json!(2), -32700),
        (b"{\"params\":{\"name\":\"a\x07\"},\"id\":3}", json!(3), -32700),
        (br#"{"jsonrpc":"2.0","id":4,"method":"tools/call"}"#, json!(4), -32602),
        (br#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"ready","arguments":[1]}}"#, json!(5), -32602),
        (br#"{"jsonrpc":"2.0","id":6,"method":"resources/read","params":{"uri":7}}"#, json!(6), -32602),
        (br#"{"jsonrpc":"2.0","id":7.5,"method":"tools/list"}"#, json!(7.5), -32600),
        (br#"{"jsonrpc":"2.0","id":8,"method":"no/such"}"#, json!(8), -32601),
        (br#"{"jsonrpc":"2.0","id":9}"#, json!(9), -32600),
        (b"noise", Value::Null, -32700),
    ] {
        let answer = client.raw(line);
        let line = String::from_utf8_lossy(line);
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&id, &json!(code)), "{line}: {answer}");
        assert!(answer["error"]["message"].is_string(), "{answer}");
    }
    let batch = br#"[{"id":10,"method":"tools/list"},{"id":11,"method":"ping"}]"#;
    let mut ids = vec![client.raw(batch)["id"].clone()];
    let mut line = String::new();
    client.from.read_line(&mut line).unwrap();
    ids.push(serde_json::from_str::<Value>(&line).unwrap()["id"].clone());
    ids.sort_by_key(Value::to_string);
    assert_eq!(ids, [json!(10), json!(11)]);
    assert_eq!(client.json("ready", json!({}))["total"], 1);
    // The last line is read even without a line end.
    let mut to = client.to.take().unwrap();
    to.write_all(br#"{"jsonrpc":"2.0","id":12,"method":"ping"}"#)
        .unwrap();
    drop(to);
    line.clear();
    client.from.read_line(&mut line).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&line).unwrap()["id"], 12);
    client.end();
}

#[test]
fn help_begins_with_what_the_command_does() {
    let cli = world();
    shows!(cli.ok("mcp --help") => starts "Run a Model Context Protocol server");
}
