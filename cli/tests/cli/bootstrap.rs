//! Bootstrap runs as processes: commands, their answers and their exit codes.

use crate::prelude::*;
use crate::schemas;

/// Records an event of the run, and checks the answer against its schema.
#[track_caller]
fn record(cli: &Cli, event: &str, data: &str, code: i32) -> Value {
    let line = format!("bootstrap record demo --event {event} --data '{data}' --json");
    answered(&line, cli.run(&line), code)
}

#[track_caller]
fn answered(line: &str, ran: Ran, code: i32) -> Value {
    assert_eq!(
        (ran.code, &*ran.stderr),
        (Some(code), ""),
        "{line}: {ran:?}"
    );
    let argv: Vec<String> = line.split(' ').map(str::to_owned).collect();
    assert_eq!(
        schemas::check(&argv, &ran.stdout).as_deref(),
        Some("bootstrap record")
    );
    serde_json::from_str(&ran.stdout).unwrap()
}

/// Returns a world with a launched run that has the domains `a` and `b`.
fn launched() -> Cli {
    let cli = Cli::with_team();
    let started: Value = cli.json("bootstrap start demo --domains a,b --trace-id tr-1");
    assert_eq!(
        started,
        json!({"run": "1", "state": "INIT", "domains": ["a", "b"], "next": ["team_create_returned"]})
    );
    record(
        &cli,
        "team_create_returned",
        r#"{"returned":"Already leading team \"alpha\"."}"#,
        0,
    );
    record(&cli, "branch_taken", r#"{"case":"B"}"#, 0);
    record(&cli, "roster_built", "{}", 0);
    let members = r#"{"launch_mode":"team_launch","launch_method":"platform_nl_team_invocation","members":["obstruction-theorist","synthesizer","a","b"]}"#;
    let said = record(&cli, "team_launched", members, 0);
    assert_eq!(
        said,
        json!({"run": "1", "state": "CORE_READY", "accepted": true, "code": null, "rolled_back_to": null, "warnings": [], "next": ["core_pinged", "core_ready_ack"]})
    );
    cli
}

#[test]
fn a_run_goes_on_from_process_to_process_and_its_evidence_is_taken_back() {
    let cli = launched();
    for signal in ["OBSTRUCTION_CORE_READY_ACK", "SYNTHESIZER_CORE_READY_ACK"] {
        record(&cli, signal, "{}", 0);
    }
    let evidence = cli.ok("bootstrap evidence demo --json");
    shows!(evidence =>
        is "{\"launch_mode\":\"team_launch\",\"launch_method\":\"platform_nl_team_invocation\",\"team_name\":\"alpha\",\"selected_domains\":[\"a\",\"b\"],\"active_core_members\":[\"obstruction-theorist\",\"synthesizer\"],\"core_ready_ack\":{\"OBSTRUCTION_CORE_READY_ACK\":true,\"SYNTHESIZER_CORE_READY_ACK\":true}}\n");
    let shown = cli.ok("bootstrap evidence demo");
    shows!(shown => starts "{\n  \"launch_mode\": \"team_launch\",\n");
    cli.file("evidence.json", &evidence);
    let asked = "bootstrap explain demo --event running_entered --data @evidence.json";
    shows!(cli.ok(asked) =>
        starts "running_entered in CORE_READY would record bootstrap_running_entered\n");
    let line = "bootstrap record demo --event running_entered --data - --json";
    let said = answered(line, cli.run_with_input(line, &shown), 0);
    assert_eq!(said["state"], "RUNNING");
    let now: Value = cli.json("bootstrap show demo");
    has!(now, {"team": "demo", "team_name": "alpha", "trace_id": "tr-1"});
    let past: Value = cli.json("bootstrap show demo --at 4");
    has!(past, {"state": "TEAM_READY", "next": ["roster_built"]});
    let shown = cli.ok("bootstrap show demo");
    for line in [
        "demo: run 1 stands in RUNNING",
        "  6  done  enter RUNNING with the launch evidence",
        "  7  next  deliver each domain's result to both of the core and get both acks",
        "  forbidden: analysing as the lead",
        "  b  active  round 1  obstruction none  synthesizer none",
    ] {
        assert!(shown.lines().any(|one| one == line), "{line}:\n{shown}");
    }
    let view = cli.dir().join("teams/demo/bootstrap/1.json");
    let view: Value = serde_json::from_str(&std::fs::read_to_string(view).unwrap()).unwrap();
    has!(view, {"state": "RUNNING", "schemaVersion": "1.0.0"});
    assert_eq!(
        view["evidence"],
        serde_json::from_str::<Value>(&evidence).unwrap()
    );
}

#[test]
fn what_is_not_accepted_is_an_answer_that_exits_1() {
    let cli = launched();
    let explain = "bootstrap explain demo --event domain_started --data '{\"d\":\"a\"}'";
    let explained: Value = cli.json(explain);
    assert_eq!(explained["records"], json!(["bootstrap_breached"]));
    shows!(cli.ok(explain) =>
        is "domain_started in CORE_READY would record bootstrap_breached\nrun 1 would stand in CORE_READY\n  would not be accepted PROTOCOL_BREACH_DOMAIN_BEFORE_CORE_READY: domains began to work, but OBSTRUCTION_CORE_READY_ACK and SYNTHESIZER_CORE_READY_ACK are missing\n  would be recorded, and fall back to CORE_READY\n  next: core_pinged, core_ready_ack\n");
    let said = record(&cli, "domain_started", r#"{"d":"a"}"#, 1);
    has!(said, {"accepted": false, "code": "PROTOCOL_BREACH_DOMAIN_BEFORE_CORE_READY",
        "rolled_back_to": "CORE_READY"});
    assert_eq!(explained["code"], said["code"]);
    let said = record(&cli, "gate_cleared", "{}", 1);
    has!(said, {"code": "illegal_event", "rolled_back_to": null});
    let ran = cli.run("bootstrap record demo --event task_launched --data '{\"member\":\"a\"}'");
    assert_eq!((ran.code, &*ran.stderr), (Some(1), ""));
    shows!(ran.stdout =>
        is "run 1  TEAM_READY\n  not accepted PROTOCOL_BREACH_INITIAL_TASK_LAUNCH: members were launched by tasks in CORE_READY, but the first launch must launch the whole team\n  recorded, and fell back to TEAM_READY\n  next: roster_built\n");
    let again = "bootstrap record demo --event lead_content --data '{\"kind\":\"domain\"}' --key k-1 --json";
    let mut first = answered(again, cli.run(again), 1);
    first["replayed"] = true.into();
    assert_eq!(answered(again, cli.run(again), 1), first);
    assert_eq!(cli.json::<Value>("bootstrap show demo")["breaches"], 3);
}

#[test]
fn what_cannot_be_read_is_an_error_with_a_hint() {
    let cli = Cli::with_team();
    let error = cli.refused_json(1, "bootstrap show demo");
    assert_eq!(
        (&*error.code, error.hint.as_deref()),
        (
            "run_not_found",
            Some("to begin one: teamlog bootstrap start demo")
        )
    );
    cli.ok("bootstrap start demo --run nightly");
    for (line, code, said) in cases![
        ("start demo --run nightly" => "run_exists", "\"nightly\" already exists"),
        ("start demo --run a/b" => "invalid_input", "path separator"),
        ("evidence demo" => "not_launched", "is in INIT"),
        ("record demo --run 7 --event core_pinged" => "run_not_found", "\"7\""),
        ("record demo --event core_pingd" => "invalid_input", "core_pinged"),
        ("record demo --event signal --data '[]'" => "invalid_input", "JSON object"),
        ("record demo --event signal --data '{'" => "invalid_input", "JSON object"),
        ("record demo --event signal --data @nowhere.json" => "invalid_input", "nowhere.json"),
        ("record demo --event signal --data '{\"sgnal\":\"X\"}'" => "invalid_input",
            "data.signal is required"),
    ] {
        let error = cli.refused_json(1, &format!("bootstrap {line}"));
        assert_eq!(error.code, code, "{line}: {}", error.message);
        assert!(error.message.contains(said), "{line}: {}", error.message);
    }
    assert!(cli.refused(2, "bootstrap record demo").contains("--event"));
}
