//! Tests of the messages that the contract's prompts tell members to send. Each message is reported unchanged, under the
//! name of its signal. The message also contains that name.

use crate::bootstrap::{Boot, record};
use crate::bootstrap_work::running;
use crate::prelude::*;

/// Returns a domain's complete result.
fn result(domain: &str, signal: &str) -> Value {
    json!({
        "signal": signal,
        "message_id": format!("{domain}-1-round1"),
        "schema_version": "domain_mapping_result.v1",
        "domain": domain,
        "domain_file_path": format!("references/{domain}_v2.md"),
        "domain_file_hash": "0".repeat(64),
        "evidence_refs": [{"section": "Fundamentals"}, {"section": "Core Morphisms"}, {"section": "Theorems"}],
        "objects_map": [{"from": "x", "to": "y"}],
        "morphisms_map": [{"from": "f", "to": "g"}],
        "theorems_used": ["t1", "t2"],
        "kernel_loss": {"lost_nuances": ["n"], "preservation_score": 0.5},
        "strategy_topology": {"topology_type": "tree"},
        "topology_reasoning": "why",
        "confidence": 0.75,
    })
}

fn ack(domain: &str, signal: &str) -> Value {
    json!({"signal": signal, "domain": domain, "message_id": format!("{domain}-1-round1"), "status": "received"})
}

fn feedback(domain: &str) -> Value {
    json!({"domain": domain, "schema_gate": {"passed": true, "errors": []}, "consistency_checks": [],
        "review_tier": "LOW", "attack_findings": [], "verdict": "PASS", "fix_requests": [], "confidence_adjustment": 0.0})
}

/// Returns all messages of a run after the launch, in an order in which each is accepted.
fn messages() -> Vec<Value> {
    let bare = |signal: &str| json!({"signal": signal});
    let mut all = vec![
        bare("CORE_BOOTSTRAP_PING"),
        json!({"signal": "OBSTRUCTION_CORE_READY_ACK", "status": "ready"}),
        json!({"signal": "SYNTHESIZER_CORE_READY_ACK", "status": "ready"}),
        json!({"signal": "RUNNING"}),
        json!({"signal": "CATEGORY_SKELETON", "objects": [{"name": "o"}], "morphisms": ["m"], "tags": [], "question": "q"}),
    ];
    for domain in ["a", "b"] {
        all.push(result(domain, "MAPPING_RESULT_ROUND1"));
        all.push(result(domain, "MAPPING_RESULT_JSON"));
        all.push(ack(domain, "OBSTRUCTION_ACK_RECEIVED"));
        all.push(ack(domain, "OBSTRUCTION_DELIVERY_ACK"));
    }
    all.extend([
        json!({"signal": "DELIVERY_ACK_TIMEOUT", "domain": "b", "missing_ack": "synthesizer", "message_id": "b-1-round1"}),
        result("b", "MAPPING_RESULT_JSON"),
        json!({"signal": "SCHEMA_REJECTED", "domain": "b", "issues": ["kernel_loss"], "request": "again"}),
    ]);
    for domain in ["a", "b"] {
        all.push(ack(domain, "SYNTHESIZER_ACK_RECEIVED"));
        all.push(ack(domain, "SYNTHESIZER_DELIVERY_ACK"));
    }
    let mut flat = feedback("b");
    flat["signal"] = "OBSTRUCTION_FEEDBACK".into();
    all.extend([
        json!({"signal": "OBSTRUCTION_FEEDBACK", "obstruction_review": feedback("a")}),
        flat,
        json!({"signal": "OBSTRUCTION_DIAGNOSIS", "domain": "a", "name": "anything"}),
        json!({"signal": "OBSTRUCTION_ROUND1_COMPLETE", "coverage": {"reviewed_domains": 2, "active_domains": 2},
            "domain_verdicts": {"a": "PASS", "b": "PASS"}, "unresolved_domains": [], "critical_issues": []}),
        json!({"signal": "PRELIMINARY_SYNTHESIS", "draft": {}}),
        json!({"signal": "OBSTRUCTION_GATE_CLEARED",
            "clear_summary": {"pass_domains": ["a", "b"], "revised_domains": [], "excluded_domains": [], "residual_risks": ["r"]},
            "conditions_for_final_synthesis": ["say the risks"]}),
        json!({"signal": "FINAL_SYNTHESIS_REQUEST", "domains": ["a", "b"]}),
        json!({"signal": "WAITING_OBSTRUCTION_FEEDBACK", "reason": "not_cleared", "required_signal": "OBSTRUCTION_GATE_CLEARED"}),
        json!({"signal": "COMMUTATIVITY_OBSTRUCTION_ALERT", "domain_a": "a", "domain_b": "b", "divergent_fields": ["x"]}),
        bare("SYNTHESIS_REMINDER_1"),
        bare("SYNTHESIS_REMINDER_2"),
        bare("DECISION_MEETING_REQUEST"),
        bare("SYNTHESIS_BLOCKED"),
        json!({"signal": "FINAL_SYNTHESIS_ACK", "status": "accepted"}),
        json!({"signal": "SYNTHESIS_RESULT_JSON", "commutative_diagram_report": {"verdict": "FULLY_COMMUTATIVE"},
            "limit": {"invariants": []}, "colimit": {"scenarios": []}, "quality_gates": {}}),
    ]);
    all
}

#[test]
fn every_message_of_the_contract_is_taken_whole_under_its_own_name() {
    let mut boot = Boot::at(State::CoreReady);
    let mut sent = BTreeSet::new();
    for message in messages() {
        let signal = message["signal"].as_str().unwrap().to_owned();
        if signal == "RUNNING" {
            boot.enter();
            continue;
        }
        let said = boot.say(&signal, message.clone());
        assert!(said.accepted, "{message}: {said:?}");
        sent.insert(signal);
    }
    let known = SIGNALS
        .iter()
        .map(|row| row.0)
        .chain(OTHER_SIGNALS.iter().copied());
    let unsent: Vec<&str> = known.filter(|signal| !sent.contains(*signal)).collect();
    assert_eq!(unsent, Vec::<&str>::new());
    assert_eq!(boot.shown().synthesis, "delivered");
    // Data that has no field of its own in the run is stored with the event.
    let mut kept = |kind: &str| -> Value {
        let recorded = events(&mut boot.team);
        let event = recorded.iter().find(|event| event["kind"] == kind).unwrap();
        event["payload"].clone()
    };
    let round = kept("bootstrap_round_completed");
    has!(round, {"reviewed_domains": ["a", "b"],
        "message": {"unresolved_domains": [], "critical_issues": []}});
    let mapping = kept("bootstrap_mapping_delivered");
    has!(mapping, {"domain_file_path": "references/a_v2.md",
        "/message/kernel_loss/lost_nuances": ["n"]});
    has!(kept("bootstrap_feedback_given"), {"/message/review_tier": "LOW"});
    settled_digest(&mut boot.team);
}

#[test]
fn a_signal_that_contradicts_the_event_is_refused_and_both_are_named() {
    let mut boot = running();
    for (event, signal) in [
        ("OBSTRUCTION_ROUND1_COMPLETE", "OBSTRUCTION_GATE_CLEARED"),
        ("MAPPING_RESULT_ROUND1", "MAPPING_RESULT_JSON"),
        ("round1_complete", "OBSTRUCTION_GATE_CLEARED"),
        ("round1_complete", "SCHEMA_REJECTED"),
        ("gate_cleared", "gate_cleared!"),
        ("SCHEMA_REJECTED", "SYNTHESIS_BLOCKED"),
        ("PRELIMINARY_SYNTHESIS", "SYNTHESIS_RESULT_JSON"),
    ] {
        let before = events(&mut boot.team).len();
        let report = record(event, json!({"signal": signal, "domain": "a"}));
        let refusal = refused(boot.team.bootstrap_record(report), Code::InvalidInput);
        assert_eq!(refusal.field.as_deref(), Some("data.signal"), "{refusal}");
        for named in [event, signal] {
            assert!(refusal.message.contains(&format!("{named:?}")), "{refusal}");
        }
        assert_eq!(events(&mut boot.team).len(), before);
    }
}

#[test]
fn an_event_may_carry_the_signal_that_stands_for_it() {
    let mut boot = running();
    let explained = |boot: &mut Boot, event: &str, data: Value| {
        let explain = given!(BootstrapExplain, event, data: data.as_object().unwrap().clone());
        boot.team
            .bootstrap_explain(explain)
            .map(|said| said.outcome.accepted)
    };
    let whole = result("a", "MAPPING_RESULT_ROUND1");
    assert_eq!(
        explained(&mut boot, "mapping_result", whole.clone()).ok(),
        Some(true)
    );
    // Only a message may have fields that the event does not have.
    let mut bare = whole.clone();
    bare.as_object_mut().unwrap().remove("signal");
    refused(
        explained(&mut boot, "mapping_result", bare),
        Code::InvalidInput,
    );
    // An unknown field that resembles a known field is refused in a message too.
    let mut slip = whole.clone();
    let fields = slip.as_object_mut().unwrap();
    let domain = fields.remove("domain").unwrap();
    fields.insert("domian_".to_owned(), json!("kept"));
    fields.insert("domains".to_owned(), domain);
    let refusal = refused(
        explained(&mut boot, "MAPPING_RESULT_ROUND1", slip),
        Code::InvalidInput,
    );
    shows!(refusal.message => has "did you mean domain?");
    // A file of the project is outside the contract's directories.
    let mut elsewhere = whole;
    elsewhere["domain_file_path"] = "src/a.md".into();
    let said = explained(&mut boot, "MAPPING_RESULT_ROUND1", elsewhere);
    let refusal = refused(said, Code::InvalidInput);
    assert_eq!(
        refusal.field.as_deref(),
        Some("data.domain_file_path"),
        "{refusal}"
    );
    // The fields of a review must agree with the other fields of its message.
    let twice = json!({"domain": "b", "obstruction_review": feedback("a")});
    let refusal = refused(
        explained(&mut boot, "OBSTRUCTION_FEEDBACK", twice),
        Code::InvalidInput,
    );
    assert_eq!(refusal.field.as_deref(), Some("data.domain"), "{refusal}");
}

#[test]
fn coverage_is_held_against_the_log_as_a_number_too() {
    let mut boot = running();
    for domain in ["a", "b"] {
        boot.deliver(domain, &format!("{domain}-1"));
        boot.review(domain, "PASS");
    }
    let covering =
        |count: Value| json!({"coverage": {"reviewed_domains": count, "active_domains": 2}});
    for wrong in [json!(0), json!(1), json!(3)] {
        let said = boot.no(
            "round1_complete",
            covering(wrong.clone()),
            Code::Round1Incomplete,
        );
        let message = said.message.unwrap();
        shows!(message => has &format!("a, b, or 2, but is {wrong}"));
    }
    for unread in [json!(-1), json!(1.5), json!(true)] {
        let report = record("round1_complete", covering(unread));
        refused(boot.team.bootstrap_record(report), Code::InvalidInput);
    }
    boot.ok("round1_complete", covering(json!(["b", "a"])));
}

#[test]
fn runs_are_listed_with_the_case_that_was_read() {
    use teamlog_team::bootstrap::list::BootstrapList;
    use teamlog_team::bootstrap::start::BootstrapStart;
    let mut boot = Boot::new();
    for (run, answer) in [
        ("second", json!("Already leading team \"x\".")),
        ("third", json!("团队功能不可用")),
        ("fourth", json!("what?")),
    ] {
        let start = given!(BootstrapStart, run);
        boot.team.bootstrap_start(start).unwrap();
        boot.ok("team_create_returned", json!({"raw": answer}));
    }
    let list = |boot: &mut Boot, limit: usize, cursor: Option<&str>| {
        let cursor = cursor.map(str::to_owned);
        let asked = given!(BootstrapList; limit, cursor);
        json(&boot.team.bootstrap_list(asked).unwrap())
    };
    let all = list(&mut boot, 0, None);
    let of = |page: &Value| -> Vec<(String, String)> {
        let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
        let runs = page["runs"].as_array().unwrap();
        runs.iter()
            .map(|run| (text(&run["run"]), text(&run["case"])))
            .collect()
    };
    let pair = |run: &str, case: &str| (run.to_owned(), case.to_owned());
    let (newest, oldest) = (
        [pair("fourth", "-"), pair("third", "C")],
        [pair("second", "B"), pair("1", "-")],
    );
    assert_eq!(of(&all), [newest.clone(), oldest.clone()].concat());
    assert_eq!(all.get("next_cursor"), None);
    let first = list(&mut boot, 2, None);
    assert_eq!(of(&first), newest);
    let rest = list(&mut boot, 2, first["next_cursor"].as_str());
    assert_eq!(
        (of(&rest), rest.get("next_cursor")),
        (oldest.to_vec(), None)
    );
    let asked = given!(BootstrapList; limit: None, cursor: "third");
    refused(boot.team.bootstrap_list(asked), Code::InvalidInput);
    // `bootstrap-show` reports the case even before the branch is taken.
    let shown = boot
        .team
        .bootstrap_show(given!(teamlog_team::bootstrap::show::BootstrapShow; run: "third"));
    assert_eq!(json(&shown.unwrap())["case"], "C");
}
