//! Prompts, explanations and outcomes as processes: input, output and exit code.

use crate::prelude::*;

fn value(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
}

fn active(cli: &Cli, at: &str) -> Value {
    let list: Value = cli.json(&format!("mode list demo {at}"));
    list["active_modes"].clone()
}

#[test]
fn a_set_is_explained_without_any_team() {
    let cli = Cli::new();
    let out = cli.ok("mode explain --active team,forge blueprint --json");
    let message = "Cannot start blueprint: team and forge are already active. \
                   Execution-to-planning rollback auto-complete is not allowed. \
                   First clear current state first and retry if this action is intended. \
                   Clear incompatible state yourself with `rcs state clear --mode team` and \
                   `rcs state clear --mode forge`, or with the MCP tool call \
                   `mcp__teamlog__state_clear {\"mode\":\"team\"}` and `mcp__teamlog__state_clear {\"mode\":\"forge\"}`, then retry.";
    let told: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(
        told,
        json!({
            "kind": "deny", "current": ["team", "forge"], "requested": "blueprint", "resulting": ["team", "forge"],
            "auto_completed": [], "denial": "rollback", "message": message
        })
    );
    for (line, kind, resulting) in cases![
        ("--active '' forge" => "allow", json!(["forge"])),
        ("--active forge,crew,forge team" => "overlap", json!(["forge", "team"])),
        ("--active autopilot blueprint" => "auto-complete", json!(["blueprint"])),
        ("--active autopilot blueprint --review not-clean" => "auto-complete",
            json!(["blueprint"])),
        ("--active autopilot blueprint --review clean" => "deny", json!(["autopilot"])),
        ("--active=blueprint autoresearch" => "deny", json!(["blueprint"])),
    ] {
        let told: Value = cli.json(&format!("mode explain {line}"));
        has!(told, {"kind": kind, "resulting": &resulting}, "{line}");
    }
    let text = cli.ok("mode explain --active blueprint team");
    shows!(text => starts "auto-complete: blueprint + team\n  active then: team\n");
    let error = cli.refused_json(1, "mode explain --active team swarm");
    assert_eq!(
        (&*error.code, error.hint.as_deref()),
        ("unsupported_mode", Some("use team"))
    );
    for line in [
        "--active team demo forge",
        "demo forge --review clean",
        "--active team forge --review x",
        "--active team forge --session s",
    ] {
        assert_eq!(
            cli.run(&format!("mode explain {line}")).code,
            Some(2),
            "{line}"
        );
    }
}

#[test]
fn a_team_is_explained_by_its_own_modes() {
    let cli = Cli::with_team();
    cli.ok("mode start demo forge --session s-1");
    let told: Value = cli.json("mode explain demo blueprint --session s-1");
    has!(told, {"kind": "deny", "current": ["forge"]});
    let started = cli.run("mode start demo blueprint --session s-1 --json");
    assert_eq!(started.code, Some(1));
    let refused: Value = serde_json::from_str(&started.stderr).unwrap();
    assert_eq!(refused["error"]["message"], told["message"], "{refused}");
    assert_eq!(
        cli.json::<Value>("mode explain demo ultrawork")["kind"],
        "allow"
    );
}

#[test]
fn a_prompt_comes_by_flag_or_by_standard_input_for_the_session_that_is_meant() {
    let cli = Cli::with_team();
    let answer: Value =
        cli.json("mode prompt demo --text '$blueprint $team $forge ship this fix' --session s-1");
    has!(answer, {"active_skills": ["blueprint"], "deferred_skills": ["team", "forge"],
        "requested_skills": ["blueprint", "team", "forge"],
        "/started/0/path": "teams/demo/modes/sessions/s-1/blueprint-state.json"});
    assert!(
        cli.dir()
            .join("teams/demo/modes/sessions/s-1/blueprint-state.json")
            .exists()
    );
    let ran = cli.run_with_input("mode prompt demo - --session s-2 --json", "$forge\nx\n");
    assert_eq!(value(&ran)["active_skills"], json!(["forge"]), "{ran:?}");
    let mut named = cli.command("mode prompt demo --text '$ultraqa x' --json");
    let ran = Ran::of(named.env("RCS_SESSION_ID", " ").env("SESSION_ID", "s-3"));
    assert_eq!(value(&ran)["active_skills"], json!(["ultraqa"]), "{ran:?}");
    assert_eq!(active(&cli, "--session s-3"), json!(["ultraqa"]));
    assert_eq!(active(&cli, "--root"), json!([]));
    let answer: Value = cli.json("mode prompt demo --text '- one' --root");
    assert_eq!(answer["keywords"], json!([]));
    let text = cli.ok("mode prompt demo --text 'how is it going?'");
    assert_eq!(text, "the prompt starts no mode\n  active now: none\n");
    for line in ["demo", "demo x", "demo - --text x"] {
        assert_eq!(
            cli.run(&format!("mode prompt {line}")).code,
            Some(2),
            "{line}"
        );
    }
}

#[test]
fn a_denied_prompt_is_answered_and_ends_with_one_but_a_hook_with_zero() {
    let cli = Cli::with_team();
    cli.ok("mode start demo team");
    let head = cli.ok("head demo --json");
    let ran = cli.run("mode prompt demo --text '$blueprint x' --json");
    assert_eq!((ran.code, &*ran.stderr), (Some(1), ""), "{ran:?}");
    let answer = value(&ran);
    has!(answer, {"denial": "rollback", "active_skills": ["team"]});
    let error = answer["transition_error"].as_str().unwrap();
    shows!(error => starts "Cannot activate blueprint: team is already active.");
    shows!(error => has "`rcs state clear --mode team --team demo --root`");
    let ran = cli.run("mode prompt demo --text '$blueprint x'");
    assert_eq!(ran.code, Some(1));
    assert!(ran.stdout.contains("denied workflow keyword"), "{ran:?}");

    let ran = cli.run_with_input(
        "mode prompt demo --hook",
        r#"{"prompt":"$blueprint x","cwd":"/"}"#,
    );
    assert_eq!((ran.code, &*ran.stderr), (Some(0), ""), "{ran:?}");
    let hook = &value(&ran)["hookSpecificOutput"];
    assert_eq!(hook["hookEventName"], "UserPromptSubmit");
    let context = hook["additionalContext"].as_str().unwrap();
    assert!(context.contains(error), "{context}");
    assert_eq!(cli.ok("head demo --json"), head, "nothing was recorded");
}

#[test]
fn a_hook_passes_on_its_session_unless_the_words_name_one() {
    let cli = Cli::with_team();
    let input = r#"{"prompt":"$forge x","session_id":"s-1","thread_id":"th","turn_id":"tu","transcript_path":null}"#;
    let ran = cli.run_with_input("mode prompt demo - --hook", input);
    assert_eq!(
        (ran.code, ran.stdout.lines().count()),
        (Some(0), 1),
        "{ran:?}"
    );
    let state: Value = cli.json("mode show demo forge --session s-1");
    has!(state, {"/mode/state/thread_id": "th", "/mode/state/turn_id": "tu"});
    let ran = cli.run_with_input("mode prompt demo --hook --session s-2", input);
    assert_eq!(ran.code, Some(0));
    assert_eq!(active(&cli, "--session s-2"), json!(["forge"]));
    let ran = cli.run_with_input("mode prompt demo --hook --root", "$ulw x");
    assert_eq!(ran.code, Some(0));
    assert_eq!(active(&cli, "--root"), json!(["ultrawork"]));
    let ran = cli.run_with_input("mode prompt demo --hook", "nothing of the kind");
    assert_eq!(value(&ran)["hookSpecificOutput"]["additionalContext"], "");
    let ran = cli.run_with_input(
        "mode prompt demo --hook",
        r#"{"prompt":"$forge","session_id":"a.b"}"#,
    );
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let ran = cli.run_with_input("mode prompt nobody --hook", "$forge");
    assert_eq!(ran.code, Some(1), "{ran:?}");
}

#[test]
fn prose_starts_nothing_and_a_phrase_does_only_if_the_team_says_so() {
    let cli = Cli::with_team();
    let hook = |session: &str, prompt: &str| {
        let input = json!({"prompt": prompt, "session_id": session}).to_string();
        let ran = cli.run_with_input("mode prompt demo --hook", &input);
        assert_eq!((ran.code, &*ran.stderr), (Some(0), ""), "{prompt}: {ran:?}");
        active(&cli, &format!("--session {session}"))
    };
    let before = cli.ok("export demo");
    for prompt in [
        "Do not use autopilot for this, just edit README.md",
        "The team uses forge",
        "run forge test",
        "what does `$team` mean?",
        "forge please",
        "fix the null $team->members in TeamController.php",
        "why is $brief empty",
    ] {
        assert_eq!(hook("s-1", prompt), json!([]), "{prompt}");
    }
    assert_eq!(cli.ok("export demo"), before);
    let phrase = "use autopilot on src/main.rs";
    assert_eq!(hook("s-1", phrase), json!([]));
    cli.ok("config set demo modes.trigger off");
    assert_eq!(hook("s-1", "$autopilot fix it"), json!([]));
    cli.ok("config unset demo modes.trigger");
    assert_eq!(hook("s-1", "$autopilot fix it"), json!(["autopilot"]));
    cli.ok("config set demo modes.trigger phrases");
    assert_eq!(hook("s-2", phrase), json!(["autopilot"]));
    let error = cli.refused_json(1, "config set demo modes.trigger words");
    assert!(error.message.contains("off, tokens, phrases"), "{error:?}");
}

#[test]
fn an_outcome_is_read_off_a_given_state_or_a_modes() {
    let cli = Cli::with_team();
    let read: Value =
        cli.json(r#"mode outcome --input '{"lifecycle_outcome":"done","run_outcome":"failed"}'"#);
    assert_eq!(
        read,
        json!({
            "lifecycle_outcome": "finished", "run_outcome": "finish", "terminal": true, "evidence": "lifecycle_outcome",
            "warnings": ["lifecycle_outcome \"done\" is read as finished"]
        })
    );
    cli.ok("mode start demo ultrawork");
    let read: Value = cli.json("mode outcome demo ultrawork");
    has!(read, {"terminal": false, "run_outcome": "continue"});
    let at: Value = cli.json("head demo");
    cli.ok("mode cancel demo ultrawork");
    let text = cli.ok("mode outcome demo ultrawork");
    shows!(text => is "userinterlude  run outcome cancelled  by lifecycle_outcome\n");
    let then: Value = cli.json(&format!("mode outcome demo ultrawork --at {}", at["seq"]));
    assert_eq!(then["terminal"], false);
    let error = cli.refused_json(
        1,
        r#"mode outcome --input '{"lifecycle_outcome":"continue"}'"#,
    );
    assert_eq!(error.code, "invalid_input");
    let unknown = r#"mode outcome --input '{"current_phase":"exploded","active":false}'"#;
    let error = cli.refused_json(1, unknown);
    assert_eq!(error.field.as_deref(), Some("current_phase"));
    assert!(error.message.contains("finished, complete, "), "{error:?}");
    shows!(cli.refused_json(1, "mode outcome demo forge").code => is "mode_not_found");
    for line in ["demo", "demo forge --input {}", "--input {} --session s"] {
        assert_eq!(
            cli.run(&format!("mode outcome {line}")).code,
            Some(2),
            "{line}"
        );
    }
}
