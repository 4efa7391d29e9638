//! Tests of the ends of modes, and of the work that ends with a mode.

use crate::mode_calls::{
    active, cancel, complete, kinds_of, recorded, session, show, start, update, write,
};
use crate::prelude::*;
use teamlog_team::mode::end::ModeFail;

#[test]
fn each_way_to_end_says_so_in_every_field() {
    for (mode, phase) in [
        (Mode::Ultraqa, "complete"),
        (Mode::DeepInterview, "completed"),
    ] {
        let (_, mut team) = demo();
        start(&mut team, mode, "s1").unwrap();
        let done = team
            .mode_complete(
                given!(ModeComplete, mode: mode.name(), session_id: session("s1"),
                    note: "all green"),
            )
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
    let (_, mut team) = demo();
    start(&mut team, Mode::Team, "").unwrap();
    let blank = given!(ModeFail; mode: "team", session_id: None::<String>, error: " ");
    refused(team.mode_fail(blank.clone()), Code::InvalidInput);
    let failed = team
        .mode_fail(given!(ModeFail, error: "no workers", ..blank))
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
    names!(kinds[1..] => mode_started mode_failed mode_started mode_canceled);
}

#[test]
fn what_is_not_active_neither_ends_nor_changes() {
    let (_, mut team) = demo();
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
                    assert_eq!(refusal.details["mode"], mode.name());
                }
            }
        }
    });
    assert_eq!(kinds_of(&new), [""; 0]);
}

#[test]
fn who_acts_in_a_session_changes_its_state_else_that_of_the_root() {
    let (_, mut team) = demo();
    start(&mut team, Mode::Team, "").unwrap();
    let answer = json(&update(&mut team, Mode::Team, "s1", json!({"iteration": 2})).unwrap());
    has!(answer, {"scope": "root", "/state/iteration": 2});
    write(&mut team, Mode::Team, "s1", json!({"active": false})).unwrap();
    // The session has its own state of the mode, and that state has ended.
    refused(complete(&mut team, Mode::Team, "s1"), Code::ModeNotActive);
    assert_eq!(active(&mut team, "s1"), []);
    // The modes of the root can conflict with a start in a session.
    refused(start(&mut team, Mode::Autopilot, "s1"), Code::ModeDenied);
    assert_eq!(
        json(&complete(&mut team, Mode::Team, "").unwrap())["scope"],
        "root"
    );
}

#[test]
fn canceling_forge_takes_the_ultrawork_along_that_it_is_linked_to() {
    for linked in [true, false] {
        let (_, mut team) = demo();
        start(&mut team, Mode::Ultrawork, "s2").unwrap();
        start(&mut team, Mode::Ultrawork, "s1").unwrap();
        start(&mut team, Mode::Forge, "s1").unwrap();
        let set = json!({"linked_ultrawork": linked});
        update(&mut team, Mode::Forge, "s1", set).unwrap();
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
fn forge_takes_its_ultrawork_along_however_it_is_canceled() {
    for by in ["update", "write"] {
        let (_, mut team) = demo();
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
            let fail = given!(ModeFail; mode: "deep-interview", session_id: session("s1"),
                error: None::<String>);
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
        let (world, mut team) = demo();
        let begun = start(&mut team, Mode::DeepInterview, "s1").unwrap();
        let lock = &begun.shown.state["input_lock"];
        has!(lock, {"active": true, "acquired_at": NOON});
        assert_eq!(lock["blocked_inputs"].as_array().unwrap().len(), 8);
        let question = json!({"obligation_id": "q1", "status": "pending"});
        // The mode stays active, because the call sets `active` and the question at once.
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
fn an_interview_that_waits_for_its_answer_keeps_its_lock_until_another_mode_takes_over() {
    let prompt = |team: &mut Team, text: &str| {
        let prompt = given!(ModePrompt, text, session_id: session("s1"));
        team.mode_prompt(prompt).unwrap()
    };
    for (exit, take) in [
        ("handoff", "start"),
        ("handoff", "$forge x"),
        ("abort", "$cancel"),
    ] {
        let (_, mut team) = demo();
        start(&mut team, Mode::DeepInterview, "s1").unwrap();
        let question = json!({"obligation_id": "q1", "status": "pending"});
        let set = json!({"question_enforcement": question});
        update(&mut team, Mode::DeepInterview, "s1", set).unwrap();
        assert_eq!(active(&mut team, "s1"), []);
        let told = prompt(&mut team, "yes");
        assert_eq!(told.blocked_input.as_deref(), Some("yes"));
        // Ultrawork may be active together with every mode, so its start completes no mode.
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
            has!(state, {"current_phase": "completing", "lifecycle_outcome": "userinterlude"});
        }
        assert_eq!(prompt(&mut team, "yes").blocked_input, None);
    }
}
