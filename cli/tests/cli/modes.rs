//! Modes as processes: input, output, and the scope and team of each command. Also runs the commands that a denial names.

mod link;

use crate::mcp::Client;
use crate::prelude::*;

/// The path of a link to teamlog.
struct Link(PathBuf);

impl Link {
    fn new(cli: &Cli) -> Link {
        let path = cli.outside().join("rcs");
        let _ = std::fs::remove_file(&path);
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_teamlog"), &path).unwrap();
        Link(path)
    }

    /// Runs a printed command line in a shell whose `PATH` has the link.
    fn run(&self, cli: &Cli, line: &str, set: &[(&str, &str)]) -> Ran {
        let path = format!("{}:/usr/bin:/bin", self.0.parent().unwrap().display());
        let mut command = std::process::Command::new("sh");
        command
            .args(["-e", "-c", line])
            .current_dir(cli.dir())
            .env_clear()
            .env("PATH", path)
            .env("HOME", cli.dir())
            .envs(set.iter().copied());
        Ran::of(&mut command)
    }

    #[track_caller]
    fn json(&self, cli: &Cli, line: &str) -> Value {
        let ran = self.run(cli, line, &[]);
        assert_eq!((ran.code, &*ran.stderr), (Some(0), ""), "{line}: {ran:?}");
        serde_json::from_str(&ran.stdout).unwrap()
    }
}

fn active(cli: &Cli, more: &str) -> Value {
    let list: Value = cli.json(&format!("mode list demo {more}"));
    list["active_modes"].clone()
}

#[test]
fn a_mode_starts_gets_on_hands_over_and_ends() {
    let cli = Cli::with_team();
    let started: Value =
        cli.json("mode start demo blueprint --task 'plan it' --set owner=dev --set depth=2");
    has!(started, {"kind": "allow", "/state/task_description": "plan it", "/state/owner": "dev",
        "/state/depth": 2});
    let again: Value = cli.json("mode start demo blueprint");
    assert_eq!(again["changed"], false);
    let handed: Value = cli.json("mode start demo forge --max-iterations 3");
    has!(handed, {"kind": "auto-complete", "message": "mode transiting: blueprint -> forge",
        "/state/max_iterations": 3});
    let shown: Value = cli.json("mode show demo blueprint");
    assert_eq!(shown["mode"]["current_phase"], "completed");
    let updated: Value = cli.json(
        "mode update demo forge --phase execute --iteration 2 --set branch=fix --unset task_description",
    );
    has!(updated, {"current_phase": "executing", "/state/branch": "fix"});
    let ended: Value = cli.json("mode complete demo forge --note 'all green'");
    has!(ended, {"active": false, "/state/completion_note": "all green"});
    assert_eq!(active(&cli, ""), json!([]));
    let gone = cli.refused_json(1, "mode update demo forge --phase executing");
    assert_eq!(gone.code, "mode_not_active");
    assert!(gone.hint.unwrap().contains("mode start demo forge"));
    let unknown = cli.refused_json(1, "mode start demo crew");
    assert_eq!(unknown.code, "unsupported_mode");
    assert_eq!(unknown.message, "Unsupported workflow mode: crew");
    let missing = cli.refused_json(1, "mode show demo ultraqa");
    assert_eq!(missing.code, "mode_not_found");
    assert_eq!(missing.hint.as_deref(), Some("teamlog mode list demo"));
    cli.ok("mode start demo team");
    cli.ok("mode fail demo team --error broken");
    cli.ok("mode start demo ultraqa");
    cli.ok("mode cancel demo ultraqa --reason enough");
    let states: Value = cli.json("mode list demo");
    let phases: Vec<(&str, &str)> = states["modes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| {
            (
                one["mode"].as_str().unwrap(),
                one["current_phase"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        phases,
        [
            ("team", "failed"),
            ("forge", "complete"),
            ("ultraqa", "cancelled"),
            ("blueprint", "completed")
        ]
    );
}

#[test]
fn people_read_what_became_of_a_mode() {
    let cli = Cli::with_team();
    shows!(cli.ok("mode start demo blueprint") => is "blueprint  active  starting\n");
    shows!(cli.ok("mode start demo forge --session s-1") =>
        is "forge  active  starting  in session s-1\n  mode transiting: blueprint -> forge\n");
    shows!(cli.ok("mode start demo forge --session s-1") =>
        is "forge  active  starting  in session s-1\n  unchanged\n");
    let list = cli.ok("mode list demo");
    assert_eq!(list, cli.ok("mode list demo --all-sessions"));
    assert!(!cli.ok("mode list demo --root").contains("s-1"));
    assert!(list.contains("blueprint  ended   completed"), "{list}");
    assert!(list.contains("in session s-1"), "{list}");
    let card = cli.ok("mode show demo forge --session s-1");
    assert!(card.starts_with("forge  in session s-1\n"), "{card}");
    assert!(card.contains("teams/demo/modes/sessions/s-1/forge-state.json"));
    shows!(cli.ok("mode clear demo forge --session s-1") =>
        is "forge  cleared, 1 state\n  active now: none\n");
    shows!(cli.ok("mode clear demo forge --session s-1") =>
        is "forge  was not set\n  active now: none\n");
    assert_eq!(cli.ok("mode list demo --active"), "no modes\n");
}

#[test]
fn the_session_is_named_or_that_of_the_environment_or_none() {
    let cli = Cli::with_team();
    let with = |line: &str, set: &[(&str, &str)]| {
        let ran = Ran::of(cli.command(line).envs(set.iter().copied()));
        assert_eq!(ran.code, Some(0), "{line}: {ran:?}");
        serde_json::from_str::<Value>(&ran.stdout).unwrap()["session_id"].clone()
    };
    let start = "mode start demo ultrawork --json";
    let all = [
        ("RCS_SESSION_ID", "r"),
        ("CODEX_SESSION_ID", "c"),
        ("SESSION_ID", "s"),
    ];
    assert_eq!(with(start, &all), "r");
    assert_eq!(with(start, &[("RCS_SESSION_ID", " "), all[1], all[2]]), "c");
    assert_eq!(with(start, &all[2..]), "s");
    assert_eq!(with(&format!("{start} --session x"), &all), "x");
    assert_eq!(with(&format!("{start} --root"), &all), Value::Null);
    let bad = [("CODEX_SESSION_ID", "a.b")];
    let ran = Ran::of(cli.command(start).envs(bad));
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let said: Value = serde_json::from_str(&ran.stderr).unwrap();
    assert_eq!(said["error"]["field"], "session_id");
    shows!(said["error"]["message"].as_str().unwrap() => starts "CODEX_SESSION_ID must match");
    assert_eq!(
        cli.refused_json(1, "mode start demo forge --session a.b")
            .field
            .as_deref(),
        Some("session_id")
    );
    cli.refused(2, "mode start demo forge --session a --root");
    assert_eq!(
        active(&cli, "--all-sessions"),
        json!(["ultrawork"]),
        "the root's"
    );
}

#[test]
fn a_mode_keeps_where_it_became_active() {
    let here = [
        ("TMUX_PANE", "%7"),
        ("RCS_SESSION_ID", "s-1"),
        ("CODEX_SESSION_ID", "c-1"),
    ];
    type Way = (&'static str, &'static str);
    let ways: [Way; 4] = cases![
        ("mode start demo forge --key k-1" => "--session s-1"),
        ("mode write demo forge --root --input '{\"active\":true}'" => "--root"),
        ("mode prompt demo --text '$forge it' --thread-id th-1" => "--session s-1"),
        ("state write --mode forge --input '{\"active\":true}'" => "--session s-1"),
    ];
    for (line, at) in ways {
        let cli = Cli::with_team();
        let ran = Ran::of(cli.command(line).envs(here));
        assert_eq!(ran.code, Some(0), "{line}: {ran:?}");
        let state = |at: &str| {
            let shown: Value = cli.json(&format!("mode show demo forge {at}"));
            shown["mode"]["state"].clone()
        };
        let kept = state(at);
        for (field, value) in [
            ("tmux_pane_id", "%7"),
            ("owner_rcs_session_id", "s-1"),
            ("owner_codex_session_id", "c-1"),
        ] {
            assert_eq!(kept[field], value, "{line}");
        }
        assert!(kept["tmux_pane_set_at"].as_str().unwrap().ends_with('Z'));
        let thread = line.contains("th-1").then_some("th-1");
        assert_eq!(kept["owner_codex_thread_id"].as_str(), thread);
        if line.contains("k-1") {
            // A request that is repeated from another pane has an equal key and counts as a repeat.
            let mut again = cli.command(line);
            let again = Ran::of(again.envs(here).env("TMUX_PANE", "%8"));
            assert_eq!(again.code, Some(0), "{again:?}");
            assert_eq!(state(at), kept);
        }
        // A tool call through a server in another pane ends the mode and starts it again. The state then has the pane of that
        // server.
        let elsewhere = [("TMUX_PANE", "%9"), ("RCS_SESSION_ID", "s-2")];
        let (mut client, _) = Client::initialized_with(&cli, "mcp", &elsewhere);
        let session = match at {
            "--root" => Value::Null,
            _ => json!("s-1"),
        };
        let call = |fields: Value| {
            let mut call = fields;
            call["mode"] = "forge".into();
            call["session_id"] = session.clone();
            call
        };
        client.json(
            "state_write",
            call(json!({"lifecycle_outcome": "finished"})),
        );
        assert_eq!(state(at)["tmux_pane_id"], "%7");
        client.json(
            "state_write",
            call(json!({"active": true, "owner_codex_session_id": "mine"})),
        );
        let kept = state(at);
        has!(kept, {"tmux_pane_id": "%9", "owner_codex_session_id": "mine"});
        let owner = if at == "--root" { "s-2" } else { "s-1" };
        assert_eq!(kept["owner_rcs_session_id"], owner);
        client.end();
    }
    // Other modes have a pane but no owner. Without tmux there is no pane.
    let cli = Cli::with_team();
    let ran = Ran::of(cli.command("mode start demo ultraqa").envs(here));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let shown: Value = cli.json("mode show demo ultraqa --session s-1");
    let state = &shown["mode"]["state"];
    has!(state, {"tmux_pane_id": "%7", "owner_rcs_session_id": null});
    cli.ok("mode start demo ultrawork --root");
    let shown: Value = cli.json("mode show demo ultrawork --root");
    assert_eq!(shown["mode"]["state"]["tmux_pane_id"], Value::Null);
    // `run-state.json` names the owner.
    cli.ok("mode clear demo ultraqa --session s-1");
    let ran = Ran::of(cli.command("mode start demo forge").envs(here));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let file = cli
        .dir()
        .join("teams/demo/modes/sessions/s-1/run-state.json");
    let run: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    assert_eq!(run["owner_rcs_session_id"], "s-1");
}

#[test]
fn the_team_is_named_or_that_of_the_environment_or_the_only_one() {
    let cli = Cli::new();
    let rcs = Link::new(&cli);
    let list = "rcs state list-active --json";
    let none = rcs.run(&cli, list, &[]);
    assert_eq!(none.code, Some(1), "{none:?}");
    cli.ok("init alpha");
    assert_eq!(rcs.run(&cli, list, &[]).code, Some(0));
    cli.ok("init beta");
    cli.ok("mode start beta forge");
    let several = rcs.run(&cli, list, &[]);
    assert_eq!(several.code, Some(1), "{several:?}");
    shows!(several.stderr => has "known teams: alpha, beta");
    let set = [("TEAMLOG_TEAM", "beta")];
    shows!(rcs.run(&cli, list, &set).stdout => is "{\"active_modes\":[\"forge\"]}\n");
    let named = format!("{list} --team alpha");
    shows!(rcs.run(&cli, &named, &set).stdout => is "{\"active_modes\":[]}\n");
    let given = r#"rcs state list-active --json --input '{"team":"beta"}'"#;
    shows!(rcs.run(&cli, given, &[]).stdout => is "{\"active_modes\":[\"forge\"]}\n");
}

#[test]
fn a_session_that_ends_holds_up_nobody_whoever_asks() {
    let cli = Cli::with_team();
    cli.ok("mode start demo autopilot --session s-1");
    let listed: Value = cli.json("mode sessions demo");
    has!(listed, {"/sessions/0/session_id": "s-1", "/sessions/0/live": true,
        "/sessions/0/active_modes": ["autopilot"]});
    shows!(cli.ok("mode sessions demo") => starts "s-1  live  heard of ");
    let (mut client, _) = Client::initialized(&cli, "mcp");
    let team = json!({"mode": "team", "active": true, "session_id": null});
    let (said, failed) = client.call("state_write", team.clone());
    assert!(failed && said.contains("--session s-1"), "{said}");
    let mut end = cli.command("mode end-session demo --reason closed --json");
    let ran = Ran::of(end.env("RCS_SESSION_ID", "s-1"));
    let ended: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(ended["canceled"], json!(["autopilot"]));
    assert_eq!(client.json("state_write", team)["success"], true);
    // A write through a tool shows that the session is alive, so the ended session starts again.
    let write = json!({"mode": "forge", "active": true, "session_id": "s-1"});
    client.json("state_write", write);
    client.end();
    let listed: Value = cli.json("mode sessions demo");
    assert_eq!(listed["sessions"][0]["ended_at"], Value::Null);
    shows!(cli.ok("mode end-session demo --session nobody") => is "nobody  nothing to end\n");
    let error = cli.refused_json(1, "mode end-session demo");
    assert_eq!(error.field.as_deref(), Some("session_id"));
}

#[test]
fn modes_stand_in_status_diff_trace_and_the_past() {
    let cli = Cli::with_team();
    cli.ok("mode start demo blueprint --trace-id tr-m");
    cli.ok("mode start demo forge --session s-1 --task 'build it'");
    cli.ok("mode update demo forge --session s-1 --phase executing");
    let status: Value = cli.json("status demo");
    let modes = status["active_modes"].as_array().unwrap();
    assert_eq!(modes.len(), 1, "{status}");
    has!(modes[0], {"mode": "forge", "session_id": "s-1", "phase": "executing"});
    shows!(cli.ok("status demo") => has "\nactive modes\n  forge  executing");
    let past = cli.run("status demo --at 2 --json");
    let past: Value = serde_json::from_str(&past.stdout).unwrap();
    assert_eq!(past["active_modes"][0]["mode"], "blueprint");
    let past = cli.run("mode list demo --at 2 --json");
    let past: Value = serde_json::from_str(&past.stdout).unwrap();
    assert_eq!(past["active_modes"], json!(["blueprint"]));
    let diff: Value = cli.json("diff demo --from 2");
    assert_eq!(
        diff["modes"],
        json!([
            {"mode": "blueprint", "change": "ended", "from": "starting", "to": "completed"},
            {"mode": "forge", "session_id": "s-1", "change": "started", "from": null, "to": "executing"},
        ])
    );
    let shown = cli.ok("diff demo --from 2");
    shows!(shown => has "-  blueprint  starting -> completed\n");
    assert!(shown.contains("+  forge      executing"), "{shown}");
    let trace = cli.ok("trace demo --trace-id tr-m");
    for said in [
        "mode_started",
        "started mode blueprint: starting",
        "mode_auto_completed",
    ] {
        assert!(trace.contains(said), "{said} in {trace}");
    }
    let replayed = cli.ok("replay demo --kind mode_transitioned");
    shows!(replayed => has "changed from blueprint to forge: auto-complete");
    cli.ok("doctor check demo --sample-size 0");
    cli.ok("rehydrate demo");
    cli.ok("verify demo");
}

#[test]
fn a_change_under_a_key_is_made_once() {
    let cli = Cli::with_team();
    let line = "mode start demo forge --key k-1 --json";
    let first = cli.ok(line);
    cli.ok("mode complete demo forge");
    let (mut first, again): (Value, Value) = (
        serde_json::from_str(&first).unwrap(),
        serde_json::from_str(&cli.ok(line)).unwrap(),
    );
    first["replayed"] = true.into();
    assert_eq!(again, first);
    assert_eq!(active(&cli, ""), json!([]));
    let reused = cli.refused_json(1, "mode start demo team --key k-1");
    assert_eq!(reused.code, "idempotency_key_reused");
}

#[test]
fn a_write_takes_its_object_from_the_line_a_file_or_standard_input() {
    let cli = Cli::with_team();
    cli.file(
        "state.json",
        r#"{"mode":"team","active":true,"current_phase":"team-plan"}"#,
    );
    let wrote: Value = cli.json("mode write demo --input @state.json");
    assert_eq!(wrote["current_phase"], "team-plan");
    let line = "mode write demo team --input - --json";
    let ran = cli.run_with_input(line, r#"{"current_phase":"team-exec","state":{"round":1}}"#);
    let wrote: Value = serde_json::from_str(&ran.stdout).unwrap();
    has!(wrote, {"current_phase": "team-exec", "/state/round": 1});
    for (line, field) in [
        ("mode write demo forge --input @state.json", "mode"),
        ("mode write demo --input '{}'", "input"),
        ("mode write demo --input @none.json", "input"),
        (
            "mode write demo team --input '{\"active\":true,\"current_phase\":\"complete\"}'",
            "active",
        ),
    ] {
        let refusal = cli.refused_json(1, line);
        assert_eq!(refusal.field.as_deref(), Some(field), "{line}: {refusal:?}");
    }
}

#[test]
fn runs_stand_in_status_and_diff_and_their_events_in_words() {
    let cli = Cli::with_team();
    cli.ok("bootstrap start demo --run r-1 --domains physics");
    cli.ok("bootstrap record demo --event team_create_returned --data '{\"outcome\":\"ok\",\"team_name\":\"alpha\"}'");
    cli.ok("bootstrap record demo --event branch_taken");
    let violated = cli.run(
        "bootstrap record demo --event fallback_entered --data '{\"reason\":\"too heavy\"}' --json",
    );
    assert_eq!(violated.code, Some(1), "{violated:?}");
    let status: Value = cli.json("status demo");
    let run = &status["bootstrap_runs"][0];
    has!(run, {"run": "r-1", "state": "TEAM_READY", "team_name": "alpha", "breaches": 1});
    let shown = cli.ok("status demo");
    shows!(shown => has "\nbootstrap runs\n  r-1  TEAM_READY  ");
    shows!(shown => has "with alpha: physics  1 violation");
    let diff: Value = cli.json("diff demo --from 2");
    has!(diff, {"runs": [{"run": "r-1", "from": "INIT", "to": "TEAM_READY", "breaches": 1}]});
    shows!(cli.ok("diff demo --from 1") => has "run r-1  TEAM_READY  1 violation");
    let replayed = cli.ok("replay demo");
    assert!(replayed.contains("run r-1"), "{replayed}");
    shows!(replayed =>
        has "fallback_entered broke the rule PROTOCOL_BREACH_INVALID_FALLBACK_REASON");
}
