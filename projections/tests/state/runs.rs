//! Tests of runs of the bootstrap contract: the folds of any of their events, and the view files.

use crate::support::*;
use serde_json::{Map, Value, json};
use teamlog_engine::Timestamp;
use teamlog_projections::bootstrap::event::{
    BootstrapAct, BootstrapFact, Breach, Delivered, Feedback, Probe,
};
use teamlog_projections::bootstrap::{Case, Core, Evidence, Method, Outcome, State, Verdict};

const DOMAINS: [&str; 3] = ["a", "b", "c"];

/// Returns one of the events of a bootstrap run.
pub fn reported(run: u8, what: u8, domain: u8, value: u8) -> NewEvent {
    let name = DOMAINS[usize::from(domain)].to_owned();
    let act = act(what, name, value);
    let fact = given!(BootstrapFact; run: ["1", "nightly"][usize::from(run)].to_owned(), act);
    let trace = (value == 3).then_some("tr_3");
    fact.event("lead", trace, &Map::new()).unwrap()
}

fn act(what: u8, domain: String, value: u8) -> BootstrapAct {
    use BootstrapAct as Act;
    let core = Core::ALL[usize::from(value) % 2];
    let state = State::ALL[usize::from(value) % 6];
    let message_id = format!("{domain}-{}", value % 2);
    let domains = || vec!["a".to_owned(), "b".to_owned()];
    match what {
        0..=3 => Act::Started { domains: domains() },
        4 => Act::Probed(given!(Probe; outcome: Outcome::ALL[usize::from(value) % 4],
            team_name: (value < 4).then(|| "alpha".to_owned()), message: None::<String>)),
        5 => given!(Act::BranchTaken; case: Case::ALL[usize::from(value) % 3], team_name: "alpha"),
        6 => Act::FallbackEntered { reason: None },
        7 => given!(Act::RosterBuilt; core: Core::ALL.to_vec(), domains: domains()),
        8 | 9 => given!(Act::TeamLaunched; method: Method::TeamApi, members: domains(),
            due_at: None),
        10 => given!(Act::Blocked; code: "X", at_state: state, raw: "no"),
        11 => Act::CorePinged { to: core },
        12 | 13 => Act::CoreAcked { from: core },
        14 => given!(Act::HandshakeTimedOut; missing: vec![core]),
        15 => given!(Act::CoreRelaunched; missing: vec![core], due_at: None),
        16..=18 => given!(Act::RunningEntered; evidence: evidence()),
        19 => Act::SwarmDeclared {},
        20 => Act::DomainStarted { domain },
        21 | 22 => Act::MappingDelivered(given!(Delivered; domain, message_id, to: core, round: 1,
            resent: value > 3, due_at: None, domain_file_path: None::<String>,
            path_origin: None::<String>)),
        23 => given!(Act::DeliveryAcked; domain, message_id, by: core),
        24 => given!(Act::DeliveryTimedOut; domain, message_id, missing_ack: core,
            blocked: value > 2),
        25 => Act::FeedbackGiven(given!(Feedback; domain, round: u32::from(value),
            verdict: Verdict::ALL[usize::from(value) % 3], reason: None::<String>,
            fix_requests: json!([value]))),
        26 => given!(Act::RevisionSubmitted; domain, round: u32::from(value)),
        27 => given!(Act::DomainExcluded; domain, reason: "x"),
        28 => given!(Act::RoundCompleted; reviewed_domains: domains()),
        29 => Act::MemberAdded { domain },
        30 => given!(Act::SignalRecorded; signal: "S",
            said: Map::from_iter([("n".to_owned(), json!(value))])),
        _ => Act::Breached(
            given!(Breach; code: "PROTOCOL_BREACH_X", event: "x", data: Map::new(), at_state: state,
                rolled_back_to: state, why: "so"),
        ),
    }
}

fn evidence() -> Evidence {
    serde_json::from_value(json!({
        "launch_mode": "team_launch", "launch_method": "team_api", "team_name": "alpha",
        "selected_domains": ["a", "b"], "active_core_members": ["obstruction-theorist", "synthesizer"],
        "core_ready_ack": {"OBSTRUCTION_CORE_READY_ACK": true, "SYNTHESIZER_CORE_READY_ACK": true},
    }))
    .unwrap()
}

/// Checks that the index of deadlines agrees with the runs.
pub fn check_due(live: &Live) {
    let end = Timestamp::from_micros(i64::MAX / 2).unwrap_or(at(1 << 20));
    let listed = live.bootstrap_due_by(end, 10).unwrap();
    let mut listed: Vec<(i64, String)> = listed
        .iter()
        .map(|run| (run.due().expect("it is listed"), run.run.clone()))
        .collect();
    let mut wanted: Vec<(i64, String)> = live
        .newest_bootstrap_runs(10)
        .unwrap()
        .into_iter()
        .filter_map(|run| Some((run.due()?, run.run)))
        .collect();
    wanted.sort();
    let first = wanted.first().map(|(at, _)| *at);
    assert_eq!(
        live.next_bootstrap_due().unwrap().map(|at| at.micros()),
        first
    );
    listed.sort();
    assert_eq!(listed, wanted);
}

#[test]
fn a_run_has_a_view_that_follows_it_and_is_mended() {
    let team = Team::new();
    assert!(
        team.storage
            .stat(&team.path("bootstrap"))
            .unwrap()
            .is_none()
    );
    team.append(vec![reported(0, 0, 0, 0), reported(1, 4, 0, 0)]);
    team.append(vec![reported(0, 4, 0, 0)]);
    let shown = team.json("bootstrap/1.json");
    has!(shown, {"schema_version": 1, "state": "TEAM_PROBED"});
    assert_eq!(shown["checklist"].as_array().unwrap().len(), 9);
    // A run that never began is not listed.
    assert_eq!(
        team.storage.list(&team.path("bootstrap")).unwrap(),
        ["1.json"]
    );
    let views = team.views();
    let path = team.path("bootstrap/1.json");
    team.storage.replace(&path, b"{}", false).unwrap();
    team.storage
        .replace(&team.path("bootstrap/7.json"), b"{}", false)
        .unwrap();
    let exclusive = team.log.lock().unwrap();
    let reader = exclusive.reader();
    let found = ViewsSource::new(&team.log)
        .against(&team.live(), &reader)
        .unwrap();
    let faults: Vec<(&str, &str)> = found
        .faults
        .iter()
        .map(|fault| (&*fault.file, fault.what))
        .collect();
    assert_eq!(
        faults,
        [
            ("bootstrap/1.json", "differs"),
            ("bootstrap/7.json", "unknown")
        ]
    );
    let (found, _) = rehydrate(&team.log, &reader, 2, &mut |_| {}).unwrap();
    assert_eq!((found.views.written, found.views.removed), (1, 1));
    assert_eq!(team.views(), views);
}

#[test]
fn a_fall_forgets_what_belongs_to_the_states_behind() {
    let team = Team::new();
    let say = |what: u8, value: u8| team.append(vec![reported(0, what, 0, value)]);
    let run = || team.live().bootstrap_run("1").unwrap().unwrap();
    for (what, value) in [
        (0, 0),
        (4, 0),
        (5, 0),
        (7, 0),
        (8, 0),
        (12, 0),
        (12, 1),
        (16, 0),
        (21, 0),
    ] {
        say(what, value);
    }
    assert_eq!((run().state, run().domains.len()), (State::Running, 2));
    assert!(run().due().is_some());
    // Each case: the number of a state; true if the launch, the roster and the team's name are known in that state.
    for (state, launch, roster, name) in [
        (4, true, true, true),
        (3, false, true, true),
        (2, false, false, true),
        (0, false, false, false),
    ] {
        say(31, state);
        let run = run();
        let found = (
            run.launch.is_some(),
            run.roster.is_some(),
            run.team_name.is_some(),
        );
        assert_eq!(found, (launch, roster, name), "{:?}", run.state);
        assert_eq!(
            (run.both_acked(), run.domains.len(), run.due()),
            (launch, 0, None)
        );
    }
    assert_eq!((run().breaches, run().probe), (4, None));
}

#[test]
fn an_event_that_says_nothing_of_a_run_is_damage() {
    for payload in [
        json!({}),
        json!({"run": "a/b", "domain": "a"}),
        json!({"run": "1"}),
        json!({"run": "1", "domain": "a\u{7}"}),
        json!({"run": 1, "domain": "a"}),
    ] {
        assert!(
            decoded("bootstrap_domain_started", &payload).is_err(),
            "{payload}"
        );
    }
    let good = json!({"run": "1", "domain": "a", "later": {"x": 1}});
    assert!(decoded("bootstrap_domain_started", &good).is_ok());
}

fn decoded(kind: &'static str, payload: &Value) -> Result<(), String> {
    let team = Team::new();
    let json = teamlog_engine::Json::from_value(payload).unwrap();
    let event = NewEvent::new(kind, "lead", json);
    team.force(vec![event]);
    let reader = team.log.reader().unwrap();
    let live = Live::load(&team.log, &reader);
    live.map(drop).map_err(|error| error.to_string())
}
