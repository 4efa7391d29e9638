//! Tests of prompts: the modes that they start, defer, complete or leave alone, decided as a whole.

use crate::mode_calls::{active, complete, fields, session, show, start, update};
use crate::mode_scopes::read;
use crate::prelude::*;
use teamlog_team::Result;
use teamlog_team::mode::explain::{ModeExplain, explain};
use teamlog_team::mode::outcome::ModeOutcome;
use teamlog_team::mode::rules::prompt::answer::PromptAnswer;
use teamlog_team::mode::rules::transition::{self, Kind, Transition};

fn prompt(team: &mut Team, text: &str, at: &str) -> Result<PromptAnswer> {
    team.mode_prompt(given!(ModePrompt, text, session_id: session(at)))
}

/// Changes the team's setting so that phrases also start modes.
fn phrases(team: &mut Team) {
    let set = given!(ConfigChange, key: "modes.trigger", value: "phrases");
    team.config_change(set).unwrap();
}

fn modes(names: &str) -> Vec<Mode> {
    names.split(',').filter_map(Mode::from_name).collect()
}

fn names(modes: &[Mode]) -> String {
    let names: Vec<&str> = modes.iter().map(|mode| mode.name()).collect();
    names.join(",")
}

/// Creates a team with these modes active in a session.
fn with(world: &World, names: &str, at: &str) -> Team {
    let mut team = world.team(None, teamlog_engine::Format::Jsonl);
    for mode in modes(names) {
        start(&mut team, mode, at).unwrap();
    }
    team
}

#[test]
fn prompts_end_as_the_table_says() {
    for (before, text, after, deferred) in cases![
        ("" => "$blueprint $team $forge ship this fix", "blueprint", "team,forge"),
        ("" => "$forge $blueprint x", "blueprint", "forge"),
        ("" => "$team $forge x", "team,forge", ""),
        ("" => "$ulw $autopilot x", "ultrawork,autopilot", ""),
        ("" => "$deep-interview $blueprint x", "blueprint", ""),
        ("" => "$analyze $team x", "team", ""),
        ("" => "$analyze x", "", ""),
        ("" => "force: $team now", "team", ""),
        ("" => "please run $team now", "", ""),
        ("" => "$blueprint, $forge x", "blueprint", ""),
        ("" => "use autopilot:\n$PATH", "", ""),
        ("" => "use autopilot:\n/prompts:x", "", ""),
        ("" => "forge the fix", "", ""),
        ("" => "use forge", "blueprint", ""),
        ("" => "force: use forge", "forge", ""),
        ("" => "use forge mode on src/main.rs", "forge", ""),
        ("" => "run ultraqa on the thing", "ultraqa", ""),
        ("team" => "$forge x", "team,forge", ""),
        ("blueprint" => "$team $forge x", "team,forge", ""),
        ("blueprint,ultrawork" => "$autopilot x", "ultrawork,autopilot", ""),
        ("deep-interview" => "$blueprint $forge x", "blueprint", "forge"),
        ("forge" => "continue", "forge", ""),
        ("forge" => "$forge x", "forge", ""),
        ("forge" => "how is it going?", "forge", ""),
    ] {
        for at in ["", "s-1"] {
            let world = World::new();
            let mut team = with(&world, before, at);
            phrases(&mut team);
            let answer = prompt(&mut team, text, at).unwrap();
            assert_eq!(names(&answer.active_skills), after, "{before} + {text}");
            assert_eq!(names(&active(&mut team, at)), after, "{before} + {text}");
            assert_eq!(
                names(&answer.deferred_skills),
                deferred,
                "{before} + {text}"
            );
            assert_eq!(answer.transition_error, None);
            for started in &answer.started {
                let own = started.mode != Mode::Team;
                let session = Some(at).filter(|at| own && !at.is_empty());
                assert_eq!(started.session_id.as_deref(), session, "{text}");
            }
            settled_digest(&mut team);
        }
    }
}

#[test]
fn a_denied_prompt_changes_nothing_and_says_so() {
    for (before, text, denial) in cases![
        ("" => "$autopilot $team x", "generic"),
        ("" => "$blueprint $autoresearch x", "generic"),
        ("" => "$blueprint $deep-interview x", "generic"),
        ("team,forge" => "$blueprint x", "rollback"),
        ("blueprint" => "$team $autopilot x", "generic"),
        ("ultraqa" => "force: use autopilot", "generic"),
        // If the modes of the prompt cannot start, the interview is not canceled.
        ("deep-interview,ultrawork" => "$cancel $forge $autopilot", "generic"),
    ] {
        for at in ["", "s-1"] {
            let world = World::new();
            let mut team = with(&world, before, at);
            phrases(&mut team);
            let recorded = events(&mut team);
            let refusal = refused(prompt(&mut team, text, at), Code::ModeDenied);
            assert_eq!(events(&mut team), recorded, "{text}");
            let answer = PromptAnswer::of_refusal(&refusal).unwrap();
            assert_eq!(names(&answer.active_skills), before, "{text}");
            assert_eq!(json(&answer.denial), denial, "{text}");
            assert_eq!(answer.transition_error.as_ref(), Some(&refusal.message));
            assert!(refusal.message.starts_with("Cannot activate "), "{refusal}");
            assert!(answer.additional_context.contains(&refusal.message));
            shows!(answer.additional_context => starts "RCS native UserPromptSubmit denied");
            assert_eq!(
                (&answer.started[..], &answer.auto_completed[..]),
                (&[][..], &[][..])
            );
            assert_eq!(answer.canceled, None);
            assert_eq!(refusal.details["kind"], "deny");
        }
    }
}

#[test]
fn what_a_denial_tells_to_clear_is_what_is_active_and_no_more() {
    let world = World::new();
    let mut team = with(&world, "", "");
    start(&mut team, Mode::Team, "").unwrap();
    start(&mut team, Mode::Forge, "s-1").unwrap();
    let refusal = refused(prompt(&mut team, "$blueprint x", "s-1"), Code::ModeDenied);
    for said in [
        "`rcs state clear --mode team --team demo --root`",
        "`rcs state clear --mode forge --team demo --session s-1`",
        r#"`mcp__teamlog__state_clear {"mode":"team","team":"demo","session_id":null}`"#,
        r#"`mcp__teamlog__state_clear {"mode":"forge","team":"demo","session_id":"s-1"}`"#,
    ] {
        assert!(refusal.message.contains(said), "{said} in {refusal}");
    }
    let refusal = refused(
        prompt(&mut team, "$blueprint $autoresearch", "s-2"),
        Code::ModeDenied,
    );
    assert!(refusal.message.contains("--mode team"), "{refusal}");
    let world = World::new();
    let mut team = with(&world, "", "");
    let refusal = refused(prompt(&mut team, "$autopilot $team", ""), Code::ModeDenied);
    assert!(!refusal.message.contains("--mode"), "{refusal}");
}

#[test]
fn the_sessions_plan_hands_over_to_everybodys_team_in_one_group() {
    let world = World::new();
    let mut team = with(&world, "", "");
    let asked = given!(ModePrompt; text: "$blueprint x", session_id: session("s-1"),
        thread_id: "th-1", turn_id: "tu-1");
    team.mode_prompt(asked).unwrap();
    let plan = show(&mut team, Mode::Blueprint, "s-1")["state"].clone();
    has!(plan, {"current_phase": "planning", "thread_id": "th-1", "turn_id": "tu-1"});

    let before = kinds(&mut team).len();
    let answer = prompt(&mut team, "$team $forge x", "s-1").unwrap();
    assert_eq!(names(&answer.auto_completed), "blueprint");
    assert_eq!(
        answer.transition_messages,
        ["mode transiting: blueprint -> team"]
    );
    shows!(answer.additional_context => has "mode transiting: blueprint -> team + forge.");
    names!(&kinds(&mut team)[before..] => mode_transitioned mode_auto_completed mode_skills_synced
        mode_started mode_transitioned mode_started mode_skills_synced mode_skills_synced
        mode_prompt_decided);
    let plan = show(&mut team, Mode::Blueprint, "s-1")["state"].clone();
    for (field, value) in cases![
        ("active" => json!(false)),
        ("current_phase" => json!("completed")),
        ("auto_completed_reason" => json!("mode transiting: blueprint -> team")),
        ("transition_source" => json!("keyword-detector")),
        ("transition_target_mode" => json!("team")),
    ] {
        assert_eq!(plan[field], value, "{field}");
    }
    let started = show(&mut team, Mode::Team, "s-1");
    has!(started, {"scope": "root", "active": true,
        "/state/transition_message": "mode transiting: blueprint -> team"});
    let skills = read(&mut team, "skill-active", "s-1");
    has!(skills, {"keyword": "$team", "requested_skills": ["team", "forge"]});
    assert_eq!(skills.get("deferred_skills"), None);
    assert_eq!(skills.get("thread_id"), None, "that of the prompt before");
    let listed: Vec<&Value> = skills["active_skills"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["skill"])
        .collect();
    assert_eq!(listed, ["team", "forge"]);
    settled_digest(&mut team);
}

#[test]
fn an_interview_locks_input_until_it_is_called_off_or_handed_over() {
    for (text, exit, phase) in [
        ("$cancel", "abort", "completing"),
        ("cancel", "abort", "completing"),
        ("$blueprint x", "handoff", "completed"),
    ] {
        let world = World::new();
        let mut team = with(&world, "", "");
        let answer = prompt(&mut team, "$brief x", "s-1").unwrap();
        assert_eq!(answer.input_lock.unwrap()["active"], true);
        let recorded = events(&mut team);
        for word in ["yes", " Continue. ", "go ahead"] {
            let answer = prompt(&mut team, word, "s-1").unwrap();
            assert_eq!(answer.continued, None, "{word}");
            assert!(answer.blocked_input.is_some(), "{word}");
            assert!(answer.additional_context.contains("did not take"), "{word}");
        }
        let answer = prompt(&mut team, "the second one", "s-1").unwrap();
        assert_eq!(
            (answer.blocked_input, &*answer.additional_context),
            (None, "")
        );
        assert_eq!(events(&mut team), recorded);
        let elsewhere = prompt(&mut team, "yes", "s-2").unwrap();
        assert_eq!(elsewhere.blocked_input, None);

        let answer = prompt(&mut team, text, "s-1").unwrap();
        assert_eq!(answer.input_lock, None);
        assert_eq!(answer.canceled.is_some(), exit == "abort");
        let state = show(&mut team, Mode::DeepInterview, "s-1")["state"].clone();
        has!(state, {"active": false, "current_phase": phase, "/input_lock/exit_reason": exit,
            "/input_lock/active": false});
        assert_eq!(prompt(&mut team, "yes", "s-1").unwrap().blocked_input, None);
        settled_digest(&mut team);
    }
    let world = World::new();
    let mut team = with(&world, "forge", "");
    let recorded = events(&mut team);
    let answer = prompt(&mut team, "$cancel", "").unwrap();
    assert_eq!(
        (answer.canceled, names(&answer.active_skills)),
        (None, "forge".into())
    );
    assert_eq!(events(&mut team), recorded);
}

#[test]
fn the_gate_asks_for_a_plan_and_lets_through_what_was_decided() {
    let world = World::new();
    let mut team = with(&world, "", "");
    phrases(&mut team);
    let answer = prompt(&mut team, "use ultrawork on it", "s-1").unwrap();
    assert_eq!(names(&answer.active_skills), "blueprint");
    assert_eq!(answer.requested_skills, ["blueprint"]);
    let gate = json(&answer.gate);
    assert_eq!(
        gate,
        json!({"applied": true, "reason": "underspecified", "modes": ["ultrawork"]})
    );
    assert!(answer.additional_context.contains("waits for a plan"));

    let answer = prompt(&mut team, "forge please", "s-1").unwrap();
    assert_eq!(names(&answer.active_skills), "blueprint", "no plan yet");
    let set = json!({"planning_complete": true});
    update(&mut team, Mode::Blueprint, "s-1", set).unwrap();
    let answer = prompt(&mut team, "forge please", "s-1").unwrap();
    assert_eq!(names(&answer.active_skills), "forge");
    assert_eq!(json(&answer.gate)["reason"], "approved");
    let bypassed = |event: &Value| event["kind"] == "mode_gate_bypassed";
    let told = events(&mut team).into_iter().rfind(bypassed).unwrap();
    has!(told, {"payload": {"session_id": "s-1", "reason": "approved", "skills": ["forge"]}});

    // Also tests the default setting, under which phrases start nothing.
    let unset = given!(ConfigChange, key: "modes.trigger");
    team.config_change(unset).unwrap();
    complete(&mut team, Mode::Forge, "s-1").unwrap();
    let answer = prompt(&mut team, "use ultrawork on it", "s-1").unwrap();
    assert_eq!(
        (names(&answer.active_skills), answer.gate),
        (String::new(), None)
    );
    let answer = prompt(&mut team, "team", "s-1").unwrap();
    assert_eq!(
        names(&answer.active_skills),
        "team",
        "the plan is complete still"
    );
    assert_eq!(json(&answer.gate)["reason"], "approved");
    settled_digest(&mut team);
}

#[test]
fn going_on_keeps_what_is_active_as_it_is() {
    let world = World::new();
    let mut team = with(&world, "ultrawork,forge", "s-1");
    let recorded = events(&mut team);
    for (text, mode) in [
        ("keep going", Mode::Ultrawork),
        ("forge keep going now", Mode::Forge),
        ("/resume", Mode::Ultrawork),
    ] {
        let answer = prompt(&mut team, text, "s-1").unwrap();
        assert_eq!(answer.continued, Some(mode), "{text}");
        assert_eq!(names(&answer.active_skills), "ultrawork,forge");
    }
    assert_eq!(events(&mut team), recorded);
    let answer = prompt(&mut team, "keep going", "s-2").unwrap();
    assert_eq!((answer.continued, &*answer.additional_context), (None, ""));
}

#[test]
fn a_key_is_answered_again_and_a_trace_marks_the_whole_group() {
    let world = World::new();
    let mut team = with(&world, "", "");
    let asked = given!(ModePrompt, text: "$team $forge x", session_id: session("s-1"));
    team.under(
        given!(Control, operation: "mode-prompt", request: b"r".to_vec(), key: "k-1",
            trace_id: "tr-1", actor: "dev"),
    );
    let before = kinds(&mut team).len();
    let first = team.mode_prompt(asked.clone()).unwrap();
    let after = events(&mut team);
    assert_eq!(team.mode_prompt(asked).unwrap(), first);
    assert_eq!(events(&mut team), after);
    for event in &after[before..] {
        if event["kind"] != "response_stored" {
            has!(event, {"trace_id": "tr-1", "actor": "dev"}, "{event}");
        }
    }
}

#[test]
fn through_the_api_a_denial_is_the_failure_with_the_same_details() {
    let world = World::new();
    with(&world, "team", "");
    let call = |name: &str, input: Value| {
        let operation = api::find(name).unwrap();
        let answered = api::call(&world.root, operation, fields(input), Control::default())?;
        Ok::<Value, api::Fault>(serde_json::from_str(answered.data.get()).unwrap())
    };
    let asked = json!({"team_name": "demo", "text": "$blueprint x"});
    let fault = call("mode-prompt", asked).unwrap_err();
    assert_eq!(fault.code, "mode_denied");
    has!(fault.details, {"active_skills": ["team"], "denial": "rollback"});
    let told = call(
        "mode-explain",
        json!({"team_name": "demo", "mode": "blueprint"}),
    )
    .unwrap();
    has!(told, {"kind": "deny", "denial": "rollback"});
    let done = call(
        "mode-prompt",
        json!({"team_name": "demo", "text": "$forge x", "session_id": "s-1"}),
    )
    .unwrap();
    assert_eq!(done["active_skills"], json!(["team", "forge"]));
    let read = call(
        "mode-outcome",
        json!({"team_name": "demo", "mode": "forge", "session_id": "s-1"}),
    )
    .unwrap();
    has!(read, {"terminal": false, "run_outcome": "continue"});
    let read = call(
        "mode-outcome",
        json!({"team_name": "demo", "state": {"run_outcome": "done"}}),
    )
    .unwrap();
    has!(read, {"lifecycle_outcome": "finished", "evidence": "run_outcome"});
    for (name, input, code) in cases![
        ("mode-outcome", {}, "invalid_input"),
        ("mode-outcome", {"mode": "forge", "state": {}}, "invalid_input"),
        ("mode-outcome", {"mode": "blueprint"}, "mode_not_found"),
        ("mode-explain", {"mode": "crew"}, "unsupported_mode"),
        ("mode-prompt", {"text": "x", "session_id": "a.b"}, "invalid_input"),
        ("mode-prompt", {"text": "x", "turn_id": "a\nb"}, "invalid_input"),
        ("mode-prompt", {}, "invalid_input"),
    ] {
        let mut input = input;
        input["team_name"] = "demo".into();
        assert_eq!(call(name, input).unwrap_err().code, code, "{name}");
    }
}

fn explained(team: &mut Team, mode: Mode, at: &str) -> Transition {
    let asked = given!(ModeExplain; mode: mode.name(), session_id: session(at));
    team.mode_explain(asked).unwrap()
}

#[test]
fn what_is_explained_is_what_then_happens() {
    for set in transition::reachable() {
        for mode in Mode::ALL {
            let world = World::new();
            let mut team = with(&world, &names(&set), "s-1");
            let before = active(&mut team, "s-1");
            let recorded = events(&mut team);
            let told = explained(&mut team, mode, "s-1");
            assert_eq!(events(&mut team), recorded);
            assert_eq!(told.current, before);
            let bare = transition::decide(&before, mode, Review::Unknown);
            assert_eq!(
                (told.kind, &told.resulting, told.denial),
                (bare.kind, &bare.resulting, bare.denial)
            );
            let started = start(&mut team, mode, "s-1");
            match told.kind {
                Kind::Deny => {
                    let refusal = refused(started, Code::ModeDenied);
                    assert_eq!(Some(refusal.message), told.message);
                }
                kind => {
                    assert_eq!(started.unwrap().kind, kind);
                    assert_eq!(active(&mut team, "s-1"), told.resulting);
                }
            }
        }
    }
}

#[test]
fn a_start_for_everybody_is_explained_by_the_session_that_refuses_it() {
    let world = World::new();
    let mut team = with(&world, "forge", "s-1");
    let told = explained(&mut team, Mode::Blueprint, "");
    assert_eq!(
        (told.kind, names(&told.current)),
        (Kind::Deny, "forge".into())
    );
    let message = told.message.unwrap();
    shows!(message => has "--mode forge --team demo --session s-1");
    assert_eq!(explained(&mut team, Mode::Team, "").kind, Kind::Allow);
}

#[test]
fn a_set_of_nobody_is_explained_by_names() {
    let told = explain(
        &["team", "crew", "team", "", "forge"],
        "blueprint",
        Review::Unknown,
    )
    .unwrap();
    assert_eq!(names(&told.current), "team,forge");
    assert_eq!(told.kind, Kind::Deny);
    let clean = explain(&["autopilot"], "blueprint", Review::Clean).unwrap();
    assert_eq!(json(&clean.denial), "rollback");
    let refusal = explain(&[], "swarm", Review::Unknown).unwrap_err();
    assert_eq!(
        (refusal.code, refusal.hint.as_deref()),
        (Code::UnsupportedMode, Some("use team"))
    );
}

#[test]
fn a_review_in_the_state_decides_whether_autopilot_goes_back_to_its_plan() {
    for (verdict, kind) in cases![
        (json!(null), Kind::AutoComplete),
        ({"recommendation": "COMMENT", "architectural_status": "CLEAR"}, Kind::AutoComplete),
        ({"recommendation": "APPROVE", "architectural_status": "CLEAR"}, Kind::Deny),
    ] {
        let world = World::new();
        let mut team = with(&world, "autopilot", "");
        let set = json!({"review_verdict": verdict});
        update(&mut team, Mode::Autopilot, "", set).unwrap();
        assert_eq!(
            explained(&mut team, Mode::Blueprint, "").kind,
            kind,
            "{verdict}"
        );
        let answer = prompt(&mut team, "$blueprint x", "");
        assert_eq!(answer.is_ok(), kind == Kind::AutoComplete, "{verdict}");
    }
}

#[test]
fn an_outcome_is_read_off_the_state_that_counts() {
    let world = World::new();
    let mut team = with(&world, "blueprint", "s-1");
    let mut read = |at: &str| {
        let asked = given!(ModeOutcome; mode: "blueprint", session_id: session(at), state: None);
        team.mode_outcome(asked)
            .map(|reading| json(&reading.lifecycle_outcome))
    };
    assert_eq!(read("s-1").unwrap(), Value::Null);
    refused(read("s-2"), Code::ModeNotFound);
    complete(&mut team, Mode::Blueprint, "s-1").unwrap();
    let asked = given!(ModeOutcome; mode: "blueprint", session_id: session("s-1"), state: None);
    shows!(json(&team.mode_outcome(asked).unwrap().lifecycle_outcome) => is "finished");
}
