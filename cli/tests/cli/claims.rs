//! `task create|next|claim|renew|complete|fail|release|cancel|reopen`, `await` and `purge`.

use crate::harness::watches_files;
use crate::prelude::*;

/// Returns a team with a task `T-1` that every member may claim.
fn with_task() -> Cli {
    let cli = Cli::with_team();
    cli.ok("task create demo --task-id T-1 --subject 'Fix it' --json");
    cli
}

fn show(cli: &Cli, id: &str) -> Value {
    cli.json::<Value>(&format!("task show demo {id}"))["task"].take()
}

#[test]
fn a_task_is_made_taken_and_completed() {
    let cli = with_task();
    let made: Value = cli.json(
        "task create demo --subject 'Ship it' --description 'to all' --owner dev --blocked-by T-1 --priority high --requires-code-change --extra-json '{\"size\":3}' --trace-id tr-1",
    );
    let task = &made["task"];
    for (field, value) in [
        ("id", json!("1")),
        ("subject", json!("Ship it")),
        ("description", json!("to all")),
        ("status", json!("blocked")),
        ("owner", json!("dev")),
        ("blocked_by", json!(["T-1"])),
        ("priority", json!("high")),
        ("requires_code_change", json!(true)),
        ("size", json!(3)),
        ("trace_id", json!("tr-1")),
        ("version", json!(1)),
    ] {
        assert_eq!(task[field], value, "{field}");
    }
    let claim: Value = cli.json("task claim demo T-1 --worker dev --lease-ms 60000");
    let token = claim["claimToken"].as_str().unwrap();
    has!(claim, {"ok": true, "epoch": 1, "/task/owner": "dev"});
    let renewed: Value = cli.json(&format!(
        "task renew demo T-1 --claim-token {token} --lease-ms 3600000"
    ));
    assert_eq!(renewed["claimToken"], token);
    assert!(renewed["leased_until"].as_str() > claim["leased_until"].as_str());
    let done: Value = cli.json(&format!(
        "task complete demo T-1 --claim-token {token} --result 'on a branch'"
    ));
    has!(done, {"/task/status": "completed", "/task/result": "on a branch"});
    assert_eq!(show(&cli, "1")["status"], "pending");
    let next: Value = cli.json("task next demo --worker dev");
    assert_eq!(next["task"]["id"], "1");
}

#[test]
fn a_failed_task_is_reopened_given_back_and_canceled() {
    let cli = with_task();
    cli.ok("task claim demo T-1 --worker dev");
    let failed: Value = cli.json("task fail demo T-1 --epoch 1 --error 'no schema'");
    has!(failed, {"/task/status": "failed", "/task/error": "no schema"});
    let error = cli.refused(1, "task claim demo T-1 --worker qa");
    assert!(error.contains("is already failed"), "{error}");
    assert!(error.contains("teamlog task reopen demo T-1"), "{error}");
    let open: Value = cli.json("task reopen demo T-1");
    assert_eq!(open["task"]["status"], "pending");
    cli.ok("task claim demo T-1 --worker qa");
    let free: Value = cli.json("task release demo T-1 --worker qa --epoch 2");
    assert_eq!(
        (&free["task"]["status"], free["task"].get("owner")),
        (&json!("pending"), None)
    );
    cli.ok("task claim demo T-1 --worker dev");
    let error = cli.refused_json(1, "task cancel demo T-1 --worker qa");
    assert_eq!(error.code, "claim_conflict");
    let gone: Value = cli.json("task cancel demo T-1 --force --reason 'not wanted'");
    assert_eq!(gone["task"]["status"], "canceled");
    let next = cli.run("task next demo --worker dev --json");
    assert_eq!((next.code, &*next.stderr), (Some(1), ""));
    assert_eq!(next.stdout, "{\"ok\":true,\"task\":null}\n");
}

#[test]
fn what_a_claim_does_not_allow_is_refused_with_its_code() {
    let cli = with_task();
    cli.ok("task create demo --task-id T-2 --subject S --blocked-by T-1");
    for (code, line) in [
        ("blocked_dependency", "task claim demo T-2 --worker dev"),
        (
            "claim_conflict",
            "task claim demo T-1 --worker dev --expected-version 7",
        ),
        (
            "version_conflict",
            "task cancel demo T-1 --expected-version 7",
        ),
    ] {
        let error = cli.refused_json(1, line);
        assert_eq!(error.code, code, "{line}: {error:?}");
        assert!(error.hint.is_some(), "{line}: {error:?}");
    }
    let error = cli.refused_json(
        1,
        "task create demo --subject S --extra-json '{\"status\":\"completed\"}'",
    );
    assert_eq!(error.code, "invalid_input");
    let error = cli.refused_json(1, "task show demo T-7");
    assert_eq!(
        error.hint.as_deref(),
        Some("list them with: teamlog tasks demo")
    );
    let error = cli.refused_json(1, "task claim demo T-1 --worker leader-fixed");
    assert_eq!((&*error.code, error.hint), ("worker_not_found", None));
    let error = cli.refused_json(1, "task claim demo T-1 --worker eve");
    let hint = error.hint.unwrap();
    shows!(hint => ends "to add it: teamlog init demo --members eve");
    let error = cli.refused_json(2, "task complete demo T-1");
    assert!(error.message.contains("--worker"), "{}", error.message);
    let error = cli.refused_json(2, "task claim demo T-1");
    assert!(error.message.contains("--worker"), "{}", error.message);
}

#[test]
fn who_acts_is_the_worker_and_stands_in_the_events() {
    let cli = with_task();
    cli.ok("--actor dev task claim demo T-1");
    cli.ok("--actor lead task renew demo T-1 --epoch 1 --force");
    let events = cli.ok("replay demo --task-id T-1 --json");
    let actors: Vec<String> = events
        .lines()
        .map(|line| {
            let event: Value = serde_json::from_str(line).unwrap();
            format!(
                "{} {}",
                event["kind"].as_str().unwrap(),
                event["actor"].as_str().unwrap()
            )
        })
        .collect();
    // Without an agent, the user is recorded as actor.
    assert!(actors[0].starts_with("task_created user:"), "{actors:?}");
    assert_eq!(actors[1..], ["task_claimed dev", "task_renewed lead"]);
}

#[test]
fn an_answer_of_before_says_so_and_a_claim_that_is_over_is_none() {
    let cli = Cli::with_team();
    let claim = "task claim demo T-1 --worker dev --key k-1";
    let next = "task next demo --worker dev --key k-2";
    let create = "task create demo --subject S --key k-0 --task-id T-1";
    let operation = "api renew-task-claim --input '{\"team_name\":\"demo\",\"task_id\":\"T-1\",\"epoch\":1,\"key\":\"k-3\"}'";
    cli.ok("task create demo --subject S --task-id T-2");
    for line in [create, claim, next, operation] {
        let first: Value = parse(&cli.ok(&format!("{line} --json")));
        assert_eq!(first.get("replayed"), None, "{line}: {first}");
        let mut again: Value = parse(&cli.ok(&format!("{line} --json")));
        let marked = again.as_object_mut().unwrap().remove("replayed");
        assert_eq!(marked, Some(true.into()), "{line}");
        for field in ["task", "claimToken", "data"] {
            assert_eq!(again.get(field), first.get(field), "{line}");
        }
        // With a receipt or without `--json`, a stored answer also says that it is a stored answer.
        if line != operation {
            let both: Value = parse(&cli.ok(&format!("{line} --json --receipt")));
            assert_eq!(both["replayed"], true, "{line}");
            assert!(both["receipt"].is_object(), "{line}");
        }
        let ran = cli.run(line);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert!(ran.stderr.starts_with("note: answered again: "), "{ran:?}");
    }
    cli.ok("task release demo T-1 --worker dev --epoch 1");
    cli.ok("task complete demo T-2 --worker dev --epoch 1");
    for line in [claim, next] {
        let error = cli.refused_json(1, line);
        assert_eq!(error.code, "claim_conflict", "{error:?}");
        assert!(error.hint.unwrap().contains("use another key"));
    }
    let ran = cli.run(&format!("{operation} --json"));
    let envelope: Value = parse(&ran.stdout);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert_eq!(envelope["error"]["code"], "claim_conflict", "{ran:?}");
    assert_eq!(envelope.get("replayed"), None, "{ran:?}");
    // Creating a task grants no claim, so its stored answer stays valid.
    let created: Value = parse(&cli.ok(&format!("{create} --json")));
    assert_eq!(created["replayed"], true);
}

#[test]
fn under_a_key_a_command_is_carried_out_once_by_whichever_way_it_is_asked_for() {
    let cli = with_task();
    let line = "task claim demo T-1 --worker dev --key k-1";
    let first: Value = cli.json(line);
    let mut again: Value = cli.json(line);
    assert_eq!(
        again.as_object_mut().unwrap().remove("replayed"),
        Some(true.into())
    );
    assert_eq!(again, first);
    let asked = r#"{"team_name":"demo","task_id":"T-1","worker":"dev","key":"k-1"}"#;
    let answer = cli.run(&format!("api claim-task --json --input '{asked}'"));
    let answer: Value = serde_json::from_str(&answer.stdout).unwrap();
    assert_eq!(answer["data"], first, "{answer}");
    let error = cli.refused_json(1, "task claim demo T-1 --worker qa --key k-1");
    assert_eq!(error.code, "idempotency_key_reused");
    assert_eq!(show(&cli, "T-1")["version"], 2);
}

#[test]
fn people_see_who_holds_a_task_and_not_what_proves_it() {
    let cli = with_task();
    let shown = cli.ok("task claim demo T-1 --worker dev");
    let token = show(&cli, "T-1")["claim"]["token"]
        .as_str()
        .unwrap()
        .to_owned();
    let lines: Vec<&str> = shown.lines().collect();
    assert_eq!(lines[0], "T-1  Fix it");
    assert!(lines[1].starts_with("  dev holds it until 20"), "{shown}");
    assert_eq!(lines[2], format!("  claim 1, token {token}"));
    let shown = cli.ok("task show demo T-1 --history");
    for part in [
        "in_progress",
        "\n  lease",
        "\n  epoch ",
        "dev claimed task T-1 until",
    ] {
        assert!(shown.contains(part), "{part} in {shown}");
    }
    assert!(!shown.contains(&token), "{shown}");
    assert!(!cli.ok("replay demo").contains(&token));
    shows!(cli.ok("task complete demo T-1 --epoch 1 --result 'on a branch'") =>
        is "T-1  completed  Fix it\n  on a branch\n");
    shows!(cli.ok("task create demo --subject S --blocked-by T-1,T-9") =>
        is "created 1  blocked  S  waits for T-1, T-9\n  task T-9 does not exist yet; task 1 waits for it\n");
}

#[test]
fn await_wakes_for_what_is_worth_it_and_says_how_it_ended() {
    let cli = with_task();
    let late: Value = cli.json("await demo --timeout-ms 0");
    has!(late, {"team_name": "demo", "status": "timeout", "event": null});
    shows!(cli.ok("await demo --timeout-ms 0") => is "no event of demo in time\n");
    let missing: Value = cli.json("await nobody --timeout-ms 0");
    assert_eq!(missing["status"], "missing");
    assert_eq!(cli.ok("await nobody"), "no team nobody\n");

    let cursor = late["cursor"].as_str().unwrap();
    cli.ok("task claim demo T-1 --worker dev");
    let woken: Value = cli.json(&format!("await demo --after {cursor} --timeout-ms 0"));
    assert_eq!(woken["status"], "timeout", "a claim wakes nobody: {woken}");
    let silent = r#"{"team_name":"demo","type":"worker_rebase_applied","worker":"dev"}"#;
    cli.ok_of_any_shape(&format!("api append-event --input '{silent}'"));
    let woken: Value = cli.json(&format!("await demo --after {cursor} --timeout-ms 0"));
    assert_eq!(woken["status"], "timeout", "nor does a rebase: {woken}");
    let mut waits = cli.command(&format!(
        "await demo --after {cursor} --worker dev --task-id T-1 --type task_completed --json"
    ));
    let waits = waits
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    until("it waits", || watches_files(waits.id()));
    let began = Instant::now();
    cli.ok("task complete demo T-1 --epoch 1");
    let woken = Ran::from_output(waits.wait_with_output().unwrap());
    assert!(began.elapsed() < Duration::from_secs(10));
    assert_eq!((woken.code, &*woken.stderr), (Some(0), ""));
    let woken: Value = serde_json::from_str(&woken.stdout).unwrap();
    has!(woken, {"status": "event", "/event/type": "task_completed"});
    assert_eq!(woken["cursor"], woken["event"]["event_id"]);
    shows!(cli.ok(&format!("await demo --after {cursor}")) => is "task_completed  dev  T-1\n");
    let error = cli.refused(2, "await demo --type nonsense");
    assert!(error.contains("worker_stopped"), "{error}");
    let error = cli.refused_json(1, "await demo --worker a/b");
    assert_eq!(error.field.as_deref(), Some("worker"));
}

#[test]
fn purge_deletes_a_closed_team_for_whoever_means_it() {
    let cli = with_task();
    let error = cli.refused_json(2, "purge demo");
    assert!(error.hint.unwrap().ends_with("purge demo --yes"));
    let error = cli.refused_json(1, "purge demo --yes");
    assert_eq!(error.code, "team_open");
    shows!(cli.refused_json(1, "purge nobody --yes").code => is "team_not_found");
    cli.ok_of_any_shape("api cleanup --input '{\"team_name\":\"demo\",\"force\":true}'");
    let shown = cli.ok("status demo");
    assert!(shown.contains("\nclosed at 20"), "{shown}");
    let purged: Value = cli.json("purge demo --yes");
    has!(purged, {"status": "purged", "team": "demo"});
    assert!(!cli.dir().join("teams/demo").exists());
    assert_eq!(cli.refused_json(1, "status demo").code, "team_not_found");
}
