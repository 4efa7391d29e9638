//! Tests of the reports before a launch: TeamCreate's answers, the roster, the evidence, and the core's acks.

use crate::bootstrap::Boot;
use crate::prelude::*;

#[test]
fn a_branch_follows_from_the_literal_answer() {
    for (answer, case, name) in cases![
        ({"outcome": "ok", "name": "alpha"}, "A", "alpha"),
        ({"outcome": {"ok": "alpha"}}, "A", "alpha"),
        ({"outcome": {"ok": {"name": "alpha"}}}, "A", "alpha"),
        ({"returned": {"team_name": "alpha"}}, "a", "alpha"),
        ({"outcome": "Already leading team crew"}, "case B", "crew"),
        ({"raw": "Already leading team \"crew\"."}, "B", "crew"),
        ({"outcome": {"already_leading": "crew"}}, "b", "crew"),
        ({"outcome": "already_leading", "team_name": "crew"}, "B", "crew"),
    ] {
        let mut boot = Boot::new();
        assert_eq!(
            boot.ok("team_create_returned", answer.clone()).state,
            State::TeamProbed
        );
        let said = boot.ok("branch_taken", json!({"case": case}));
        assert_eq!(said.state, State::TeamReady, "{answer}");
        assert_eq!(boot.shown().team_name.as_deref(), Some(name), "{answer}");
    }
    for answer in [
        json!({"outcome": {"unavailable": "no"}}),
        json!({"outcome": "Feature not available"}),
    ] {
        let mut boot = Boot::new();
        boot.ok("team_create_returned", answer);
        for case in ["A", "B"] {
            boot.no("branch_taken", json!({"case": case}), Code::BranchMismatch);
        }
        assert_eq!(boot.ok("branch_taken", json!({})).state, State::Fallback);
    }
    let mut boot = Boot::at(State::TeamProbed);
    reports!(boot;
        branch_taken {"case": "B"} => Code::BranchMismatch;
        branch_taken {"case": "A", "team_name": "beta"} => Code::BranchMismatch;
        team_create_returned {"outcome": "unavailable"} => Code::IllegalEvent;
    );
}

#[test]
fn what_is_not_understood_is_asked_about_and_never_guessed() {
    let mut boot = Boot::new();
    let said = boot.ok("team_create_returned", json!({"raw": "hm"}));
    assert_eq!(
        (said.warnings.len(), &*said.next),
        (1, &["team_create_returned".to_owned()][..])
    );
    for case in ["A", "B", "C"] {
        boot.no("branch_taken", json!({"case": case}), Code::BranchMismatch);
    }
    boot.no("fallback_entered", json!({}), Code::BranchMismatch);
    let data = json!({"raw": "Already leading team"});
    let said = boot.ok("team_create_returned", data);
    assert_eq!(said.warnings.len(), 1);
    boot.no("branch_taken", json!({"case": "B"}), Code::BranchMismatch);
    boot.ok("branch_taken", json!({"case": "B", "team_name": "crew"}));
    assert_eq!(boot.shown().team_name.as_deref(), Some("crew"));
}

#[test]
fn a_roster_is_the_core_and_every_selected_domain() {
    for data in [
        json!({"domains": []}),
        json!({"domains": ["a"]}),
        json!({"domains": ["a", "a", "b"]}),
        json!({"domains": ["a", "b", "synthesizer"]}),
        json!({"core": ["synthesizer"], "domains": ["a", "b"]}),
        json!({"core": ["synthesizer", "synthesizer"], "domains": ["a", "b"]}),
        json!({"core": ["synthesizer", "obstruction", "lead"], "domains": ["a", "b"]}),
        json!({"members": ["a", "b", "synthesizer"]}),
    ] {
        Boot::at(State::TeamReady).no("roster_built", data, Code::RosterIncomplete);
    }
    for data in [
        json!({}),
        json!({"domains": "a, b"}),
        json!({"domains": ["b", "a", "c"]}),
        json!({"members": ["a", "obstruction", "b", "synthesizer"]}),
        json!({"core": ["synthesizer", "obstruction-theorist"], "domains": ["a", "b"]}),
    ] {
        assert_eq!(
            Boot::at(State::TeamReady).ok("roster_built", data).state,
            State::MembersReady
        );
    }
}

#[test]
fn evidence_is_looked_at_field_by_field() {
    let ready = || {
        let mut boot = Boot::at(State::CoreReady);
        boot.ok("OBSTRUCTION_CORE_READY_ACK", json!({}));
        boot.ok("SYNTHESIZER_CORE_READY_ACK", json!({}));
        boot
    };
    let mut boot = ready();
    let evidence = json(
        &boot
            .team
            .bootstrap_evidence(BootstrapEvidence::default())
            .unwrap(),
    );
    for (field, value) in cases![
        ("launch_mode", json!("task_launch")),
        ("launch_method", json!("platform_nl_team_invocation")),
        ("launch_method", json!("by hand")),
        ("team_name", json!("beta")),
        ("selected_domains", json!(["a"])),
        ("selected_domains", json!(["a", "b", "b"])),
        ("selected_domains", json!("a, b")),
        ("active_core_members", json!(["synthesizer"])),
        ("core_ready_ack", json!(true)),
        ("core_ready_ack", {"OBSTRUCTION_CORE_READY_ACK": true,
            "SYNTHESIZER_CORE_READY_ACK": false}),
        ("core_ready_ack", {"OBSTRUCTION_CORE_READY_ACK": true}),
    ] {
        for changed in [Some(value), None] {
            let mut evidence = evidence.clone();
            let fields = evidence.as_object_mut().unwrap();
            match changed {
                Some(value) => fields.insert(field.to_owned(), value),
                None => fields.remove(field),
            };
            let data = json!({"evidence": evidence});
            let said = boot.no("running_entered", data, Code::EvidenceInvalid);
            assert!(said.message.unwrap().contains(field), "{field}");
        }
    }
    let mut more = evidence.clone();
    more["launch_methud"] = json!("team_api");
    reports!(boot; running_entered {"evidence": more} => Code::EvidenceInvalid);
    let mut turned = evidence;
    turned["selected_domains"] = json!(["b", "a"]);
    boot.ok("running_entered", json!({"evidence": turned}));
}

#[test]
fn acks_belong_to_one_launch() {
    let mut boot = Boot::at(State::CoreReady);
    reports!(boot; core_ready_ack {"from": "obstruction", "launch": 1});
    let said = boot.ok("core_ready_ack", json!({"from": "obstruction"}));
    assert_eq!(said.warnings.len(), 1, "the same again");
    reports!(boot;
        core_ready_ack {"from": "a"} => Code::IllegalEvent;
        core_ready_ack {"from": "lead"} => Code::IllegalEvent;
        task_launched {"member": "a"} => Code::BreachInitialTaskLaunch, State::TeamReady;
    );
    boot.go(State::CoreReady);
    assert_eq!(
        (boot.shown().launches, boot.shown().core_ready.obstruction),
        (2, false)
    );
    reports!(boot;
        core_ready_ack {"from": "obstruction", "launch": 1} => Code::IllegalEvent;
        core_ready_ack {"from": "obstruction", "launch": 2};
        // A relaunched member must report again.
        core_relaunched {"missing": ["synthesizer"]};
    );
    assert!(boot.shown().core_ready.obstruction);
    boot.ok("core_relaunched", json!({"missing": "both"}));
    assert!(!boot.shown().core_ready.obstruction);
    reports!(boot; core_relaunched {"missing": ["a"]} => Code::IllegalEvent);
}
