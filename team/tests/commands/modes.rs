//! Modes: what a start does to those that are active, how a mode ends, and what is refused.

use crate::world::{MINUTE, NOON, World, events, json, kinds, refused, settled_digest};
use serde_json::{Map, Value, json};
use teamlog_team::act::Control;
use teamlog_team::command::mode_clear::ModeClear;
use teamlog_team::command::mode_end::{ModeCancel, ModeComplete, ModeFail};
use teamlog_team::command::mode_explain::ModeExplain;
use teamlog_team::command::mode_prompt::ModePrompt;
use teamlog_team::command::mode_show::{ModeList, ModeShow};
use teamlog_team::command::mode_start::ModeStart;
use teamlog_team::command::mode_write::{ModeUpdate, ModeWrite};
use teamlog_team::modes::shown::ModeAnswer;
use teamlog_team::modes::transition::{self, Kind, Review};
use teamlog_team::projections::modes::Mode;
use teamlog_team::{Code, Failure, Result, Team};

pub fn fields(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        other => panic!("{other} is no object"),
    }
}

pub fn session(session: &str) -> Option<String> {
    (!session.is_empty()).then(|| session.to_owned())
}

/// Starts a mode; `""` is the root.
pub fn start(team: &mut Team, mode: Mode, at: &str) -> Result<ModeAnswer> {
    team.mode_start(ModeStart {
        mode: mode.name().into(),
        session_id: session(at),
        ..ModeStart::default()
    })
}

pub fn write(team: &mut Team, mode: Mode, at: &str, state: Value) -> Result<ModeAnswer> {
    team.mode_write(ModeWrite {
        mode: mode.name().into(),
        session_id: session(at),
        state: Some(fields(state)),
        ..ModeWrite::default()
    })
}

pub fn update(team: &mut Team, mode: Mode, at: &str, set: Value) -> Result<ModeAnswer> {
    team.mode_update(ModeUpdate {
        mode: mode.name().into(),
        session_id: session(at),
        set: Some(fields(set)),
        ..ModeUpdate::default()
    })
}

pub fn complete(team: &mut Team, mode: Mode, at: &str) -> Result<ModeAnswer> {
    team.mode_complete(ModeComplete {
        mode: mode.name().into(),
        session_id: session(at),
        note: None,
    })
}

fn cancel(team: &mut Team, mode: Mode, at: &str) -> Result<ModeAnswer> {
    team.mode_cancel(ModeCancel {
        mode: mode.name().into(),
        session_id: session(at),
        reason: None,
    })
}

pub fn cancel_or_complete(team: &mut Team, mode: Mode, at: &str, done: bool) -> Result<ModeAnswer> {
    match done {
        true => complete(team, mode, at),
        false => cancel(team, mode, at),
    }
}

pub fn clear(team: &mut Team, mode: Mode, at: &str) -> Value {
    let clear = ModeClear {
        mode: mode.name().into(),
        session_id: session(at),
        all_sessions: false,
    };
    json(&team.mode_clear(clear).unwrap())
}

pub fn show(team: &mut Team, mode: Mode, at: &str) -> Value {
    let show = ModeShow {
        mode: mode.name().into(),
        session_id: session(at),
    };
    json(&team.mode_show(show).unwrap())["mode"].clone()
}

pub fn active(team: &mut Team, at: &str) -> Vec<Mode> {
    let list = ModeList {
        session_id: session(at),
        ..ModeList::default()
    };
    team.mode_list(list).unwrap().active_modes
}

/// What a command recorded.
pub fn recorded(team: &mut Team, command: impl FnOnce(&mut Team)) -> Vec<Value> {
    let before = events(team).len();
    command(team);
    events(team).split_off(before)
}

fn kinds_of(events: &[Value]) -> Vec<&str> {
    events
        .iter()
        .map(|event| event["kind"].as_str().unwrap())
        .collect()
}

/// Starts a set of modes that go together.
fn build(team: &mut Team, set: &[Mode], at: &str) {
    for mode in set {
        start(team, *mode, at).unwrap();
    }
}

#[test]
fn every_reachable_set_meets_every_mode_in_every_scope_as_decided() {
    for set in transition::reachable() {
        for requested in Mode::ALL {
            let told = transition::decide(&set, requested, Review::Unknown);
            for (there, at) in [("", ""), ("s1", "s1"), ("", "s1"), ("s1", "")] {
                let world = World::new();
                let mut team = world.demo();
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
        // The root itself had nothing; what hands over in the session is told all the same.
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
    let world = World::new();
    let mut team = world.demo();
    start(&mut team, Mode::Blueprint, "").unwrap();
    world.later(MINUTE);
    let new = recorded(&mut team, |team| {
        let answer = start(team, Mode::Team, "").unwrap();
        assert_eq!(
            answer.message.as_deref(),
            Some("mode transiting: blueprint -> team")
        );
        assert_eq!(
            answer.shown.state["transition_message"],
            "mode transiting: blueprint -> team"
        );
        assert_eq!(answer.shown.path, "teams/demo/modes/team-state.json");
    });
    assert_eq!(
        kinds_of(&new),
        [
            "mode_transitioned",
            "mode_auto_completed",
            "mode_skills_synced",
            "mode_started"
        ]
    );
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
    assert_eq!(
        blueprint["state"]["started_at"], NOON,
        "what was known stays"
    );
    settled_digest(&mut team);
}

#[test]
fn a_survivor_at_the_root_ends_with_the_state_of_the_session() {
    let world = World::new();
    let mut team = world.demo();
    start(&mut team, Mode::Blueprint, "s1").unwrap();
    // The root gets a copy, as by a caller without a session.
    start(&mut team, Mode::Blueprint, "").unwrap();
    let new = recorded(&mut team, |team| {
        drop(start(team, Mode::Forge, "s1").unwrap())
    });
    assert_eq!(
        kinds_of(&new),
        [
            "mode_transitioned",
            "mode_auto_completed",
            "mode_auto_completed",
            "mode_skills_synced",
            "mode_skills_synced",
            "mode_started"
        ]
    );
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
    assert_eq!(
        show(&mut team, Mode::Blueprint, "")["current_phase"],
        "completed"
    );
    assert_eq!(
        show(&mut team, Mode::Blueprint, "s1")["current_phase"],
        "completed"
    );
}

#[test]
fn one_session_that_says_no_keeps_a_mode_from_the_root_and_those_that_hand_over_end() {
    let world = World::new();
    let mut team = world.demo();
    start(&mut team, Mode::Blueprint, "s1").unwrap();
    start(&mut team, Mode::Ultraqa, "s2").unwrap();
    let new = recorded(&mut team, |team| {
        let refusal = refused(start(team, Mode::Team, ""), Code::ModeDenied);
        assert_eq!(refusal.details["session_id"], "s2");
        assert!(
            refusal
                .message
                .contains("--mode ultraqa --team demo --session s2"),
            "{refusal}"
        );
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
        assert_eq!(
            answer.shown.state["transition_message"],
            "mode transiting: blueprint -> team"
        );
    });
    assert_eq!(
        kinds_of(&new),
        [
            "mode_transitioned",
            "mode_auto_completed",
            "mode_skills_synced",
            "mode_started"
        ]
    );
    assert_eq!(new[1]["session_id"], "s1");
    assert_eq!(active(&mut team, "s1"), [Mode::Team], "of the root");
}

#[test]
fn conflicts_count_in_session_and_root_and_the_denial_says_where_to_clear() {
    let world = World::new();
    let mut team = world.demo();
    start(&mut team, Mode::Forge, "").unwrap();
    start(&mut team, Mode::Team, "s1").unwrap();
    write(
        &mut team,
        Mode::Forge,
        "s1",
        json!({"current_phase": "executing"}),
    )
    .unwrap();
    let refusal = refused(start(&mut team, Mode::Blueprint, "s1"), Code::ModeDenied);
    assert_eq!(refusal.details["denial"], "rollback");
    assert_eq!(
        refusal.details["current"],
        json!(["forge", "team"]),
        "in the order of their activation"
    );
    for part in [
        "Cannot start blueprint: forge and team are already active.",
        "Execution-to-planning rollback auto-complete is not allowed. First clear current state first and retry if this action is intended.",
        "`rcs state clear --mode team --team demo --session s1`",
        "`rcs state clear --mode forge --team demo --session s1`",
        "`rcs state clear --mode forge --team demo --root`",
        r#"`rcs_state.state_clear {"mode":"team","team":"demo","session_id":"s1"}`"#,
    ] {
        assert!(refusal.message.contains(part), "{part}: {refusal}");
    }
    // Clearing what it names is enough.
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
                let world = World::new();
                let mut team = world.demo();
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
    let world = World::new();
    let mut team = world.demo();
    start(&mut team, Mode::Forge, "").unwrap();
    update(
        &mut team,
        Mode::Forge,
        "",
        json!({"current_phase": "executing"}),
    )
    .unwrap();
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
    let world = World::new();
    let mut team = world.demo();
    let begin = ModeStart {
        mode: "forge".into(),
        task_description: Some("mend it".into()),
        current_phase: Some("Execute".into()),
        max_iterations: Some(7),
        set: Some(fields(
            json!({"lane": {"a": 1}, "seq": 9, "mode": "team", "updated_at": "x"}),
        )),
        ..ModeStart::default()
    };
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
    let world = World::new();
    let mut team = world.demo();
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
            let begin = ModeStart {
                mode: "forge".into(),
                set: Some(fields(set.clone())),
                ..ModeStart::default()
            };
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
            let begin = ModeStart {
                mode: mode.into(),
                ..ModeStart::default()
            };
            let refusal = refused(team.mode_start(begin), Code::UnsupportedMode);
            assert_eq!(
                refusal.message,
                format!("Unsupported workflow mode: {mode}")
            );
            assert!(refusal.hint.unwrap().starts_with(hint));
        }
        for evil in ["../x", "a.b", &"x".repeat(65), " "] {
            let refusal = refused(start(team, Mode::Forge, evil), Code::InvalidInput);
            assert_eq!(refusal.field.as_deref(), Some("session_id"));
        }
        let empty = ModeStart {
            mode: "forge".into(),
            session_id: Some(String::new()),
            ..ModeStart::default()
        };
        refused(team.mode_start(empty), Code::InvalidInput);
    });
    assert_eq!(kinds_of(&new), [""; 0]);
    assert_eq!(active(&mut team, ""), [Mode::Blueprint]);
}

fn deep(levels: usize) -> Value {
    (0..levels).fold(json!(1), |inner, _| json!([inner]))
}

#[test]
fn each_way_to_end_says_so_in_every_field() {
    for (mode, phase) in [
        (Mode::Ultraqa, "complete"),
        (Mode::DeepInterview, "completed"),
    ] {
        let world = World::new();
        let mut team = world.demo();
        start(&mut team, mode, "s1").unwrap();
        let done = team
            .mode_complete(ModeComplete {
                mode: mode.name().into(),
                session_id: session("s1"),
                note: Some("all green".into()),
            })
            .unwrap();
        let state = &done.shown.state;
        assert_eq!(done.active_modes, []);
        assert_eq!(
            [
                &state["active"],
                &state["current_phase"],
                &state["run_outcome"],
                &state["lifecycle_outcome"],
                &state["completed_at"],
                &state["completion_note"]
            ],
            [
                &json!(false),
                &json!(phase),
                &json!("finish"),
                &json!("finished"),
                &json!(NOON),
                &json!("all green")
            ]
        );
    }
    let world = World::new();
    let mut team = world.demo();
    start(&mut team, Mode::Team, "").unwrap();
    let blank = ModeFail {
        mode: "team".into(),
        session_id: None,
        error: " ".into(),
    };
    refused(team.mode_fail(blank.clone()), Code::InvalidInput);
    let failed = team
        .mode_fail(ModeFail {
            error: "no workers".into(),
            ..blank
        })
        .unwrap();
    let state = &failed.shown.state;
    assert_eq!(
        [
            &state["current_phase"],
            &state["run_outcome"],
            &state["lifecycle_outcome"],
            &state["error"]
        ],
        [
            &json!("failed"),
            &json!("failed"),
            &json!("failed"),
            &json!("no workers")
        ]
    );
    start(&mut team, Mode::Team, "").unwrap();
    let canceled = cancel(&mut team, Mode::Team, "").unwrap();
    let state = &canceled.shown.state;
    assert_eq!(
        [
            &state["current_phase"],
            &state["run_outcome"],
            &state["lifecycle_outcome"]
        ],
        [
            &json!("cancelled"),
            &json!("cancelled"),
            &json!("userinterlude")
        ]
    );
    assert_eq!(state.get("error"), None, "of a state before");
    let kinds = kinds(&mut team);
    assert_eq!(
        kinds[1..],
        [
            "mode_started",
            "mode_failed",
            "mode_started",
            "mode_canceled"
        ]
    );
}

#[test]
fn what_is_not_active_neither_ends_nor_changes() {
    let world = World::new();
    let mut team = world.demo();
    start(&mut team, Mode::Forge, "").unwrap();
    complete(&mut team, Mode::Forge, "").unwrap();
    let new = recorded(&mut team, |team| {
        for at in ["", "s1"] {
            for mode in [Mode::Forge, Mode::Team] {
                for outcome in [
                    complete(team, mode, at),
                    cancel(team, mode, at),
                    update(team, mode, at, json!({"iteration": 1})),
                ] {
                    let refusal = refused(outcome, Code::ModeNotActive);
                    let hint = refusal.hint.unwrap();
                    assert!(
                        hint.starts_with(&format!("teamlog mode start demo {mode}")),
                        "{hint}"
                    );
                }
            }
        }
    });
    assert_eq!(kinds_of(&new), [""; 0]);
}

#[test]
fn who_acts_in_a_session_changes_its_state_else_that_of_the_root() {
    let world = World::new();
    let mut team = world.demo();
    start(&mut team, Mode::Team, "").unwrap();
    let answer = json(&update(&mut team, Mode::Team, "s1", json!({"iteration": 2})).unwrap());
    assert_eq!(
        (&answer["scope"], &answer["state"]["iteration"]),
        (&json!("root"), &json!(2))
    );
    write(&mut team, Mode::Team, "s1", json!({"active": false})).unwrap();
    // The session has a state of its own by now, which is over.
    refused(complete(&mut team, Mode::Team, "s1"), Code::ModeNotActive);
    assert_eq!(
        active(&mut team, "s1"),
        [Mode::Team],
        "for conflicts the root counts"
    );
    assert_eq!(
        json(&complete(&mut team, Mode::Team, "").unwrap())["scope"],
        "root"
    );
}

#[test]
fn canceling_forge_takes_the_ultrawork_along_that_it_is_linked_to() {
    for linked in [true, false] {
        let world = World::new();
        let mut team = world.demo();
        start(&mut team, Mode::Ultrawork, "s2").unwrap();
        start(&mut team, Mode::Ultrawork, "s1").unwrap();
        start(&mut team, Mode::Forge, "s1").unwrap();
        update(
            &mut team,
            Mode::Forge,
            "s1",
            json!({"linked_ultrawork": linked}),
        )
        .unwrap();
        let new = recorded(&mut team, |team| {
            drop(cancel(team, Mode::Forge, "s1").unwrap())
        });
        assert_eq!(new.len(), 1 + usize::from(linked));
        let left = if linked {
            vec![]
        } else {
            vec![Mode::Ultrawork]
        };
        assert_eq!(active(&mut team, "s1"), left);
        assert_eq!(
            active(&mut team, "s2"),
            [Mode::Ultrawork],
            "another session"
        );
        if linked {
            assert_eq!(new[1]["payload"]["set"]["current_phase"], "cancelled");
        }
    }
}

#[test]
fn an_interview_locks_input_until_it_ends_and_its_question_ends_with_it() {
    type End = fn(&mut Team);
    let ends: [(&str, &str, &str, End); 5] = [
        ("success", "satisfied", "mode_completed", |team| {
            drop(complete(team, Mode::DeepInterview, "s1").unwrap());
        }),
        ("abort", "cleared", "mode_canceled", |team| {
            drop(cancel(team, Mode::DeepInterview, "s1").unwrap());
        }),
        ("error", "cleared", "mode_failed", |team| {
            let fail = ModeFail {
                mode: "deep-interview".into(),
                session_id: session("s1"),
                error: "gone".into(),
            };
            drop(team.mode_fail(fail).unwrap());
        }),
        ("handoff", "cleared", "mode_auto_completed", |team| {
            drop(start(team, Mode::Blueprint, "s1").unwrap());
        }),
        ("abort", "cleared", "mode_canceled", |team| {
            let set = json!({"run_outcome": "cancelled"});
            drop(update(team, Mode::DeepInterview, "s1", set).unwrap());
        }),
    ];
    for (exit, status, kind, end) in ends {
        let world = World::new();
        let mut team = world.demo();
        let begun = start(&mut team, Mode::DeepInterview, "s1").unwrap();
        let lock = &begun.shown.state["input_lock"];
        assert_eq!(
            (&lock["active"], &lock["acquired_at"]),
            (&json!(true), &json!(NOON))
        );
        assert_eq!(lock["blocked_inputs"].as_array().unwrap().len(), 8);
        let question = json!({"obligation_id": "q1", "status": "pending"});
        // Asked beside it, so that it stays active.
        let set =
            json!({"active": true, "run_outcome": "continue", "question_enforcement": question});
        update(&mut team, Mode::DeepInterview, "s1", set).unwrap();
        world.later(MINUTE);
        let new = recorded(&mut team, end);
        let kinds = kinds_of(&new);
        let ended = kinds.iter().position(|other| *other == kind).unwrap();
        assert_eq!(kinds[ended + 1], "mode_input_unlocked", "{kinds:?}");
        let over = show(&mut team, Mode::DeepInterview, "s1")["state"].clone();
        let at = "2026-11-21T12:01:00.000000Z";
        assert_eq!(
            [
                &over["input_lock"]["active"],
                &over["input_lock"]["exit_reason"],
                &over["input_lock"]["released_at"]
            ],
            [&json!(false), &json!(exit), &json!(at)]
        );
        assert_eq!(over["question_enforcement"]["status"], status);
        let why = &over["question_enforcement"]["clear_reason"];
        assert_eq!(*why == json!(exit), status == "cleared", "{why}");
    }
}

#[test]
fn an_update_changes_what_it_says_and_may_end_the_mode() {
    let world = World::new();
    let mut team = world.demo();
    start(&mut team, Mode::Forge, "").unwrap();
    let new = recorded(&mut team, |team| {
        let change = ModeUpdate {
            mode: "forge".into(),
            current_phase: Some("verify".into()),
            iteration: Some(3),
            set: Some(fields(json!({"note": "n", "run_outcome": "continued"}))),
            ..ModeUpdate::default()
        };
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
    let take = |fields: &[&str]| ModeUpdate {
        mode: "forge".into(),
        unset: Some(fields.iter().map(|field| (*field).to_owned()).collect()),
        ..ModeUpdate::default()
    };
    let answer = team.mode_update(take(&["note", "nothing"])).unwrap();
    assert_eq!(answer.shown.state.get("note"), None);
    for kept in ["active", "mode", "updated_at"] {
        refused(team.mode_update(take(&[kept])), Code::InvalidInput);
    }
    for (set, kind, phase) in [
        (
            json!({"current_phase": "complete"}),
            "mode_completed",
            "complete",
        ),
        (json!({"current_phase": "error"}), "mode_failed", "failed"),
        (
            json!({"lifecycle_outcome": "userinterlude"}),
            "mode_canceled",
            "starting",
        ),
        (
            json!({"current_phase": "blocked_on_user"}),
            "mode_updated",
            "blocked_on_user",
        ),
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
    let world = World::new();
    let mut team = world.demo();
    start(&mut team, Mode::Blueprint, "s1").unwrap();
    let new = recorded(&mut team, |team| {
        let answer = write(team, Mode::Forge, "s1", json!({"note": 1})).unwrap();
        assert_eq!(
            (answer.kind, answer.shown.active),
            (Kind::AutoComplete, true)
        );
        assert_eq!(answer.shown.state["run_outcome"], "continue");
        assert_eq!(answer.shown.state["current_phase"], "starting");
    });
    assert_eq!(kinds_of(&new).last(), Some(&"mode_started"));
    assert_eq!(
        new[1]["payload"]["set"]["transition_source"],
        "state-operations"
    );
    let new = recorded(&mut team, |team| {
        let refusal = refused(
            write(team, Mode::Autopilot, "s1", json!({})),
            Code::ModeDenied,
        );
        assert!(
            refusal
                .message
                .starts_with("Cannot write autopilot: forge is already active."),
            "{refusal}"
        );
        refused(
            write(
                team,
                Mode::Autopilot,
                "s1",
                json!({"active": false, "run_outcome": "continue"}),
            ),
            Code::InvalidInput,
        );
        let over = write(
            team,
            Mode::Autopilot,
            "s1",
            json!({"active": false, "k": 1}),
        )
        .unwrap();
        assert_eq!(over.shown.state["run_outcome"], "finish");
    });
    assert_eq!(
        kinds_of(&new),
        ["mode_updated"],
        "what is not active meets nobody"
    );
    assert_eq!(active(&mut team, "s1"), [Mode::Forge]);
    let done = write(
        &mut team,
        Mode::Forge,
        "s1",
        json!({"current_phase": "complete"}),
    )
    .unwrap();
    assert!(!done.shown.active);
    assert_eq!(
        kinds(&mut team).last().map(String::as_str),
        Some("mode_completed")
    );
    let beside = ModeWrite {
        mode: "forge".into(),
        fields: fields(json!({"a": 1, "b": 1})),
        state: Some(fields(json!({"b": 2}))),
        ..ModeWrite::default()
    };
    let state = team.mode_write(beside).unwrap().shown.state;
    assert_eq!((&state["a"], &state["b"]), (&json!(1), &json!(2)));
}

#[test]
fn events_of_a_mode_belong_to_its_session_and_story_and_a_key_counts_once() {
    let world = World::new();
    let mut team = world.demo();
    let control = |key: &str, trace: Option<&str>| Control {
        operation: "mode-start".into(),
        request: key.as_bytes().to_vec(),
        key: Some(key.into()),
        trace_id: trace.map(str::to_owned),
        actor: Some("dev".into()),
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
    let world = World::new();
    let mut team = world.demo();
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
    assert_eq!(show(&mut team, Mode::Forge, "")["active"], true);
    assert!(matches!(
        team.mode_show(ModeShow { mode: "team".into(), session_id: None }),
        Err(Failure::Refused(refusal)) if refusal.code == Code::ModeNotFound
    ));
}

#[test]
fn whoever_starts_a_mode_at_the_root_is_told_what_that_completed_in_sessions() {
    let message = "mode transiting: blueprint -> team";
    let world = World::new();
    let mut team = world.demo();
    start(&mut team, Mode::Blueprint, "s1").unwrap();
    let explained = team
        .mode_explain(ModeExplain {
            mode: "team".into(),
            session_id: None,
        })
        .unwrap();
    assert_eq!(explained.kind, Kind::AutoComplete);
    assert_eq!(explained.auto_completed, [Mode::Blueprint]);
    assert_eq!(explained.message.as_deref(), Some(message));
    let prompt = ModePrompt {
        text: "$team do it".into(),
        session_id: session("s2"),
        ..ModePrompt::default()
    };
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
    // A write says so as well, by either name.
    for by_state in [false, true] {
        clear(&mut team, Mode::Team, "");
        start(&mut team, Mode::Blueprint, "s1").unwrap();
        let told = match by_state {
            false => write(&mut team, Mode::Team, "", json!({})).unwrap().message,
            true => {
                let write = ModeWrite {
                    mode: "team".into(),
                    ..ModeWrite::default()
                };
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
    let world = World::new();
    let mut team = world.demo();
    start(&mut team, Mode::Ultraqa, "s1").unwrap();
    start(&mut team, Mode::Autopilot, "-a").unwrap();
    let refusal = refused(start(&mut team, Mode::Forge, ""), Code::ModeDenied);
    for part in [
        "ultraqa",
        "autopilot",
        "`rcs state clear --mode ultraqa --team demo --session s1`",
        "`rcs state clear --mode autopilot --team demo --session=-a`",
        r#"`rcs_state.state_clear {"mode":"autopilot","team":"demo","session_id":"-a"}`"#,
    ] {
        assert!(refusal.message.contains(part), "{part}: {refusal}");
    }
    assert_eq!(refusal.details["sessions"], json!(["-a", "s1"]));
    // A prompt that starts for everybody says the same.
    let prompt = ModePrompt {
        text: "$team do it".into(),
        session_id: session("s1"),
        ..ModePrompt::default()
    };
    let denied = refused(team.mode_prompt(prompt), Code::ModeDenied);
    for part in ["--session s1`", "--session=-a`"] {
        assert!(denied.message.contains(part), "{part}: {denied}");
    }
    // In one session the refusal says which.
    let asked = ModePrompt {
        text: "$blueprint x".into(),
        session_id: session("s1"),
        ..ModePrompt::default()
    };
    let denied = refused(team.mode_prompt(asked), Code::ModeDenied);
    assert_eq!(denied.details["session_id"], "s1");
    let asked = ModePrompt {
        text: "$autopilot $forge x".into(),
        session_id: session("s3"),
        ..ModePrompt::default()
    };
    let denied = refused(team.mode_prompt(asked), Code::ModeDenied);
    assert_eq!(denied.details["session_id"], "s3");
    let opening = "Cannot activate forge: the same prompt asks for autopilot. Unsupported";
    assert!(denied.message.starts_with(opening), "{denied}");
    clear(&mut team, Mode::Ultraqa, "s1");
    clear(&mut team, Mode::Autopilot, "-a");
    start(&mut team, Mode::Forge, "").unwrap();
    // Where the root is in the way, it is no single session that is.
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

#[test]
fn an_interview_that_waits_for_its_answer_keeps_its_lock_until_another_mode_takes_over() {
    let prompt = |team: &mut Team, text: &str| {
        let prompt = ModePrompt {
            text: text.into(),
            session_id: session("s1"),
            ..ModePrompt::default()
        };
        team.mode_prompt(prompt).unwrap()
    };
    for (exit, take) in [
        ("handoff", "start"),
        ("handoff", "$forge x"),
        ("abort", "$cancel"),
    ] {
        let world = World::new();
        let mut team = world.demo();
        start(&mut team, Mode::DeepInterview, "s1").unwrap();
        let question = json!({"obligation_id": "q1", "status": "pending"});
        let set = json!({"question_enforcement": question});
        update(&mut team, Mode::DeepInterview, "s1", set).unwrap();
        assert_eq!(active(&mut team, "s1"), []);
        let told = prompt(&mut team, "yes");
        assert_eq!(told.blocked_input.as_deref(), Some("yes"));
        // What goes with everything takes nothing over.
        start(&mut team, Mode::Ultrawork, "s1").unwrap();
        let told = prompt(&mut team, "yes");
        assert_eq!(told.blocked_input.as_deref(), Some("yes"));
        match take {
            "start" => drop(start(&mut team, Mode::Blueprint, "s1").unwrap()),
            text => drop(prompt(&mut team, text)),
        }
        let state = show(&mut team, Mode::DeepInterview, "s1")["state"].clone();
        assert_eq!(state["input_lock"]["active"], false, "{take}");
        assert_eq!(state["input_lock"]["exit_reason"], exit, "{take}");
        assert_eq!(state["question_enforcement"]["status"], "cleared");
        assert_eq!(state["question_enforcement"]["clear_reason"], exit);
        if exit == "abort" {
            assert_eq!(state["current_phase"], "completing");
            assert_eq!(state["lifecycle_outcome"], "userinterlude");
        }
        assert_eq!(prompt(&mut team, "yes").blocked_input, None);
    }
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
        let world = World::new();
        let mut team = world.demo();
        start(&mut team, Mode::Ultraqa, "s1").unwrap();
        let ended = json!({"lifecycle_outcome": outcome});
        update(&mut team, Mode::Ultraqa, "s1", ended).unwrap();
        let noted = write(&mut team, Mode::Ultraqa, "s1", json!({"note": 1})).unwrap();
        let state = &noted.shown.state;
        assert_eq!(state["lifecycle_outcome"], outcome);
        assert_eq!(state["run_outcome"], run);
        assert_eq!(state["active"], false);
    }
    for mode in Mode::ALL {
        let world = World::new();
        let mut team = world.demo();
        start(&mut team, mode, "").unwrap();
        complete(&mut team, mode, "").unwrap();
        let again = write(&mut team, mode, "", json!({"active": true})).unwrap();
        assert!(again.shown.active);
        assert_eq!(again.shown.current_phase.as_deref(), Some("starting"));
    }
}

#[test]
fn forge_takes_its_ultrawork_along_however_it_is_canceled() {
    for by in ["update", "write"] {
        let world = World::new();
        let mut team = world.demo();
        start(&mut team, Mode::Forge, "s1").unwrap();
        start(&mut team, Mode::Ultrawork, "s1").unwrap();
        let linked = json!({"linked_ultrawork": true});
        update(&mut team, Mode::Forge, "s1", linked).unwrap();
        let over = json!({"current_phase": "cancelled"});
        match by {
            "update" => update(&mut team, Mode::Forge, "s1", over).unwrap(),
            _ => write(&mut team, Mode::Forge, "s1", over).unwrap(),
        };
        assert_eq!(active(&mut team, "s1"), [], "{by}");
        let state = show(&mut team, Mode::Ultrawork, "s1");
        assert_eq!(state["current_phase"], "cancelled");
    }
}
