//! Tests of several runs in one team: input, signals, keys, and the API.

use crate::bootstrap::{Boot, record};
use crate::bootstrap_breaches::fallen;
use crate::prelude::*;
use teamlog_team::bootstrap::show::BootstrapShow;

#[test]
fn runs_are_numbered_and_the_newest_is_meant() {
    let mut boot = Boot::new();
    assert_eq!(boot.start().run, "2");
    let named = |run: &str| given!(BootstrapStart, run);
    boot.team.bootstrap_start(named("7")).unwrap();
    assert_eq!(boot.start().run, "8");
    boot.team.bootstrap_start(named("nightly")).unwrap();
    assert_eq!(boot.shown().run, "nightly");
    reports!(boot; team_create_returned {"outcome": "ok", "name": "alpha"});
    let refusal = refused(boot.team.bootstrap_start(named("7")), Code::RunExists);
    assert!(refusal.hint.is_some());
    for bad in ["a/b", "", ".x", "-x"] {
        refused(boot.team.bootstrap_start(named(bad)), Code::InvalidInput);
    }
    let of = |run: &str| given!(BootstrapShow; run);
    assert_eq!(
        boot.team.bootstrap_show(of("1")).unwrap().run.state,
        State::Init
    );
    refused(boot.team.bootstrap_show(of("9")), Code::RunNotFound);
    refused(
        boot.team.bootstrap_evidence(BootstrapEvidence::default()),
        Code::NotLaunched,
    );
    let other = World::new();
    let mut none = other.demo();
    refused(
        none.bootstrap_record(record("core_pinged", json!({}))),
        Code::RunNotFound,
    );
    for domains in [&["a", "a"][..], &["synthesizer"], &[" "], &["\u{7}"]] {
        let domains = Some(domains.iter().map(|name| name.to_string()).collect());
        refused(
            none.bootstrap_start(BootstrapStart { run: None, domains }),
            Code::InvalidInput,
        );
    }
    settled_digest(&mut boot.team);
}

#[test]
fn what_cannot_be_read_is_an_error_that_names_the_field() {
    let mut boot = Boot::at(State::Running);
    for (event, data, field, said) in cases![
        ("domain_startd", {}, "event", "domain_started"),
        ("domain_started", {}, "data.domain", "required"),
        ("domain_started", {"domian": "a"}, "data", "domain"),
        ("domain_started", {"d": "a", "domain": "a"}, "data.domain", "once"),
        ("domain_started", {"d": ["a"]}, "data.domain", "text"),
        ("obstruction_feedback", {"d": "a", "verdict": "MAYBE"}, "data.verdict", "PASS"),
        ("obstruction_feedback", {"d": "a", "verdict": "PASS", "round": 0}, "data.round", "from 1"),
        ("mapping_result", {"d": "a", "message_id": "m", "to": "obstruction",
            "path_origin": "project"}, "data.path_origin", "absolute"),
        ("team_launched", {"method": "by magic", "members": []}, "data.method", "team_api"),
        ("lead_content", {"kind": "poem"}, "data.kind", "domain"),
    ] {
        let before = events(&mut boot.team).len();
        let refusal = refused(
            boot.team.bootstrap_record(record(event, data)),
            Code::InvalidInput,
        );
        assert_eq!(refusal.field.as_deref(), Some(field), "{refusal}");
        assert!(refusal.message.contains(said), "{refusal}");
        assert_eq!(events(&mut boot.team).len(), before);
    }
    let deep = (0..100).fold(json!(1), |inner, _| json!([inner]));
    let refusal = refused(
        boot.team
            .bootstrap_record(record("signal", json!({"signal": "X", "deep": deep}))),
        Code::InvalidInput,
    );
    assert_eq!(refusal.field.as_deref(), Some("data"));
    let long = json!({"signal": "X", "text": "x".repeat(300_000)});
    refused(
        boot.team.bootstrap_record(record("signal", long)),
        Code::TooLarge,
    );
}

#[test]
fn signals_are_the_events_that_they_mean_or_are_kept_as_they_are() {
    for signal in OTHER_SIGNALS {
        let mut boot = Boot::new();
        let data = json!({"from": "synthesizer", "run": "x", "note": "n"});
        let said = boot.ok(signal, data);
        assert_eq!(said.state, State::Init);
        let recorded = events(&mut boot.team).pop().unwrap();
        has!(recorded, {"kind": "bootstrap_signal_recorded",
            "payload": {"run": "1", "signal": signal, "from": "synthesizer", "note": "n"}});
    }
    assert_eq!(SIGNALS.len(), 17);
    let mut boot = Boot::at(State::CoreReady);
    boot.ok("signal", json!({"signal": "SYNTHESIZER_CORE_READY_ACK"}));
    assert!(boot.shown().core_ready.synthesizer);
    let mut boot = fallen();
    boot.ok("signal", json!({"signal": "ANYTHING", "x": {"y": 1}}));
}

#[test]
fn events_of_a_run_belong_to_one_story_and_name_who_is_concerned() {
    let mut boot = Boot::new();
    let traced = |trace: Option<&str>| given!(teamlog_team::command::Control, trace_id: trace);
    boot.team.under(traced(Some("tr-1")));
    reports!(boot; team_create_returned {"outcome": "ok", "name": "alpha"});
    boot.team.under(traced(None));
    boot.go(State::CoreReady);
    reports!(boot; core_ready_ack {"from": "synthesizer", "details": {"host": "h"}});
    let last = events(&mut boot.team).pop().unwrap();
    has!(last, {"trace_id": "tr-1", "actor": "synthesizer", "agent": "synthesizer",
        "/payload/details": {"host": "h"}});
    assert_eq!(boot.shown().trace_id.as_deref(), Some("tr-1"));
}

#[test]
fn under_a_key_a_breach_is_recorded_once() {
    let mut boot = Boot::at(State::Running);
    let said = record("lead_content", json!({"kind": "domain"}));
    boot.team.under(
        given!(teamlog_team::command::Control, operation: "bootstrap-record",
            request: b"same".to_vec(), key: "k-1"),
    );
    let first = boot.team.bootstrap_record(said.clone()).unwrap();
    let count = events(&mut boot.team).len();
    assert_eq!(boot.team.bootstrap_record(said).unwrap(), first);
    assert_eq!(events(&mut boot.team).len(), count);
    assert_eq!(boot.shown().breaches, 1);
}

#[test]
fn through_the_api_what_is_not_accepted_is_a_fault_with_the_same_fields() {
    let boot = Boot::at(State::MembersReady);
    let call = |name: &str, input: Value| {
        let operation = teamlog_team::api::find(name).unwrap();
        let Value::Object(mut input) = input else {
            panic!("{input}");
        };
        input.insert("team_name".to_owned(), json!("demo"));
        teamlog_team::api::call(&boot.world.root, operation, input, Default::default())
    };
    let data: Map<String, Value> = Map::from_iter([("member".to_owned(), json!("a"))]);
    let input = json!({"event": "task_launched", "data": data});
    let fault = call("bootstrap-record", input).unwrap_err();
    assert_eq!(fault.code, "PROTOCOL_BREACH_INITIAL_TASK_LAUNCH");
    has!(fault.details, {"state": "TEAM_READY", "rolled_back_to": "TEAM_READY", "accepted": false});
    let fault = call("bootstrap-record", json!({"event": "core_pinged"})).unwrap_err();
    assert_eq!(
        (&*fault.code, &fault.details["state"]),
        ("illegal_event", &json!("TEAM_READY"))
    );
    let fault = call("bootstrap-record", json!({"event": "core_pingd"})).unwrap_err();
    assert_eq!(fault.code, "invalid_input");
    let shown = call("bootstrap-show", json!({"run": "1"})).unwrap();
    let shown: Value = serde_json::from_str(shown.data.get()).unwrap();
    has!(shown, {"state": "TEAM_READY", "breaches": 1});
    let explained = call("bootstrap-explain", json!({"event": "roster_built"})).unwrap();
    let explained: Value = serde_json::from_str(explained.data.get()).unwrap();
    has!(explained, {"records": ["bootstrap_roster_built"], "accepted": true,
        "state": "MEMBERS_READY"});
}
