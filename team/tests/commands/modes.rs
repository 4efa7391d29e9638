//! Tests of starting modes: effects on active modes, and refusals.

use crate::mode_calls::{
    active, build, clear, complete, fields, kinds_of, recorded, session, show, start, update, write,
};
use crate::prelude::*;
use teamlog_team::mode::explain::ModeExplain;
use teamlog_team::mode::rules::transition::{self, Kind};

#[test]
fn every_reachable_set_meets_every_mode_in_every_scope_as_decided() {
    for set in transition::reachable() {
        for requested in Mode::ALL {
            let told = transition::decide(&set, requested, Review::Unknown);
            for (there, at) in [("", ""), ("s1", "s1"), ("", "s1"), ("s1", "")] {
                let (_, mut team) = demo();
                build(&mut team, &set, there);
                meet(&mut team, &told, there, at);
            }
        }
    }
}

fn meet(team: &mut Team, told: &transition::Transition, there: &str, at: &str) {
    let place = format!(
        "{:?} of {there:?} meets {} in {at:?}",
        told.current, told.requested
    );
    let mut outcome = None;
    let new = recorded(team, |team| outcome = Some(start(team, told.requested, at)));
    let outcome = outcome.unwrap();
    if told.kind == Kind::Deny {
        let refusal = refused(outcome, Code::ModeDenied);
        assert_eq!(kinds_of(&new), [""; 0], "{place}");
        assert_eq!(refusal.details["kind"], "deny", "{place}");
        for (field, modes) in [
            ("current", &told.current),
            ("resulting", &told.resulting),
            ("auto_completed", &told.auto_completed),
        ] {
            assert_eq!(refusal.details[field], json!(modes), "{place}");
        }
        assert_eq!(refusal.details["denial"], json!(told.denial), "{place}");
        assert_eq!(active(team, there), told.current, "{place}");
        return;
    }
    let answer = outcome.unwrap();
    let here = there == at || there.is_empty();
    assert!(answer.shown.active, "{place}");
    if here {
        assert_eq!(
            (answer.kind, &answer.active_modes),
            (told.kind, &told.resulting),
            "{place}"
        );
        assert_eq!(answer.auto_completed, told.auto_completed, "{place}");
        assert_eq!(
            answer.changed,
            !told.current.contains(&told.requested),
            "{place}"
        );
    } else {
        // The root had no active mode. The answer still contains the hand-off in the session.
        let kind = match told.kind {
            Kind::AutoComplete => Kind::AutoComplete,
            _ => Kind::Allow,
        };
        assert_eq!(
            (answer.kind, &answer.active_modes),
            (kind, &vec![told.requested]),
            "{place}"
        );
        assert_eq!(answer.auto_completed, told.auto_completed, "{place}");
    }
    if there != at && !told.current.contains(&told.requested) {
        assert_eq!(active(team, "s1"), told.resulting, "{place}");
    }
    let locks = told.requested == Mode::DeepInterview;
    let mut wanted = Vec::new();
    if told.kind == Kind::AutoComplete {
        wanted.extend(["mode_transitioned", "mode_auto_completed"]);
        let unlocks = told.auto_completed == [Mode::DeepInterview];
        wanted.extend(unlocks.then_some("mode_input_unlocked"));
        wanted.push("mode_skills_synced");
    } else if told.kind == Kind::Overlap && here {
        wanted.push("mode_transitioned");
    }
    if answer.changed {
        wanted.push("mode_started");
        wanted.extend(locks.then_some("mode_input_locked"));
    }
    assert_eq!(kinds_of(&new), wanted, "{place}");
}

#[test]
fn what_hands_over_is_completed_with_its_audit_in_one_group() {
    let (world, mut team) = demo();
    start(&mut team, Mode::Blueprint, "").unwrap();
    world.later(MINUTE);
    let new = recorded(&mut team, |team| {
        let answer = start(team, Mode::Team, "").unwrap();
        assert_eq!(
            answer.message.as_deref(),
            Some("mode transiting: blueprint -> team")
        );
        has!(answer.shown.state, {"transition_message": "mode transiting: blueprint -> team"});
        assert_eq!(answer.shown.path, "teams/demo/modes/team-state.json");
    });
    names!(kinds_of(&new) => mode_transitioned mode_auto_completed mode_skills_synced mode_started);
    assert_eq!(
        new[0]["payload"],
        json!({"mode": "team", "kind": "auto-complete", "current": ["blueprint"], "requested": "team",
            "resulting": ["team"], "auto_completed": ["blueprint"], "message": "mode transiting: blueprint -> team",
            "source": "startMode"})
    );
    assert_eq!(new[2]["payload"], json!({"skills": [], "metadata": {}}));
    let at = "2026-11-21T12:01:00.000000Z";
    assert_eq!(
        new[1]["payload"]["set"],
        json!({"active": false, "current_phase": "completed", "run_outcome": "finish", "lifecycle_outcome": "finished",
            "completed_at": at, "auto_completed_reason": "mode transiting: blueprint -> team",
            "completion_note": "blueprint was completed because team took over from it",
            "transition_source": "startMode", "transition_target_mode": "team"})
    );
    let blueprint = show(&mut team, Mode::Blueprint, "");
    assert_eq!(blueprint["active"], false);
    has!(blueprint, {"/state/started_at": NOON}, "what was known stays");
    settled_digest(&mut team);
}

#[test]
fn a_survivor_at_the_root_ends_with_the_state_of_the_session() {
    let (_, mut team) = demo();
    start(&mut team, Mode::Blueprint, "s1").unwrap();
    // The root gets its own state, as from a caller without a session.
    start(&mut team, Mode::Blueprint, "").unwrap();
    let new = recorded(&mut team, |team| {
        drop(start(team, Mode::Forge, "s1").unwrap())
    });
    names!(kinds_of(&new) => mode_transitioned mode_auto_completed mode_auto_completed
        mode_skills_synced mode_skills_synced mode_started);
    let sessions: Vec<&Value> = new.iter().map(|event| &event["session_id"]).collect();
    assert_eq!(
        sessions,
        [
            &json!("s1"),
            &json!("s1"),
            &Value::Null,
            &json!("s1"),
            &Value::Null,
            &json!("s1")
        ]
    );
    assert_eq!(active(&mut team, "s1"), [Mode::Forge]);
    assert_eq!(active(&mut team, ""), []);
    has!(show(&mut team, Mode::Blueprint, ""), {"current_phase": "completed"});
    has!(show(&mut team, Mode::Blueprint, "s1"), {"current_phase": "completed"});
}

#[test]
fn one_session_that_says_no_keeps_a_mode_from_the_root_and_those_that_hand_over_end() {
    let (_, mut team) = demo();
    start(&mut team, Mode::Blueprint, "s1").unwrap();
    start(&mut team, Mode::Ultraqa, "s2").unwrap();
    let new = recorded(&mut team, |team| {
        let refusal = refused(start(team, Mode::Team, ""), Code::ModeDenied);
        assert_eq!(refusal.details["session_id"], "s2");
        shows!(refusal.message => has "--mode ultraqa --team demo --session s2");
    });
    assert_eq!(kinds_of(&new), [""; 0], "also what hands over in s1 stays");
    complete(&mut team, Mode::Ultraqa, "s2").unwrap();
    let new = recorded(&mut team, |team| {
        let answer = start(team, Mode::Team, "").unwrap();
        assert_eq!(
            (answer.kind, answer.active_modes),
            (Kind::AutoComplete, vec![Mode::Team])
        );
        assert_eq!(answer.auto_completed, [Mode::Blueprint]);
        assert_eq!(
            answer.message.as_deref(),
            Some("mode transiting: blueprint -> team")
        );
        has!(answer.shown.state, {"transition_message": "mode transiting: blueprint -> team"});
    });
    names!(kinds_of(&new) => mode_transitioned mode_auto_completed mode_skills_synced mode_started);
    assert_eq!(new[1]["session_id"], "s1");
    assert_eq!(active(&mut team, "s1"), [Mode::Team], "of the root");
}

#[test]
fn conflicts_count_in_session_and_root_and_the_denial_says_where_to_clear() {
    let (_, mut team) = demo();
    start(&mut team, Mode::Forge, "").unwrap();
    start(&mut team, Mode::Team, "s1").unwrap();
    let set = json!({"current_phase": "executing"});
    write(&mut team, Mode::Forge, "s1", set).unwrap();
    let refusal = refused(start(&mut team, Mode::Blueprint, "s1"), Code::ModeDenied);
    assert_eq!(refusal.details["denial"], "rollback");
    has!(refusal.details, {"current": ["forge", "team"]}, "in the order of their activation");
    for part in [
        "Cannot start blueprint: forge and team are already active.",
        "Execution-to-planning rollback auto-complete is not allowed. First clear current state first and retry if this action is intended.",
        "`rcs state clear --mode team --team demo --session s1`",
        "`rcs state clear --mode forge --team demo --session s1`",
        "`rcs state clear --mode forge --team demo --root`",
        r#"`mcp__teamlog__state_clear {"mode":"team","team":"demo","session_id":"s1"}`"#,
    ] {
        assert!(refusal.message.contains(part), "{part}: {refusal}");
    }
    // Clearing the named mode resolves the conflict.
    clear(&mut team, Mode::Team, "s1");
    clear(&mut team, Mode::Forge, "s1");
    refused(start(&mut team, Mode::Blueprint, "s1"), Code::ModeDenied);
    clear(&mut team, Mode::Forge, "");
    start(&mut team, Mode::Blueprint, "s1").unwrap();
}

#[test]
fn a_review_that_is_clean_leaves_no_way_back_to_the_plan() {
    let clean = json!({"recommendation": "APPROVE", "architectural_status": "CLEAR"});
    let watch = json!({"recommendation": "APPROVE", "architectural_status": "WATCH"});
    let unsaid = json!({"recommendation": "APPROVE"});
    let findings =
        json!({"recommendation": "APPROVE", "architectural_status": "CLEAR", "clean": false});
    for (verdict, allowed) in [
        (&clean, false),
        (&watch, true),
        (&unsaid, true),
        (&findings, true),
        (&json!("APPROVE"), true),
        (&Value::Null, true),
    ] {
        for at in ["", "s1"] {
            for nested in [true, false] {
                let (_, mut team) = demo();
                start(&mut team, Mode::Autopilot, at).unwrap();
                let set = match nested {
                    true => json!({"state": {"review_verdict": verdict}}),
                    false => json!({"review_verdict": verdict}),
                };
                update(&mut team, Mode::Autopilot, at, set).unwrap();
                let outcome = start(&mut team, Mode::Blueprint, "s1");
                let place = format!("{verdict} {at:?} {nested}");
                match allowed {
                    true => assert_eq!(outcome.unwrap().kind, Kind::AutoComplete, "{place}"),
                    false => {
                        let refusal = refused(outcome, Code::ModeDenied);
                        assert_eq!(refusal.details["denial"], "rollback", "{place}");
                    }
                }
            }
        }
    }
}

#[test]
fn a_mode_that_is_active_already_is_answered_and_nothing_happens() {
    let (_, mut team) = demo();
    start(&mut team, Mode::Forge, "").unwrap();
    let set = json!({"current_phase": "executing"});
    update(&mut team, Mode::Forge, "", set).unwrap();
    for at in ["", "s1"] {
        let new = recorded(&mut team, |team| {
            let answer = start(team, Mode::Forge, at).unwrap();
            assert_eq!((answer.kind, answer.changed), (Kind::Allow, false));
            assert_eq!(answer.shown.current_phase.as_deref(), Some("executing"));
            assert_eq!(json(&answer)["scope"], "root");
        });
        assert_eq!(kinds_of(&new), [""; 0]);
    }
}

#[test]
fn a_start_takes_fields_and_replaces_an_old_state() {
    let (_, mut team) = demo();
    let begin = given!(ModeStart, mode: "forge", task_description: "mend it",
        current_phase: "Execute", max_iterations: 7,
        set: fields(json!({"lane": {"a": 1}, "seq": 9, "mode": "team", "updated_at": "x"})));
    let answer = json(&team.mode_start(begin).unwrap());
    assert_eq!(
        answer["state"],
        json!({"mode": "forge", "active": true, "current_phase": "executing", "forge_phase_normalized_from": "Execute",
            "iteration": 0, "max_iterations": 7, "started_at": NOON, "updated_at": answer["updated_at"],
            "run_outcome": "continue", "task_description": "mend it", "lane": {"a": 1}, "seq": 2, "schema_version": 1,
            "schemaVersion": "1.0.0"})
    );
    complete(&mut team, Mode::Forge, "").unwrap();
    let anew = start(&mut team, Mode::Forge, "").unwrap().shown.state;
    assert_eq!(
        (anew.get("lane"), &anew["max_iterations"]),
        (None, &json!(50))
    );
    assert_eq!(anew.get("completed_at"), None);
    assert_eq!(anew["current_phase"], "starting");
}

#[test]
fn a_start_that_breaks_a_rule_completes_nothing() {
    let (_, mut team) = demo();
    start(&mut team, Mode::Blueprint, "").unwrap();
    let new = recorded(&mut team, |team| {
        for set in [
            json!({"current_phase": "done"}),
            json!({"current_phase": "complete"}),
            json!({"iteration": -1}),
            json!({"run_outcome": "finish"}),
            json!({"lifecycle_outcome": "nonsense"}),
            json!({"deep": deep(70)}),
        ] {
            let begin = given!(ModeStart, mode: "forge", set: fields(set.clone()));
            refused(team.mode_start(begin), Code::InvalidInput);
        }
        let big = "x".repeat(256 << 10);
        refused(
            write(team, Mode::Forge, "", json!({"note": big})),
            Code::TooLarge,
        );
        for (mode, hint) in [
            ("crew", "use team"),
            ("Forge", "use forge"),
            ("skill-active", "one of"),
        ] {
            let begin = given!(ModeStart, mode);
            let refusal = refused(team.mode_start(begin), Code::UnsupportedMode);
            shows!(refusal.message => is format!("Unsupported workflow mode: {mode}"));
            assert!(refusal.hint.unwrap().starts_with(hint));
        }
        for evil in ["../x", "a.b", &"x".repeat(65), " "] {
            let refusal = refused(start(team, Mode::Forge, evil), Code::InvalidInput);
            assert_eq!(refusal.field.as_deref(), Some("session_id"));
        }
        let empty = given!(ModeStart, mode: "forge", session_id: String::new());
        refused(team.mode_start(empty), Code::InvalidInput);
    });
    assert_eq!(kinds_of(&new), [""; 0]);
    assert_eq!(active(&mut team, ""), [Mode::Blueprint]);
}

fn deep(levels: usize) -> Value {
    (0..levels).fold(json!(1), |inner, _| json!([inner]))
}

#[test]
fn whoever_starts_a_mode_at_the_root_is_told_what_that_completed_in_sessions() {
    let message = "mode transiting: blueprint -> team";
    let (_, mut team) = demo();
    start(&mut team, Mode::Blueprint, "s1").unwrap();
    let explained = team
        .mode_explain(given!(ModeExplain; mode: "team", session_id: None::<String>))
        .unwrap();
    assert_eq!(explained.kind, Kind::AutoComplete);
    assert_eq!(explained.auto_completed, [Mode::Blueprint]);
    assert_eq!(explained.message.as_deref(), Some(message));
    let prompt = given!(ModePrompt, text: "$team do it", session_id: session("s2"));
    let told = team.mode_prompt(prompt).unwrap();
    assert_eq!(told.auto_completed, [Mode::Blueprint]);
    assert_eq!(told.transition_messages, [message]);
    assert!(
        told.additional_context.contains(message),
        "{}",
        told.additional_context
    );
    let state = show(&mut team, Mode::Team, "")["state"].clone();
    assert_eq!(state["transition_message"], message);
    // Both operations that write a state tell the caller about the hand-off.
    for by_state in [false, true] {
        clear(&mut team, Mode::Team, "");
        start(&mut team, Mode::Blueprint, "s1").unwrap();
        let told = match by_state {
            false => write(&mut team, Mode::Team, "", json!({})).unwrap().message,
            true => {
                let write = given!(ModeWrite, mode: "team");
                team.state_write(write).unwrap().transition
            }
        };
        assert_eq!(told.as_deref(), Some(message));
        let state = show(&mut team, Mode::Team, "")["state"].clone();
        assert_eq!(state["transition_message"], message);
    }
}

#[test]
fn a_denial_names_each_session_that_is_in_the_way() {
    let (_, mut team) = demo();
    start(&mut team, Mode::Ultraqa, "s1").unwrap();
    start(&mut team, Mode::Autopilot, "-a").unwrap();
    let refusal = refused(start(&mut team, Mode::Forge, ""), Code::ModeDenied);
    for part in [
        "ultraqa",
        "autopilot",
        "`rcs state clear --mode ultraqa --team demo --session s1`",
        "`rcs state clear --mode autopilot --team demo --session=-a`",
        r#"`mcp__teamlog__state_clear {"mode":"autopilot","team":"demo","session_id":"-a"}`"#,
    ] {
        assert!(refusal.message.contains(part), "{part}: {refusal}");
    }
    assert_eq!(refusal.details["sessions"], json!(["-a", "s1"]));
    // The refusal of a prompt that starts a mode at the root names both sessions too.
    let prompt = given!(ModePrompt, text: "$team do it", session_id: session("s1"));
    let denied = refused(team.mode_prompt(prompt), Code::ModeDenied);
    for part in ["--session s1`", "--session=-a`"] {
        assert!(denied.message.contains(part), "{part}: {denied}");
    }
    // A refusal about one session names the session.
    let asked = given!(ModePrompt, text: "$blueprint x", session_id: session("s1"));
    let denied = refused(team.mode_prompt(asked), Code::ModeDenied);
    assert_eq!(denied.details["session_id"], "s1");
    let asked = given!(ModePrompt, text: "$autopilot $forge x", session_id: session("s3"));
    let denied = refused(team.mode_prompt(asked), Code::ModeDenied);
    assert_eq!(denied.details["session_id"], "s3");
    let opening = "Cannot activate forge: the same prompt asks for autopilot. Unsupported";
    assert!(denied.message.starts_with(opening), "{denied}");
    clear(&mut team, Mode::Ultraqa, "s1");
    clear(&mut team, Mode::Autopilot, "-a");
    start(&mut team, Mode::Forge, "").unwrap();
    // If the root blocks the start too, the refusal has no `session_id`.
    start(&mut team, Mode::Team, "s1").unwrap();
    let refusal = refused(start(&mut team, Mode::Autopilot, ""), Code::ModeDenied);
    for part in [
        "--mode team --team demo --session s1`",
        "--mode forge --team demo --root`",
    ] {
        assert!(refusal.message.contains(part), "{part}: {refusal}");
    }
    assert_eq!(refusal.details["sessions"], json!(["s1"]));
    assert_eq!(refusal.details.get("session_id"), None);
}
