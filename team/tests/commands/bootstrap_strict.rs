//! Tests of reports that look right but are refused: an unknown word, a contradictory field, a result in the wrong place.

use crate::bootstrap::{Boot, record};
use crate::bootstrap_work::{BOTH, running, summary};
use crate::prelude::*;

/// Checks that a report is invalid input. The error names `field` and contains `said`, and nothing is recorded.
fn unread(boot: &mut Boot, event: &str, data: Value, field: &str, said: &str) {
    let before = events(&mut boot.team).len();
    let refusal = refused(
        boot.team.bootstrap_record(record(event, data.clone())),
        Code::InvalidInput,
    );
    assert_eq!(refusal.field.as_deref(), Some(field), "{data}: {refusal}");
    assert!(refusal.message.contains(said), "{data}: {refusal}");
    assert_eq!(events(&mut boot.team).len(), before);
}

fn mapping(to: &str, id: &str) -> Value {
    json!({"d": "a", "message_id": id, "to": to})
}

/// Completes round 1 with the result that `a` must be revised.
fn to_revise() -> Boot {
    let mut boot = running();
    boot.deliver("b", "b-1");
    boot.review("b", "PASS");
    boot.deliver("a", "a-1");
    boot.review("a", "REVISE");
    boot.ok("round1_complete", json!({}));
    boot.ok("revision_submitted", json!({"d": "a"}));
    boot
}

#[test]
fn the_gate_waits_for_the_last_round_of_every_domain() {
    let mut boot = to_revise();
    boot.ok("mapping_result", mapping("obstruction", "a-2"));
    boot.review("a", "PASS");
    let open = |boot: &mut Boot| {
        let said = boot.no("gate_cleared", summary(&["a", "b"], &[]), Code::GateRefused);
        assert!(said.message.unwrap().contains("missing: a"));
        assert!(!said.next.contains(&"gate_cleared".to_owned()));
        boot.no("final_synthesis_requested", json!({}), Code::GateNotCleared);
    };
    open(&mut boot);
    boot.ok("mapping_result", mapping("synthesizer", "a-2"));
    open(&mut boot);
    let ack = |by: &str| json!({"by": by, "d": "a", "message_id": "a-2"});
    boot.ok("delivery_ack", ack("obstruction"));
    // A silent core member blocks the domain.
    boot.ok("delivery_ack_timeout", json!({"d": "a"}));
    boot.ok("mapping_result", mapping("synthesizer", "a-2"));
    boot.ok("delivery_ack_timeout", json!({"d": "a"}));
    assert_eq!(boot.domain("a")["status"], "blocked");
    open(&mut boot);
    let mut left_out = to_revise();
    left_out.ok("domain_excluded", json!({"d": "a", "reason": "slow"}));
    left_out.ok("gate_cleared", summary(&["b"], &["a"]));
    boot.ok("delivery_ack", ack("synthesizer"));
    boot.ok("gate_cleared", summary(&["a", "b"], &[]));
    boot.ok("final_synthesis_requested", json!({}));
}

#[test]
fn a_launch_mode_is_the_teams_or_one_of_tasks_and_nothing_else() {
    let members = json!(["obstruction-theorist", "synthesizer", "a", "b"]);
    let launch =
        |mode: &str| json!({"method": "team_api", "launch_mode": mode, "members": members});
    for mode in ["Team_Launch", "bogus", "batch"] {
        let mut boot = Boot::at(State::MembersReady);
        unread(
            &mut boot,
            "team_launched",
            launch(mode),
            "data.launch_mode",
            "team_launch",
        );
        let mut boot = Boot::at(State::CoreReady);
        let again = json!({"missing": ["synthesizer"], "launch_mode": mode});
        unread(
            &mut boot,
            "core_relaunched",
            again,
            "data.launch_mode",
            "team_launch",
        );
    }
    let mut boot = Boot::at(State::MembersReady);
    let blank = json!({"method": " ", "members": members});
    unread(&mut boot, "team_launched", blank, "data.method", "team_api");
    for mode in ["task", "per_member_task", "Task"] {
        reports!(Boot::at(State::MembersReady);
            team_launched (launch(mode)) => Code::BreachInitialTaskLaunch, State::TeamReady;
        );
    }
    Boot::at(State::MembersReady).ok("team_launched", launch("team_launch"));
}

#[test]
fn a_signal_says_who_it_is_of() {
    for (at, signal, data, field) in cases![
        (State::CoreReady, "OBSTRUCTION_CORE_READY_ACK", {"from": "synthesizer"}, "data.from"),
        (State::CoreReady, "SYNTHESIZER_CORE_READY_ACK", {"by": "obstruction"}, "data.from"),
        (State::CoreReady, "SYNTHESIZER_CORE_READY_ACK", {"from": "lead"}, "data.from"),
        (State::Running, "MAPPING_RESULT_ROUND1", mapping("synthesizer", "m"), "data.to"),
        (State::Running, "MAPPING_RESULT_JSON", mapping("both", "m"), "data.to"),
        (State::Running, "MAPPING_RESULT_JSON", {"d": "a", "message_id": "m", "to": BOTH},
            "data.to"),
        (State::Running, "OBSTRUCTION_DELIVERY_ACK", {"d": "a", "message_id": "m",
            "by": "synthesizer"}, "data.by"),
        (State::Running, "OBSTRUCTION_FEEDBACK", {"d": "a", "verdict": "PASS", "by": "synthesizer"},
            "data.by"),
    ] {
        let mut boot = Boot::at(at);
        unread(&mut boot, signal, data.clone(), field, "as the signal says");
        let mut nested = data;
        nested["signal"] = json!(signal);
        unread(&mut boot, "signal", nested, field, "as the signal says");
    }
    let mut boot = Boot::at(State::CoreReady);
    boot.ok("OBSTRUCTION_CORE_READY_ACK", json!({"from": "Obstruction"}));
    assert!(boot.shown().core_ready.obstruction);
    let mut boot = running();
    reports!(boot; MAPPING_RESULT_ROUND1 {"d": "a", "message_id": "m", "to": ["obstruction"]});
    // A signature of the lead in place of the core's signature is refused before contradictions are
    // checked.
    let lead = json!({"d": "a", "verdict": "PASS", "by": "lead"});
    reports!(boot; OBSTRUCTION_FEEDBACK (lead) => Code::BreachLeadSoloAnalysis, State::Running);
}

#[test]
fn a_message_id_belongs_to_one_round() {
    let mut boot = to_revise();
    let said = boot.no("mapping_result", mapping("both", "a-1"), Code::IllegalEvent);
    assert!(said.message.unwrap().contains("a-1"));
    boot.deliver("a", "a-2");
    boot.review("a", "REJECT");
    for id in ["a-1", "a-2"] {
        let next = json!({"d": "a", "message_id": id, "to": BOTH, "round": 3});
        boot.no("mapping_result", next, Code::IllegalEvent);
    }
    boot.ok("domain_excluded", json!({"d": "a", "reason": "x"}));
    boot.ok("member_added", json!({"d": "a"}));
    boot.no("mapping_result", mapping("both", "a-2"), Code::IllegalEvent);
    boot.deliver("a", "a-3");
    settled_digest(&mut boot.team);
}

#[test]
fn an_ack_that_rejects_is_none() {
    let mut boot = running();
    boot.ok("mapping_result", mapping("both", "m"));
    let ack =
        |status: &str| json!({"by": "obstruction", "d": "a", "message_id": "m", "status": status});
    for status in ["rejected", "accepted", "Received"] {
        unread(
            &mut boot,
            "delivery_ack",
            ack(status),
            "data.status",
            "received",
        );
    }
    boot.ok("delivery_ack", ack("received"));
    let mut boot = Boot::cleared();
    boot.ok("final_synthesis_requested", json!({}));
    for status in ["rejected", "received"] {
        let data = json!({"status": status});
        unread(
            &mut boot,
            "FINAL_SYNTHESIS_ACK",
            data,
            "data.status",
            "accepted",
        );
    }
    boot.ok("FINAL_SYNTHESIS_ACK", json!({"status": "accepted"}));
}

#[test]
fn the_origin_of_a_path_is_held_against_it() {
    let mut boot = running();
    let sent = |path: Value, origin: Value| json!({"d": "a", "message_id": "m", "to": "obstruction", "domain_file_path": path, "path_origin": origin});
    let (path, origin) = ("data.domain_file_path", "data.path_origin");
    for (given, how, field) in cases![
        (json!("references/a_v2.md") => json!("absolute"), path),
        (json!("/skill/references/a_v2.md") => json!("relative_fallback"), path),
        (json!("a_v2.md") => json!("relative_fallback"), path),
        (json!("references/") => json!("relative_fallback"), path),
        (json!("references/../a_v2.md") => json!("relative_fallback"), path),
        (json!(null) => json!("absolute"), path),
        (json!(null) => json!("relative_fallback"), path),
        (json!("/skill/references/a_v2.md") => json!(null), origin),
    ] {
        unread(
            &mut boot,
            "mapping_result",
            sent(given, how),
            field,
            "data.",
        );
    }
    reports!(boot; mapping_result (sent(json!("/skill/references/a_v2.md"), json!("absolute"))));
    let mut boot = running();
    reports!(boot;
        mapping_result (sent(json!("references/custom/a_v2.md"), json!("relative_fallback")));
    );
}

#[test]
fn a_late_ack_unblocks_and_nothing_is_sent_a_third_time() {
    let mut boot = running();
    boot.ok("mapping_result", mapping("obstruction", "m"));
    boot.ok("delivery_ack_timeout", json!({"d": "a"}));
    assert!(boot.shown().next.contains(&"mapping_result".to_owned()));
    reports!(boot;
        mapping_result (mapping("obstruction", "m"));
        mapping_result (mapping("obstruction", "m")) => Code::IllegalEvent;
        delivery_ack_timeout {"d": "a"};
    );
    assert_eq!(boot.domain("a")["status"], "blocked");
    reports!(boot;
        mapping_result (mapping("obstruction", "m")) => Code::IllegalEvent;
        // A blocked domain may still send its result to the second core member. An ack of that member does not unblock the domain.
        mapping_result (mapping("synthesizer", "m"));
        delivery_ack {"by": "synthesizer", "d": "a", "message_id": "m"};
    );
    assert_eq!(boot.domain("a")["status"], "blocked");
    reports!(boot; delivery_ack {"by": "obstruction", "d": "a", "message_id": "m"});
    assert_eq!(boot.domain("a")["status"], "active");
    // If the result was sent to one core member only, the ack of that member suffices.
    let mut boot = running();
    boot.ok("mapping_result", mapping("obstruction", "m"));
    boot.ok("delivery_ack_timeout", json!({"d": "a"}));
    boot.ok("delivery_ack_timeout", json!({"d": "a"}));
    assert_eq!(boot.domain("a")["status"], "blocked");
    reports!(boot; delivery_ack {"by": "obstruction", "d": "a", "message_id": "m"});
    let shown = boot.domain("a");
    has!(shown, {"status": "active", "obstruction": "acked"});
    settled_digest(&mut boot.team);
}

#[test]
fn a_revision_of_what_passed_is_told_so() {
    let mut boot = running();
    boot.deliver("a", "a-1");
    boot.review("a", "PASS");
    let data = json!({"d": "a"});
    let said = boot.no("revision_submitted", data, Code::UntriggeredRevision);
    assert!(said.message.unwrap().ends_with("but is PASS"));
    let data = json!({"d": "b"});
    let said = boot.no("revision_submitted", data, Code::UntriggeredRevision);
    assert!(said.message.unwrap().contains("there is none on round 1"));
}

#[test]
fn a_name_of_a_team_is_text() {
    let mut boot = Boot::new();
    let data = json!({"outcome": "ok", "team_name": 5});
    unread(
        &mut boot,
        "team_create_returned",
        data,
        "data.team_name",
        "must be text",
    );
}

#[test]
fn the_summary_of_a_gate_holds_arrays_of_names() {
    let mut boot = running();
    boot.pass_all();
    for (key, value) in [
        ("residual_risks", json!("none")),
        ("residual_risks", json!(null)),
        ("pass_domains", json!("a")),
        ("pass_domains", json!([1])),
        ("revised_domains", json!({})),
        ("excluded_domains", json!([{"domain": "c"}])),
    ] {
        let mut data = summary(&["a", "b"], &[]);
        data["clear_summary"][key] = value;
        let said = boot.no("gate_cleared", data, Code::GateRefused);
        assert!(said.message.unwrap().contains(key));
    }
    let mut data = summary(&["a", "b"], &[]);
    data["clear_summary"]["residual_risks"] = json!(["thin", {"risk": "x"}]);
    boot.ok("gate_cleared", data);
}

#[test]
fn only_the_core_is_missing_in_a_handshake() {
    let mut boot = Boot::at(State::CoreReady);
    let data = json!({"missing": ["a"]});
    reports!(boot;
        core_handshake_timed_out (data) => Code::IllegalEvent;
        core_handshake_timed_out {"missing": ["synthesizer"]} => Code::BreachCoreNotReady, State::CoreReady;
    );
}

#[test]
fn a_code_of_the_contract_comes_before_a_fault_of_a_field() {
    let data = mapping("lead", "m");
    let code = Code::BreachDomainBeforeCoreReady;
    let mut boot = Boot::at(State::CoreReady);
    boot.breach("mapping_result", data.clone(), code, State::CoreReady);
    let odd = json!({"d": "a", "message_id": "m", "to": "both", "path_origin": "project"});
    reports!(boot;
        mapping_result (odd.clone()) => code, State::CoreReady;
        running_entered {"evidence": "x"} => Code::BreachCoreNotReady, State::CoreReady;
    );
    let mut boot = running();
    let lead = json!({"d": "a", "verdict": "MAYBE", "by": "lead"});
    let alone = Code::BreachLeadSoloAnalysis;
    boot.breach("obstruction_feedback", lead, alone, State::Running);
    let lead = json!({"status": "rejected", "by": "lead"});
    boot.breach("FINAL_SYNTHESIS_ACK", lead, alone, State::Running);
    boot.no("mapping_result", data, Code::IllegalEvent);
    unread(
        &mut boot,
        "mapping_result",
        odd,
        "data.path_origin",
        "absolute",
    );
}

#[test]
fn what_must_not_happen_is_true_of_where_the_run_stands() {
    let mut boot = Boot::at(State::CoreReady);
    let before = "starting any domain's work before both acks of the core".to_owned();
    assert!(boot.shown().forbidden.contains(&before));
    for from in BOTH {
        boot.ok("core_ready_ack", json!({"from": from}));
    }
    let forbidden = boot.shown().forbidden;
    assert!(!forbidden.contains(&before));
    assert!(forbidden.contains(&"starting any domain's work before RUNNING is entered".to_owned()));
}

#[test]
fn without_a_domain_only_who_joins_leads_on() {
    let mut boot = running();
    boot.pass_all();
    boot.ok("domain_excluded", json!({"d": "a", "reason": "x"}));
    let said = boot.ok("domain_excluded", json!({"d": "b", "reason": "x"}));
    assert_eq!(said.next, ["member_added"]);
    assert!(json(&said.warnings).to_string().contains("member_added"));
    let said = boot.no("gate_cleared", summary(&[], &["a", "b"]), Code::GateRefused);
    assert!(json(&said.warnings).to_string().contains("member_added"));
    let mut boot = Boot::cleared();
    boot.ok("domain_excluded", json!({"d": "a", "reason": "x"}));
    boot.ok("domain_excluded", json!({"d": "b", "reason": "x"}));
    boot.no("final_synthesis_requested", json!({}), Code::GateNotCleared);
    boot.ok("member_added", json!({"d": "a"}));
}

#[test]
fn what_is_next_follows_what_was_done() {
    let next = |boot: &mut Boot, event: &str| boot.shown().next.contains(&event.to_owned());
    let mut boot = running();
    assert!(next(&mut boot, "skeleton_sent"));
    boot.deliver("a", "a-1");
    assert!(!next(&mut boot, "skeleton_sent"));
    let mut boot = Boot::cleared();
    let said = boot.ok("final_synthesis_requested", json!({}));
    assert_eq!(said.next, ["final_synthesis_ack", "synthesis_result"]);
    assert_eq!(
        boot.ok("final_synthesis_ack", json!({})).next,
        ["synthesis_result"]
    );
}
