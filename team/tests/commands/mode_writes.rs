//! Tests of writes to the states of modes, and of the events that they record.

use crate::mode_calls::{
    active, cancel, complete, fields, kinds_of, recorded, show, start, update, write,
};
use crate::prelude::*;
use teamlog_team::mode::rules::transition::Kind;

#[test]
fn an_update_changes_what_it_says_and_may_end_the_mode() {
    let (_, mut team) = demo();
    start(&mut team, Mode::Forge, "").unwrap();
    let new = recorded(&mut team, |team| {
        let change = given!(ModeUpdate, mode: "forge", current_phase: "verify", iteration: 3,
            set: fields(json!({"note": "n", "run_outcome": "continued"})));
        let answer = team.mode_update(change).unwrap();
        assert_eq!(answer.warnings.len(), 1, "{:?}", answer.warnings);
        assert!(answer.changed);
    });
    assert_eq!(
        new[0]["payload"],
        json!({"mode": "forge", "set": {"current_phase": "verifying", "forge_phase_normalized_from": "verify",
            "iteration": 3, "note": "n"}, "unset": []})
    );
    let same = recorded(&mut team, |team| {
        let answer = update(team, Mode::Forge, "", json!({"note": "n"})).unwrap();
        assert!(!answer.changed);
    });
    assert_eq!(same.len(), 0, "nothing is different");
    let take = |fields: &[&str]| given!(ModeUpdate, mode: "forge", unset: fields);
    let answer = team.mode_update(take(&["note", "nothing"])).unwrap();
    assert_eq!(answer.shown.state.get("note"), None);
    for kept in ["active", "mode", "updated_at"] {
        refused(team.mode_update(take(&[kept])), Code::InvalidInput);
    }
    for (set, kind, phase) in cases![
        ({"current_phase": "complete"}, "mode_completed", "complete"),
        ({"current_phase": "error"}, "mode_failed", "failed"),
        ({"lifecycle_outcome": "userinterlude"}, "mode_canceled", "starting"),
        ({"current_phase": "blocked_on_user"}, "mode_updated", "blocked_on_user"),
    ] {
        start(&mut team, Mode::Forge, "").unwrap();
        let new = recorded(&mut team, |team| {
            let answer = update(team, Mode::Forge, "", set.clone()).unwrap();
            assert!(
                !answer.shown.active && answer.active_modes.is_empty(),
                "{set}"
            );
            assert_eq!(answer.shown.current_phase.as_deref(), Some(phase), "{set}");
            assert_eq!(answer.shown.state["completed_at"], NOON, "{set}");
        });
        assert_eq!(kinds_of(&new), [kind], "{set}");
        if phase == "complete" {
            start(&mut team, Mode::Forge, "").unwrap();
            let refusal = refused(
                update(
                    &mut team,
                    Mode::Forge,
                    "",
                    json!({"active": true, "current_phase": "complete"}),
                ),
                Code::InvalidInput,
            );
            assert!(refusal.message.contains("active=false"), "{refusal}");
            cancel(&mut team, Mode::Forge, "").unwrap();
        }
    }
}

#[test]
fn a_write_makes_active_what_it_does_not_end_by_the_same_rules() {
    let (_, mut team) = demo();
    start(&mut team, Mode::Blueprint, "s1").unwrap();
    let new = recorded(&mut team, |team| {
        let answer = write(team, Mode::Forge, "s1", json!({"note": 1})).unwrap();
        assert_eq!(
            (answer.kind, answer.shown.active),
            (Kind::AutoComplete, true)
        );
        has!(answer.shown.state, {"run_outcome": "continue", "current_phase": "starting"});
    });
    assert_eq!(kinds_of(&new).last(), Some(&"mode_started"));
    has!(new[1], {"/payload/set/transition_source": "state-operations"});
    let new = recorded(&mut team, |team| {
        let refusal = refused(
            write(team, Mode::Autopilot, "s1", json!({})),
            Code::ModeDenied,
        );
        shows!(refusal.message => starts "Cannot write autopilot: forge is already active.");
        refused(
            write(
                team,
                Mode::Autopilot,
                "s1",
                json!({"active": false, "run_outcome": "continue"}),
            ),
            Code::InvalidInput,
        );
        let set = json!({"active": false, "k": 1});
        let over = write(team, Mode::Autopilot, "s1", set).unwrap();
        assert_eq!(over.shown.state["run_outcome"], "finish");
    });
    assert_eq!(
        kinds_of(&new),
        ["mode_updated"],
        "what is not active meets nobody"
    );
    assert_eq!(active(&mut team, "s1"), [Mode::Forge]);
    let set = json!({"current_phase": "complete"});
    let done = write(&mut team, Mode::Forge, "s1", set).unwrap();
    assert!(!done.shown.active);
    assert_eq!(
        kinds(&mut team).last().map(String::as_str),
        Some("mode_completed")
    );
    let beside = given!(ModeWrite, mode: "forge", fields: fields(json!({"a": 1, "b": 1})),
        state: fields(json!({"b": 2})));
    let state = team.mode_write(beside).unwrap().shown.state;
    assert_eq!((&state["a"], &state["b"]), (&json!(1), &json!(2)));
}

#[test]
fn a_note_on_a_state_that_is_over_leaves_its_outcome_and_a_resumption_begins_anew() {
    for (outcome, run) in [
        ("failed", "failed"),
        ("blocked", "blocked_on_user"),
        ("userinterlude", "cancelled"),
        ("askuserQuestion", "blocked_on_user"),
        ("finished", "finish"),
    ] {
        let (_, mut team) = demo();
        start(&mut team, Mode::Ultraqa, "s1").unwrap();
        let ended = json!({"lifecycle_outcome": outcome});
        update(&mut team, Mode::Ultraqa, "s1", ended).unwrap();
        let noted = write(&mut team, Mode::Ultraqa, "s1", json!({"note": 1})).unwrap();
        let state = &noted.shown.state;
        has!(state, {"lifecycle_outcome": outcome, "run_outcome": run, "active": false});
    }
    for mode in Mode::ALL {
        let (_, mut team) = demo();
        start(&mut team, mode, "").unwrap();
        complete(&mut team, mode, "").unwrap();
        let again = write(&mut team, mode, "", json!({"active": true})).unwrap();
        assert!(again.shown.active);
        assert_eq!(again.shown.current_phase.as_deref(), Some("starting"));
    }
}

#[test]
fn events_of_a_mode_belong_to_its_session_and_story_and_a_key_counts_once() {
    let (_, mut team) = demo();
    let control = |key: &str, trace: Option<&str>| {
        given!(Control, operation: "mode-start", request: key.as_bytes().to_vec(), key,
            trace_id: trace, actor: "dev")
    };
    team.under(control("k1", Some("tr_1")));
    let first = start(&mut team, Mode::Blueprint, "s1").unwrap();
    let again = start(&mut team, Mode::Blueprint, "s1").unwrap();
    assert_eq!(first, again);
    assert!(again.changed, "the first answer");
    team.under(Control::default());
    update(&mut team, Mode::Blueprint, "s1", json!({"note": 1})).unwrap();
    let new = recorded(&mut team, |team| {
        drop(start(team, Mode::Team, "s1").unwrap())
    });
    for event in events(&mut team)[1..]
        .iter()
        .filter(|event| event["kind"] != "response_stored")
    {
        assert_eq!(event["session_id"], "s1", "{event}");
    }
    let story = |event: &Value| event["trace_id"].clone();
    assert_eq!(story(&events(&mut team)[3]), "tr_1", "of the update");
    for event in &new[..3] {
        assert_eq!(story(event), "tr_1", "of what handed over");
    }
    assert_eq!(story(&new[3]), Value::Null, "a new state, another story");
    let by: Vec<Value> = events(&mut team)[1..3]
        .iter()
        .map(|event| event["actor"].clone())
        .collect();
    assert_eq!(by[0], "dev");
}

#[test]
fn a_closed_team_takes_no_mode_and_shows_them_all() {
    let (_, mut team) = demo();
    start(&mut team, Mode::Forge, "").unwrap();
    let forced = serde_json::from_value(json!({"force": true})).unwrap();
    team.cleanup(forced).unwrap();
    for outcome in [
        start(&mut team, Mode::Team, ""),
        complete(&mut team, Mode::Forge, ""),
        write(&mut team, Mode::Forge, "", json!({})),
    ] {
        refused(outcome, Code::TeamClosed);
    }
    let ended = show(&mut team, Mode::Forge, "");
    has!(ended, {"active": false, "current_phase": "cancelled"});
    assert!(matches!(
        team.mode_show(ModeShow { mode: "team".into(), session_id: None }),
        Err(Failure::Refused(refusal)) if refusal.code == Code::ModeNotFound
    ));
}
