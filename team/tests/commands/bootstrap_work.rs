//! Tests of a run in `RUNNING`: deliveries and acks, reviews and revisions, the gate, and domains that join or leave.

use crate::bootstrap::Boot;
use crate::prelude::*;

pub const BOTH: [&str; 2] = ["obstruction", "synthesizer"];

pub fn running() -> Boot {
    Boot::at(State::Running)
}

impl Boot {
    /// Delivers a domain's result to both core members. Both core members confirm the delivery.
    pub fn deliver(&mut self, domain: &str, message_id: &str) {
        reports!(self; mapping_result {"d": domain, "message_id": message_id, "to": BOTH});
        for by in BOTH {
            reports!(self; delivery_ack {"by": by, "d": domain, "message_id": message_id});
        }
    }
    pub fn review(&mut self, domain: &str, verdict: &str) {
        reports!(self; obstruction_feedback {"d": domain, "verdict": verdict});
    }
    /// Delivers both domains' results and lets them pass.
    pub fn pass_all(&mut self) {
        for domain in ["a", "b"] {
            self.deliver(domain, &format!("{domain}-1"));
            self.review(domain, "PASS");
        }
        self.ok("round1_complete", json!({}));
    }
    /// Returns a run with a cleared gate.
    pub fn cleared() -> Boot {
        let mut boot = running();
        boot.pass_all();
        boot.ok("gate_cleared", summary(&["a", "b"], &[]));
        boot
    }
    pub fn domain(&mut self, name: &str) -> Value {
        let shown = serde_json::to_value(self.shown()).unwrap();
        let work = shown["work"].as_array().unwrap();
        work.iter()
            .find(|domain| domain["domain"] == name)
            .unwrap()
            .clone()
    }
}

pub fn summary(pass: &[&str], excluded: &[&str]) -> Value {
    json!({"clear_summary": {
        "pass_domains": pass, "revised_domains": [], "excluded_domains": excluded, "residual_risks": [],
    }})
}

#[test]
fn a_result_goes_to_both_under_one_id_and_each_confirms_it() {
    let mut boot = running();
    let to = |to: &str, id: &str| json!({"d": "a", "message_id": id, "to": to});
    reports!(boot;
        mapping_result {"d": "c", "message_id": "m", "to": "obstruction"} => Code::IllegalEvent;
        mapping_result (to("lead", "m")) => Code::IllegalEvent;
        delivery_ack {"by": "obstruction", "d": "a", "message_id": "m"} => Code::IllegalEvent;
        mapping_result (to("obstruction", "m"));
        mapping_result (to("synthesizer", "n")) => Code::IllegalEvent;
        delivery_ack {"by": "synthesizer", "d": "a", "message_id": "m"} => Code::IllegalEvent;
        delivery_ack {"by": "obstruction", "d": "b", "message_id": "m"} => Code::IllegalEvent;
        delivery_ack {"by": "lead", "d": "a", "message_id": "m"} => Code::IllegalEvent;
        OBSTRUCTION_ACK_RECEIVED {"domain": "a", "message_id": "m", "status": "received"};
    );
    let data = json!({"domain": "a", "message_id": "m"});
    let again = boot.ok("OBSTRUCTION_DELIVERY_ACK", data);
    assert_eq!(again.warnings.len(), 1);
    assert_eq!(
        boot.ok("mapping_result", to("obstruction", "m"))
            .warnings
            .len(),
        1
    );
    reports!(boot;
        mapping_result {"d": "a", "message_id": "m", "to": "synthesizer",
            "domain_file_path": "references/a_v2.md", "path_origin": "relative_fallback"};
    );
    let sent = events(&mut boot.team).pop().unwrap();
    assert_eq!(sent["payload"]["path_origin"], "relative_fallback");
    has!(boot.domain("a"), {"obstruction": "acked", "synthesizer": "sent"});
}

#[test]
fn a_delivery_that_nobody_confirms_is_sent_once_more_and_then_blocks_the_domain() {
    let mut boot = running();
    let late = json!({"d": "a", "message_id": "m", "missing_ack": "synthesizer"});
    reports!(boot;
        delivery_ack_timeout (late.clone()) => Code::IllegalEvent;
        mapping_result {"d": "a", "message_id": "m", "to": BOTH};
        delivery_ack {"by": "obstruction", "d": "a", "message_id": "m"};
        delivery_ack_timeout {"d": "a", "message_id": "n"} => Code::IllegalEvent;
        delivery_ack_timeout {"d": "a", "missing_ack": "obstruction"} => Code::IllegalEvent;
        delivery_ack_timeout {"d": "a"};
    );
    has!(boot.domain("a"), {"status": "active", "synthesizer": "timed_out"});
    reports!(boot; mapping_result {"d": "a", "message_id": "m", "to": "synthesizer"});
    has!(events(&mut boot.team).pop().unwrap(), {"/payload/resent": true});
    boot.ok("DELIVERY_ACK_TIMEOUT", late);
    assert_eq!(boot.domain("a")["status"], "blocked");
    assert!(boot.shown().next.contains(&"domain_excluded".to_owned()));
    boot.review("a", "PASS");
    boot.deliver("b", "b-1");
    boot.review("b", "PASS");
    reports!(boot;
        round1_complete {} => Code::Round1Incomplete;
        // A late ack is accepted.
        delivery_ack {"by": "synthesizer", "d": "a", "message_id": "m"};
    );
    assert_eq!(boot.domain("a")["status"], "active");
    boot.ok("round1_complete", json!({}));
    settled_digest(&mut boot.team);
}

#[test]
fn a_tick_times_deliveries_out_after_a_minute_and_a_half() {
    let mut boot = running();
    reports!(boot; mapping_result {"d": "a", "message_id": "m", "to": BOTH});
    let tick = |boot: &mut Boot| boot.team.tick(Tick::default()).unwrap();
    boot.world.later(89 * SECOND);
    assert_eq!(tick(&mut boot).bootstrap.deliveries, 0);
    assert!(tick(&mut boot).next_due_at.is_some());
    boot.world.later(2 * SECOND);
    let ticked = tick(&mut boot);
    assert_eq!((ticked.bootstrap.deliveries, ticked.next_due_at), (2, None));
    assert_eq!(boot.domain("a")["status"], "active");
    reports!(boot; mapping_result {"d": "a", "message_id": "m", "to": "obstruction"});
    boot.world.later(91 * SECOND);
    assert_eq!(tick(&mut boot).bootstrap.deliveries, 1);
    assert_eq!(boot.domain("a")["status"], "blocked");
    // The run does not wait for an excluded domain.
    reports!(boot;
        mapping_result {"d": "b", "message_id": "n", "to": BOTH};
        domain_excluded {"d": "b", "reason": "slow"};
    );
    boot.world.later(91 * SECOND);
    assert_eq!(tick(&mut boot).bootstrap.deliveries, 0);
    settled_digest(&mut boot.team);
}

#[test]
fn nothing_is_reviewed_before_it_is_delivered() {
    let mut boot = running();
    let review = |round: u32| json!({"d": "a", "round": round, "verdict": "pass"});
    reports!(boot;
        obstruction_feedback (review(1)) => Code::ReviewBeforeResult;
        mapping_result {"d": "a", "message_id": "m", "to": "synthesizer"};
        obstruction_feedback (review(1)) => Code::ReviewBeforeResult;
        mapping_result {"d": "a", "message_id": "m", "to": "obstruction"};
        obstruction_feedback (review(2)) => Code::ReviewBeforeResult;
        obstruction_feedback {"d": "c", "verdict": "PASS"} => Code::IllegalEvent;
        obstruction_feedback {"d": "a", "verdict": "PASS",
            "by": "synthesizer"} => Code::IllegalEvent;
        obstruction_feedback (review(1));
    );
}

#[test]
fn what_is_not_accepted_is_revised_and_reviewed_again() {
    let mut boot = running();
    reports!(boot; revision_submitted {"d": "a"} => Code::UntriggeredRevision);
    boot.deliver("a", "a-1");
    reports!(boot; revision_submitted {"d": "a"} => Code::UntriggeredRevision);
    boot.review("a", "PASS");
    reports!(boot; revision_submitted {"d": "a", "round": 2} => Code::UntriggeredRevision);
    boot.deliver("b", "b-1");
    reports!(boot;
        obstruction_feedback {"d": "b", "verdict": "REVISE", "reason": "SCHEMA_BLOCKER",
            "fix_requests": ["hash"]};
        round1_complete {"verdicts": {"a": "PASS", "b": "REVISE"}};
        gate_cleared (summary(&["a", "b"], &[])) => Code::GateRefused;
        // A second result for the same round is refused. `revision_submitted` begins the next round.
        mapping_result {"d": "b", "message_id": "b-2", "to": BOTH} => Code::IllegalEvent;
        revision_submitted {"d": "b", "round": 3} => Code::UntriggeredRevision;
        revision_submitted {"d": "b", "round": 2};
        revision_submitted {"d": "b", "round": 3} => Code::UntriggeredRevision;
        obstruction_feedback {"d": "b", "verdict": "PASS"} => Code::ReviewBeforeResult;
    );
    boot.deliver("b", "b-2");
    boot.review("b", "REJECT");
    // A result for the next round begins that round.
    reports!(boot; mapping_result {"d": "b", "message_id": "b-3", "to": BOTH, "round": 3});
    assert_eq!(boot.domain("b")["round"], 3);
    for by in BOTH {
        reports!(boot; delivery_ack {"by": by, "d": "b", "message_id": "b-3"});
    }
    boot.review("b", "PASS");
    boot.ok("gate_cleared", summary(&["a", "b"], &[]));
    settled_digest(&mut boot.team);
}

#[test]
fn round_one_is_complete_once_all_are_reviewed_and_confirmed() {
    let mut boot = running();
    boot.no("round1_complete", json!({}), Code::Round1Incomplete);
    boot.deliver("a", "a-1");
    boot.review("a", "PASS");
    reports!(boot;
        round1_complete {} => Code::Round1Incomplete;
        mapping_result {"d": "b", "message_id": "b-1", "to": BOTH};
    );
    boot.review("b", "REJECT");
    let said = boot.no("round1_complete", json!({}), Code::Round1Incomplete);
    assert!(said.message.unwrap().contains("missing: b"));
    reports!(boot; domain_excluded {"d": "b", "reason": "nothing in it"});
    for data in [
        json!({"coverage": {"reviewed_domains": ["a", "b"]}}),
        json!({"coverage": {"reviewed_domains": ["a"], "active_domains": []}}),
        json!({"verdicts": {"a": "REVISE"}}),
        json!({"verdicts": {}}),
    ] {
        boot.no("round1_complete", data, Code::Round1Incomplete);
    }
    reports!(boot;
        round1_complete {"by": "synthesizer"} => Code::IllegalEvent;
        OBSTRUCTION_ROUND1_COMPLETE {"coverage": {"reviewed_domains": ["a"], "active_domains": ["a"]},
            "domain_verdicts": {"a": "PASS"}};
    );
    assert_eq!(boot.ok("round1_complete", json!({})).warnings.len(), 1);
    reports!(boot; domain_excluded {"d": "a", "reason": "nothing either"});
    let mut boot = running();
    for domain in ["a", "b"] {
        boot.ok("domain_excluded", json!({"d": domain, "reason": "x"}));
    }
    boot.no("round1_complete", json!({}), Code::Round1Incomplete);
}

#[test]
fn a_domain_is_left_out_for_a_reason() {
    let mut boot = running();
    reports!(boot;
        domain_excluded {"d": "a"} => Code::ReasonRequired;
        domain_excluded {"d": "a", "reason": " "} => Code::ReasonRequired;
        domain_excluded {"d": "c", "reason": "x"} => Code::IllegalEvent;
        domain_excluded {"d": "a", "reason": "x"};
    );
    has!(boot.domain("a"), {"status": "excluded", "reason": "x"});
    reports!(boot;
        domain_excluded {"d": "a", "reason": "x"} => Code::IllegalEvent;
        domain_started {"d": "a"} => Code::IllegalEvent;
    );
}

#[test]
fn the_gate_is_cleared_with_its_summary_and_opens_the_synthesis() {
    let mut boot = running();
    boot.no("gate_cleared", summary(&["a", "b"], &[]), Code::GateRefused);
    boot.pass_all();
    boot.no("final_synthesis_requested", json!({}), Code::GateNotCleared);
    boot.no("gate_cleared", json!({}), Code::GateRefused);
    for key in [
        "pass_domains",
        "revised_domains",
        "excluded_domains",
        "residual_risks",
    ] {
        let mut data = summary(&["a", "b"], &[]);
        data["clear_summary"].as_object_mut().unwrap().remove(key);
        let said = boot.no("gate_cleared", data, Code::GateRefused);
        assert!(said.message.unwrap().contains(key));
    }
    reports!(boot; gate_cleared {"by": "synthesizer"} => Code::IllegalEvent);
    assert_eq!(
        boot.ok("gate_cleared", summary(&["a"], &[])).warnings.len(),
        1
    );
    reports!(boot;
        final_synthesis_ack {} => Code::IllegalEvent;
        synthesis_result {"by": "synthesizer"} => Code::IllegalEvent;
        final_synthesis_requested {"by": "synthesizer"} => Code::IllegalEvent;
        FINAL_SYNTHESIS_REQUEST {};
    );
    assert_eq!(
        boot.ok("final_synthesis_requested", json!({}))
            .warnings
            .len(),
        1
    );
    // A later objection closes the gate again.
    boot.review("a", "REVISE");
    assert_eq!(
        (boot.shown().gate, &*boot.shown().synthesis),
        (None, "none")
    );
    reports!(boot;
        synthesis_result {"by": "synthesizer"} => Code::IllegalEvent;
        final_synthesis_requested {} => Code::GateNotCleared;
    );
    boot.review("a", "PASS");
    boot.ok("gate_cleared", summary(&["a", "b"], &[]));
    boot.ok("final_synthesis_requested", json!({}));
    boot.ok("SYNTHESIS_RESULT_JSON", json!({}));
    assert_eq!(boot.shown().synthesis, "delivered");
}

#[test]
fn who_joins_late_opens_the_round_again() {
    let mut boot = running();
    boot.pass_all();
    reports!(boot;
        gate_cleared (summary(&["a", "b"], &[]));
        member_added {"d": "a"} => Code::IllegalEvent;
        member_added {"d": "synthesizer"} => Code::IllegalEvent;
        member_added {"d": "c", "method": "task"} => Code::IllegalEvent;
    );
    let said = boot.ok("member_added", json!({"d": "c", "method": "team_api"}));
    assert_eq!(said.warnings.len(), 1);
    reports!(boot;
        final_synthesis_requested {} => Code::GateNotCleared;
        gate_cleared (summary(&["a", "b", "c"], &[])) => Code::GateRefused;
        round1_complete {} => Code::Round1Incomplete;
    );
    boot.deliver("c", "c-1");
    boot.review("c", "PASS");
    boot.ok("round1_complete", json!({}));
    boot.ok("gate_cleared", summary(&["a", "b", "c"], &[]));
    let evidence = boot.shown().evidence.unwrap();
    assert_eq!(
        evidence.selected_domains,
        ["a", "b"],
        "the launch was without it"
    );
    // An excluded domain may join again.
    boot.ok("domain_excluded", json!({"d": "c", "reason": "x"}));
    boot.ok("member_added", json!({"d": "c"}));
    has!(boot.domain("c"), {"status": "active", "round": 1});
    settled_digest(&mut boot.team);
}
