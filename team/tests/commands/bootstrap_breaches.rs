//! Tests of every code of the bootstrap contract: the shortest history that triggers the code, and a similar history that does
//! not trigger it.

use crate::bootstrap::{Boot, WHOLE, launch};
use crate::prelude::*;
use teamlog_team::bootstrap::breach::BREACHES;
use teamlog_team::projections::bootstrap::{RunShown, StepStatus};

/// States before the launch of the team.
const UNLAUNCHED: [State; 4] = [
    State::Init,
    State::TeamProbed,
    State::TeamReady,
    State::MembersReady,
];

#[test]
fn an_initial_task_launch_is_a_breach_until_the_team_works() {
    let code = Code::BreachInitialTaskLaunch;
    let data = json!({"member": "a", "team_name": "alpha", "subagent_type": "domain"});
    for (at, back_to) in [
        (State::Init, State::Init),
        (State::TeamProbed, State::TeamReady),
        (State::TeamReady, State::TeamReady),
        (State::MembersReady, State::TeamReady),
        (State::CoreReady, State::TeamReady),
    ] {
        Boot::at(at).breach("task_launched", data.clone(), code, back_to);
    }
    let mut boot = Boot::at(State::Running);
    let said = boot.ok("task_launched", data);
    assert_eq!((said.warnings.len(), said.state), (1, State::Running));
    // The report has two faults. The answer names the launch by tasks.
    let mut boot = Boot::at(State::MembersReady);
    reports!(boot;
        team_launched {"method": "per_member_task", "members": ["a"]} => code, State::TeamReady;
    );
    let mut boot = Boot::at(State::CoreReady);
    reports!(boot;
        core_relaunched {"missing": ["synthesizer"], "method": "Task"} => code, State::TeamReady;
    );
}

#[test]
fn a_launch_that_leaves_somebody_out_is_a_breach() {
    let code = Code::BreachPartialAtomicLaunch;
    for missing in 0..4 {
        let mut members = WHOLE.to_vec();
        members.remove(missing);
        let mut boot = Boot::at(State::MembersReady);
        boot.breach("team_launched", launch(&members), code, State::MembersReady);
        // Launches the whole roster again.
        boot.ok("team_launched", launch(&WHOLE));
    }
    // A later batch is not a second launch of the whole roster.
    let mut boot = Boot::at(State::CoreReady);
    boot.no("team_launched", launch(&WHOLE), Code::IllegalEvent);
    boot.ok("core_ready_ack", json!({"from": "synthesizer"}));
    boot.breach("team_launched", launch(&["a"]), code, State::MembersReady);
    assert!(
        !boot.shown().core_ready.synthesizer,
        "an ack outlived its launch"
    );
    let mut boot = Boot::at(State::MembersReady);
    boot.no(
        "team_launched",
        launch(&["obstruction", "synthesizer", "a", "b", "c"]),
        Code::RosterIncomplete,
    );
    reports!(boot; team_launched (launch(&["obstruction", "synthesizer", "b", "a"])));
}

#[test]
fn domains_wait_for_both_acks_of_the_core() {
    let code = Code::BreachDomainBeforeCoreReady;
    let said = cases![
        ("skeleton_sent", {}),
        ("domain_started", {"d": "a"}),
        ("mapping_result", {"d": "a", "message_id": "m", "to": "obstruction"}),
        ("CATEGORY_SKELETON", {}),
    ];
    for (event, data) in said {
        for at in UNLAUNCHED {
            Boot::at(at).breach(event, data.clone(), code, at);
        }
        let mut boot = Boot::at(State::CoreReady);
        boot.breach(event, data.clone(), code, State::CoreReady);
        boot.ok("core_ready_ack", json!({"from": "obstruction"}));
        boot.breach(event, data.clone(), code, State::CoreReady);
        boot.ok("core_ready_ack", json!({"from": "synthesizer"}));
        // After both acks, only the order of events is wrong.
        boot.no(event, data.clone(), Code::IllegalEvent);
        boot.go(State::Running);
        boot.ok(event, data);
    }
}

#[test]
fn nobody_says_that_the_team_works_before_the_core_does() {
    let code = Code::BreachCoreNotReady;
    for (event, data) in [
        ("running_entered", json!({})),
        ("swarm_declared", json!({})),
    ] {
        for at in UNLAUNCHED {
            Boot::at(at).breach(event, data.clone(), code, at);
        }
        let mut boot = Boot::at(State::CoreReady);
        boot.ok("core_ready_ack", json!({"from": "obstruction"}));
        boot.breach(event, data.clone(), code, State::CoreReady);
        assert!(
            boot.shown().core_ready.obstruction,
            "the launch lives on, and its acks"
        );
    }
    let mut boot = Boot::at(State::CoreReady);
    boot.ok("core_ready_ack", json!({"from": "obstruction"}));
    boot.ok("core_ready_ack", json!({"from": "synthesizer"}));
    boot.no("swarm_declared", json!({}), Code::IllegalEvent);
    boot.no("running_entered", json!({}), Code::EvidenceInvalid);
}

#[test]
fn a_handshake_that_times_out_is_a_breach_and_its_acks_are_gone() {
    let mut boot = Boot::at(State::CoreReady);
    reports!(boot;
        core_ready_ack {"from": "obstruction"};
        core_handshake_timed_out {} => Code::BreachCoreNotReady, State::CoreReady;
    );
    let shown = boot.shown();
    assert_eq!((shown.core_ready.obstruction, shown.due_at), (false, None));
    assert_eq!(shown.next[0], "core_relaunched");
    let said = boot.ok("core_relaunched", json!({}));
    assert_eq!(said.state, State::CoreReady);
    let relaunched = events(&mut boot.team).pop().unwrap();
    assert_eq!(relaunched["payload"]["missing"], json!(["synthesizer"]));
    for core in ["obstruction", "synthesizer"] {
        boot.ok("core_ready_ack", json!({"from": core}));
    }
    boot.no("core_handshake_timed_out", json!({}), Code::IllegalEvent);
    boot.no("core_relaunched", json!({}), Code::IllegalEvent);
    let boot = &mut Boot::at(State::MembersReady);
    boot.no("core_handshake_timed_out", json!({}), Code::IllegalEvent);
}

#[test]
fn a_tick_times_a_handshake_out_after_a_minute() {
    let mut boot = Boot::at(State::CoreReady);
    boot.ok("core_ready_ack", json!({"from": "synthesizer"}));
    let due = boot.shown().due_at.unwrap();
    boot.world
        .later(time(&due).micros() - boot.world.clock_at() - 1);
    let ticked = boot.team.tick(Tick::default()).unwrap();
    assert_eq!(
        (ticked.bootstrap.handshakes, ticked.next_due_at),
        (0, Some(due))
    );
    boot.world.later(1);
    let ticked = boot.team.tick(Tick::default()).unwrap();
    assert_eq!((ticked.bootstrap.handshakes, ticked.next_due_at), (1, None));
    assert_eq!(
        boot.team
            .tick(Tick::default())
            .unwrap()
            .bootstrap
            .handshakes,
        0
    );
    let all = events(&mut boot.team);
    let [.., timed_out, breached] = all.as_slice() else {
        panic!("{all:?}");
    };
    has!(timed_out, {"kind": "bootstrap_handshake_timed_out",
        "/payload/missing": ["obstruction-theorist"]});
    has!(breached, {"/payload/code": Code::BreachCoreNotReady.as_str(), "cause": timed_out["id"]});
    let shown = boot.shown();
    assert_eq!(
        (shown.state, shown.core_ready.synthesizer),
        (State::CoreReady, false)
    );
    settled_digest(&mut boot.team);
}

#[test]
fn the_lead_does_nobody_elses_work() {
    let code = Code::BreachLeadSoloAnalysis;
    for at in State::ALL
        .iter()
        .copied()
        .filter(|at| *at != State::Fallback)
    {
        for kind in ["domain", "review", "synthesis"] {
            Boot::at(at).breach("lead_content", json!({"kind": kind}), code, at);
        }
        let mut boot = Boot::at(at);
        boot.breach("synthesis_result", json!({"by": "lead"}), code, at);
        // In `INIT` a result that is called a simulation is also an illegal fallback.
        let back_to = if at == State::Init {
            at
        } else {
            State::TeamReady
        };
        reports!(Boot::at(at);
            lead_content {"kind": "domain", "simulation": true} => code, back_to;
        );
    }
    let mut boot = Boot::at(State::Running);
    let by = |extra: Value| {
        let mut data = json!({"by": "lead"});
        data.as_object_mut()
            .unwrap()
            .extend(extra.as_object().unwrap().clone());
        data
    };
    reports!(boot;
        obstruction_feedback (by(json!({"d": "a", "verdict": "PASS"}))) => code, State::Running;
        round1_complete (by(json!({}))) => code, State::Running;
        gate_cleared (by(json!({}))) => code, State::Running;
        final_synthesis_ack (by(json!({}))) => code, State::Running;
        synthesis_result {"by": "obstruction"} => Code::IllegalEvent;
    );
    let mut boot = fallen();
    reports!(boot;
        lead_content {"kind": "domain", "role": "ROLE=domain-agent[a]"};
        lead_content {"kind": "domain"} => code, State::Fallback;
    );
}

pub fn fallen() -> Boot {
    let mut boot = Boot::new();
    reports!(boot;
        team_create_returned {"raw": "Feature not available"};
        branch_taken {"case": "C"};
    );
    assert_eq!(boot.shown().state, State::Fallback);
    boot
}

#[test]
fn a_fallback_needs_a_team_that_cannot_be() {
    let code = Code::BreachInvalidFallbackReason;
    let data = json!({"reason": "environment incomplete"});
    for (at, back_to) in [
        (State::Init, State::Init),
        (State::TeamProbed, State::TeamReady),
        (State::TeamReady, State::TeamReady),
        (State::MembersReady, State::TeamReady),
        (State::CoreReady, State::TeamReady),
        (State::Running, State::TeamReady),
    ] {
        let mut boot = Boot::at(at);
        boot.breach("fallback_entered", data.clone(), code, back_to);
        // The name of the team is known, so the roster comes next.
        if back_to == State::TeamReady {
            assert_eq!(boot.shown().team_name.as_deref(), Some("alpha"));
            boot.ok("roster_built", json!({"domains": ["a", "b"]}));
        }
    }
    let mut boot = Boot::at(State::TeamProbed);
    boot.breach("branch_taken", json!({"case": "c"}), code, State::TeamReady);
    let mut boot = Boot::new();
    reports!(boot; team_create_returned {"outcome": "unavailable", "msg": "no"});
    let said = boot.ok("fallback_entered", data);
    assert_eq!((said.state, said.next.len()), (State::Fallback, 0));
    reports!(boot;
        team_create_returned {"outcome": "unavailable"} => Code::IllegalEvent;
        running_entered {} => Code::IllegalEvent;
        fallback_entered {} => Code::IllegalEvent;
    );
    let dropped = |run: RunShown| {
        run.checklist
            .iter()
            .filter(|step| step.status == StepStatus::Dropped)
            .count()
    };
    assert_eq!(dropped(boot.shown()), 8);
    settled_digest(&mut boot.team);
}

#[test]
fn a_launch_that_is_not_to_be_had_blocks_the_run_and_allows_the_fallback() {
    let mut boot = Boot::at(State::MembersReady);
    let said = boot.say("launch_unavailable", json!({"raw": "no such platform"}));
    let code = Code::BlockedTeamLaunchUnavailable.as_str();
    assert_eq!((said.accepted, said.code.as_deref()), (false, Some(code)));
    assert_eq!(
        (said.state, said.rolled_back_to),
        (State::MembersReady, None)
    );
    assert_eq!(said.next[0], "fallback_entered");
    assert_eq!(kinds(&mut boot.team).pop().unwrap(), "bootstrap_blocked");
    let said = boot.ok("fallback_entered", json!({}));
    assert_eq!(said.state, State::Fallback);
    let entered = events(&mut boot.team).pop().unwrap();
    assert_eq!(entered["payload"]["reason"], "no such platform");
    settled_digest(&mut boot.team);
    // A member can become available later. After that, the fallback is no longer allowed.
    let mut boot = Boot::at(State::MembersReady);
    boot.say("launch_unavailable", json!({}));
    reports!(boot;
        team_launched (launch(&WHOLE));
        fallback_entered {} => Code::BreachInvalidFallbackReason, State::TeamReady;
    );
    for at in [State::TeamReady, State::CoreReady] {
        Boot::at(at).no("launch_unavailable", json!({}), Code::IllegalEvent);
    }
}

#[test]
fn every_code_of_the_contract_is_triggered_here() {
    let text = include_str!("bootstrap_breaches.rs");
    for row in &BREACHES {
        assert!(
            text.contains(&format!("Code::{:?}", row.code)),
            "{}",
            row.code
        );
        assert!(row.code.as_str().starts_with("PROTOCOL_BREACH_"));
    }
}
