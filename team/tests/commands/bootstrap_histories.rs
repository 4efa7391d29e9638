//! Properties of runs after any reports in any order: the fields of a run are consistent, an explanation predicts the next
//! report's outcome, a refusal records nothing, and the live state equals the rebuilt state.

use crate::bootstrap::{Boot, record};
use crate::prelude::*;
use proptest::prelude::*;

#[derive(Debug, Clone)]
enum Step {
    /// The best next event, with data that mostly fits.
    On {
        draw: u8,
    },
    /// Any event, with any data.
    Any {
        event: usize,
        draw: u8,
        other: u8,
    },
    /// A verdict, requested or not.
    Review {
        draw: u8,
    },
    Start,
    Tick,
    Later(i64),
    Rehydrate,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        30 => any::<u8>().prop_map(|draw| Step::On { draw }),
        8 => (0..EVENTS.len(), any::<u8>(), any::<u8>())
            .prop_map(|(event, draw, other)| Step::Any { event, draw, other }),
        3 => any::<u8>().prop_map(|draw| Step::Review { draw }),
        1 => Just(Step::Start),
        2 => Just(Step::Tick),
        3 => (0i64..100_000_000).prop_map(Step::Later),
        1 => Just(Step::Rehydrate),
    ];
    prop::collection::vec(step, 1..120)
}

/// Returns data that mostly fits the event.
fn data(boot: &mut Boot, event: &str, draw: u8) -> Value {
    let shown = boot.shown();
    let at = usize::from(draw);
    let domain = match shown.work.get(at % shown.work.len().max(1)) {
        Some(domain) => domain.domain.clone(),
        None => "a".to_owned(),
    };
    let core = ["obstruction", "synthesizer", "lead"][at % 7 % 3];
    let id = shown
        .work
        .iter()
        .find(|one| one.domain == domain)
        .map(|one| {
            one.message_id
                .clone()
                .unwrap_or(format!("{domain}-{}", one.round))
        });
    match event {
        "team_create_returned" => [
            json!({"outcome": "ok", "name": "alpha"}),
            json!({"outcome": "ok", "name": "alpha"}),
            json!({"raw": "Already leading team beta"}),
            json!({"raw": "Already leading team"}),
            json!({"raw": "hm"}),
            json!({"outcome": "unavailable"}),
        ][at % 6]
            .clone(),
        "branch_taken" if at.is_multiple_of(5) => {
            json!({"case": (["A", "B", "C"][at % 3]), "team_name": "gamma"})
        }
        "team_launched" if at.is_multiple_of(9) => json!({"method": "task", "members": ["a"]}),
        "team_launched" => {
            json!({"method": "team_api", "members": ["obstruction", "synthesizer", "a", "b"]})
        }
        "core_ready_ack" => json!({"from": core}),
        "running_entered" => serde_json::to_value(boot.shown().evidence)
            .ok()
            .filter(Value::is_object)
            .unwrap_or(json!({})),
        "domain_started" | "revision_submitted" => json!({"d": domain}),
        "mapping_result" => {
            json!({"d": domain, "message_id": id.unwrap_or("m".to_owned()), "to": (["obstruction", "synthesizer", "both"][at % 3])})
        }
        "delivery_ack" => {
            json!({"d": domain, "message_id": id.unwrap_or("m".to_owned()), "by": core})
        }
        "delivery_ack_timeout" => {
            json!({"d": domain, "missing_ack": (["obstruction", "synthesizer"][at % 2])})
        }
        "obstruction_feedback" => {
            json!({"d": domain, "verdict": (["PASS", "PASS", "REVISE", "REJECT"][at % 4])})
        }
        "domain_excluded" => json!({"d": domain, "reason": "x"}),
        "gate_cleared" => {
            json!({"clear_summary": {"pass_domains": [], "revised_domains": [], "excluded_domains": [], "residual_risks": []}})
        }
        "synthesis_result" | "final_synthesis_ack" => {
            json!({"by": (["synthesizer", "synthesizer", "lead"][at % 3])})
        }
        "member_added" => json!({"d": (["a", "c", "d"][at % 3])}),
        "lead_content" => json!({"kind": "domain", "simulation": at.is_multiple_of(2)}),
        "task_launched" => json!({"member": "a"}),
        "signal" => json!({"signal": "OBSTRUCTION_DIAGNOSIS", "n": at}),
        _ => json!({}),
    }
}

fn report(boot: &mut Boot, event: &str, data: Value) {
    let BootstrapRecord { run, event, data } = record(event, data);
    let explain = given!(BootstrapExplain, run: run.clone(), event: event.clone(),
        data: data.clone());
    let asked = boot.team.bootstrap_explain(explain);
    let before = events(&mut boot.team).len();
    let said = boot
        .team
        .bootstrap_record(BootstrapRecord { run, event, data });
    let new = events(&mut boot.team).split_off(before);
    let (asked, said) = match (asked, said) {
        (Ok(asked), Ok(said)) => (asked, said),
        (Err(_), Err(_)) => {
            assert!(new.is_empty(), "{new:?}");
            return;
        }
        (asked, said) => panic!("{asked:?} {said:?}"),
    };
    assert_eq!(asked.outcome, said);
    let kinds: Vec<&str> = new
        .iter()
        .map(|event| event["kind"].as_str().unwrap())
        .collect();
    assert_eq!(asked.records, kinds);
    let is_refusal = said
        .code
        .as_deref()
        .is_some_and(|code| !code.starts_with("PROTOCOL_"));
    assert!(!is_refusal || new.is_empty(), "{said:?} left {new:?}");
    assert_eq!(said.accepted, said.code.is_none());
}

/// Checks the conditions that every run must meet after any reports.
fn holds_together(boot: &mut Boot) {
    let shown = boot.shown();
    let at_least = |state: State| shown.state >= state && shown.state != State::Fallback;
    if at_least(State::TeamReady) {
        assert!(
            shown.team_name.is_some() && shown.case.is_some(),
            "{shown:?}"
        );
    }
    if at_least(State::MembersReady) {
        assert_eq!(&shown.domains[..2], ["a", "b"]);
    }
    assert_eq!(
        at_least(State::CoreReady),
        shown.state != State::Fallback && shown.evidence.is_some()
    );
    if shown.state == State::Running {
        let ready = shown.core_ready;
        assert!(ready.obstruction && ready.synthesizer && shown.blocked.is_none());
    } else if shown.state < State::Running {
        assert!(shown.work.is_empty() && shown.gate.is_none() && !shown.round1_complete);
    }
    if shown.gate.is_some() {
        let active = |status: &str| status != "excluded";
        let all = shown.work.iter().filter(|domain| active(&domain.status));
        assert!(shown.round1_complete);
        for domain in all {
            assert_eq!(domain.verdict.map(|verdict| verdict.name()), Some("PASS"));
            assert_eq!(domain.reviewed_round, domain.round);
            let deliveries = (&*domain.obstruction, &*domain.synthesizer);
            assert_eq!(
                (deliveries, &*domain.status),
                (("acked", "acked"), "active")
            );
        }
    }
    assert!(shown.synthesis == "none" || shown.gate.is_some());
    let next = shown
        .checklist
        .iter()
        .filter(|step| step.status.name() == "next")
        .count();
    assert!(next <= 1);
    if shown.state == State::Fallback {
        assert_eq!((shown.due_at, next, shown.next.len()), (None, 0, 0));
    }
}

/// Returns a new run, a run of a working team, or a run with a cleared gate.
fn from_where(from: u8) -> Boot {
    match from {
        0 => Boot::new(),
        1 => Boot::at(State::Running),
        _ => Boot::cleared(),
    }
}

fn take(boot: &mut Boot, step: Step) {
    match step {
        Step::On { draw } => {
            let next = boot.shown().next;
            let Some(event) = next
                .get(usize::from(draw) % next.len().clamp(1, 3))
                .cloned()
            else {
                return;
            };
            let data = data(boot, &event, draw);
            report(boot, &event, data);
        }
        Step::Any { event, draw, other } => {
            let named = EVENTS[event].name;
            let of = EVENTS[usize::from(other) % EVENTS.len()].name;
            let data = data(boot, if other < 40 { of } else { named }, draw);
            report(boot, named, data);
        }
        Step::Review { draw } => {
            let data = data(boot, "obstruction_feedback", draw);
            report(boot, "obstruction_feedback", data);
        }
        Step::Start => {
            let domains = Some(vec!["a".to_owned(), "b".to_owned()]);
            boot.team
                .bootstrap_start(BootstrapStart { run: None, domains })
                .unwrap();
        }
        Step::Tick => drop(boot.team.tick(Tick::default()).unwrap()),
        Step::Later(micros) => boot.world.later(micros),
        Step::Rehydrate => drop(settled_digest(&mut boot.team)),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn a_run_holds_together_whatever_is_reported(steps in steps(), from in 0u8..3) {
        let mut boot = from_where(from);
        for step in steps {
            take(&mut boot, step);
            holds_together(&mut boot);
        }
        settled_digest(&mut boot.team);
    }
}
