//! Tests of bootstrap runs: the steps up to a working team, and the states in which each event is legal.

use crate::machines::is_drawn;
use crate::prelude::*;
use teamlog_team::bootstrap::record::BootstrapRecorded;
use teamlog_team::bootstrap::show::BootstrapShow;
use teamlog_team::bootstrap::start::BootstrapStarted;
use teamlog_team::projections::bootstrap::{RunShown, StepStatus};

/// Reports events to a run, one per line: an event and its data. After `=>` comes the code of an expected refusal, or the
/// code of a breach and the state after the rollback.
macro_rules! reports {
    (@data {$($data:tt)*}) => { serde_json::json!({$($data)*}) };
    (@data ($data:expr)) => { $data };
    (@report $boot:expr, $event:ident $data:tt) => {
        $boot.ok(stringify!($event), reports!(@data $data))
    };
    (@report $boot:expr, $event:ident $data:tt $code:expr) => {
        $boot.no(stringify!($event), reports!(@data $data), $code)
    };
    (@report $boot:expr, $event:ident $data:tt $code:expr, $back_to:expr) => {
        $boot.breach(stringify!($event), reports!(@data $data), $code, $back_to)
    };
    ($boot:expr; $($event:ident $data:tt $(=> $($refused:expr),+)?);+ $(;)?) => {
        { $(reports!(@report $boot, $event $data $($($refused),+)?);)+ }
    };
}

/// A team `demo` with the run `1`, whose domains are `a` and `b`.
pub struct Boot {
    pub world: World,
    pub team: Team,
}

impl Boot {
    pub fn new() -> Boot {
        let (world, team) = team_of(None, Format::Jsonl);
        let mut boot = Boot { world, team };
        boot.start();
        boot
    }

    pub fn start(&mut self) -> BootstrapStarted {
        let domains = Some(vec!["a".to_owned(), "b".to_owned()]);
        let start = BootstrapStart { run: None, domains };
        self.team.bootstrap_start(start).unwrap()
    }

    /// Returns a run that reached `state` by the shortest way.
    pub fn at(state: State) -> Boot {
        let mut boot = Boot::new();
        boot.go(state);
        boot
    }

    pub fn go(&mut self, state: State) {
        let steps: &[(State, &str, Value)] = &cases![
            (State::TeamProbed, "team_create_returned", {"outcome": "ok", "team_name": "alpha"}),
            (State::TeamReady, "branch_taken", {"case": "A"}),
            (State::MembersReady, "roster_built", {"domains": ["a", "b"]}),
            (State::CoreReady, "team_launched",
                launch(&["obstruction-theorist", "synthesizer", "a", "b"])),
            (State::CoreReady, "core_ready_ack", {"from": "obstruction"}),
            (State::CoreReady, "core_ready_ack", {"from": "synthesizer"}),
        ];
        for (reached, event, data) in steps {
            let at = self.shown().state;
            // Acks are possible only on the way to RUNNING.
            let open = match *event {
                "core_ready_ack" => at == State::CoreReady && state == State::Running,
                _ => at < *reached && *reached <= state,
            };
            if open {
                self.ok(event, data.clone());
            }
        }
        if state == State::Running {
            self.enter();
        }
        assert_eq!(self.shown().state, state);
    }

    /// Enters `RUNNING` with evidence that agrees with the log.
    pub fn enter(&mut self) {
        let evidence = self.team.bootstrap_evidence(BootstrapEvidence::default());
        self.ok("running_entered", json(&evidence.unwrap()));
    }

    pub fn say(&mut self, event: &str, data: Value) -> BootstrapRecorded {
        self.team.bootstrap_record(record(event, data)).unwrap()
    }

    /// Reports an event that must be accepted.
    #[track_caller]
    pub fn ok(&mut self, event: &str, data: Value) -> BootstrapRecorded {
        let row = format!("{event} {data}");
        let before = self.shown().state;
        let said = self.say(event, data);
        assert!(said.accepted, "{row}: {said:?}");
        assert_eq!((&said.code, said.rolled_back_to), (&None, None));
        let step = (before.name(), event, self.shown().state.name());
        // Signals have names in capitals. A signal is reported in place of an event, so the listed steps contain no signals.
        let is_signal = !event.contains(|letter: char| letter.is_ascii_lowercase());
        assert!(
            is_signal || is_drawn(&self.team, "bootstrap", step),
            "{step:?}"
        );
        said
    }

    /// Reports an event that must be refused. Checks that nothing is recorded and the run stays unchanged.
    #[track_caller]
    pub fn no(&mut self, event: &str, data: Value, code: Code) -> BootstrapRecorded {
        let (before, at) = (events(&mut self.team).len(), self.shown().state);
        let explained = self.explain(event, data.clone());
        let row = format!("{event} {data}");
        let said = self.say(event, data);
        assert_eq!(said.code.as_deref(), Some(code.as_str()), "{row}: {said:?}");
        assert_eq!(
            (said.accepted, said.state, said.rolled_back_to),
            (false, at, None)
        );
        assert_eq!(
            events(&mut self.team).len(),
            before,
            "a refusal recorded something"
        );
        assert_eq!(json(&explained)["code"], json!(code.as_str()));
        said
    }

    /// Reports a breach. Checks that the breach is recorded and the run is rolled back.
    #[track_caller]
    pub fn breach(&mut self, event: &str, data: Value, code: Code, back_to: State) {
        let at = self.shown().state;
        let explained = self.explain(event, data.clone());
        let said = self.say(event, data.clone());
        let wanted = (Some(code.as_str()), Some(back_to), back_to, false);
        let found = (
            said.code.as_deref(),
            said.rolled_back_to,
            said.state,
            said.accepted,
        );
        assert_eq!(found, wanted, "{event} {data}: {said:?}");
        let last = events(&mut self.team).pop().unwrap();
        assert_eq!(last["kind"], "bootstrap_breached");
        let payload = &last["payload"];
        assert_eq!(payload["code"], code.as_str());
        has!(payload, {"event": event, "data": data});
        has!(payload, {"at_state": at.name(), "rolled_back_to": back_to.name()});
        assert!(!payload["why"].as_str().unwrap().is_empty());
        // The explanation before the report predicts its outcome.
        let explained = json(&explained);
        has!(explained, {"state": back_to.name(), "at_state": at.name()});
        let records = explained["records"].as_array().unwrap();
        assert_eq!(records.last().unwrap(), "bootstrap_breached");
        assert_eq!(explained["next"], json!(said.next));
        settled_digest(&mut self.team);
    }

    fn explain(&mut self, event: &str, data: Value) -> impl serde::Serialize + use<> {
        let BootstrapRecord { run, event, data } = record(event, data);
        self.team
            .bootstrap_explain(BootstrapExplain { run, event, data })
            .unwrap()
    }

    pub fn shown(&mut self) -> RunShown {
        self.team
            .bootstrap_show(BootstrapShow::default())
            .unwrap()
            .run
    }
}

pub fn record(event: &str, data: Value) -> BootstrapRecord {
    let Value::Object(data) = data else {
        panic!("{data} is no object");
    };
    given!(BootstrapRecord, event, data)
}

pub fn launch(members: &[&str]) -> Value {
    json!({"method": "team_api", "members": members})
}

pub const WHOLE: [&str; 4] = ["obstruction-theorist", "synthesizer", "a", "b"];

#[test]
fn a_run_goes_from_the_first_call_to_the_synthesis() {
    let mut boot = Boot::new();
    let asked = |shown: &RunShown| {
        let next = shown
            .checklist
            .iter()
            .find(|step| step.status == StepStatus::Next);
        next.map(|step| step.number)
    };
    for (number, state) in (1..).zip([
        State::TeamProbed,
        State::TeamReady,
        State::MembersReady,
        State::CoreReady,
    ]) {
        assert_eq!(asked(&boot.shown()), Some(number));
        boot.go(state);
    }
    assert_eq!(asked(&boot.shown()), Some(5));
    boot.ok("core_pinged", json!({}));
    assert_eq!(boot.shown().next[0], "core_ready_ack");
    boot.ok("core_ready_ack", json!({"from": "obstruction"}));
    let said = boot.ok("core_ready_ack", json!({"from": "synthesizer"}));
    assert_eq!(said.next, ["running_entered"]);
    let evidence = json(
        &boot
            .team
            .bootstrap_evidence(BootstrapEvidence::default())
            .unwrap(),
    );
    assert_eq!(
        evidence,
        json!({
            "launch_mode": "team_launch",
            "launch_method": "team_api",
            "team_name": "alpha",
            "selected_domains": ["a", "b"],
            "active_core_members": ["obstruction-theorist", "synthesizer"],
            "core_ready_ack": {"OBSTRUCTION_CORE_READY_ACK": true, "SYNTHESIZER_CORE_READY_ACK": true},
        })
    );
    boot.ok("running_entered", json!({"evidence": evidence}));
    boot.ok("swarm_declared", json!({}));
    boot.ok("skeleton_sent", json!({}));
    for domain in ["a", "b"] {
        reports!(boot;
            domain_started {"d": domain};
            MAPPING_RESULT_ROUND1 {"domain": domain, "message_id": format!("{domain}-1")};
            MAPPING_RESULT_JSON {"domain": domain, "message_id": format!("{domain}-1")};
        );
        for by in ["obstruction", "synthesizer"] {
            reports!(boot;
                delivery_ack {"by": by, "d": domain, "message_id": format!("{domain}-1")};
            );
        }
        reports!(boot; obstruction_feedback {"d": domain, "round": 1, "verdict": "PASS"});
    }
    assert_eq!(asked(&boot.shown()), Some(8));
    assert_eq!(boot.shown().next, ["round1_complete"]);
    boot.ok("round1_complete", json!({"coverage": {"reviewed_domains": ["a", "b"], "active_domains": ["b", "a"]}, "verdicts": {"a": "PASS", "b": "PASS"}}));
    let summary = json!({"pass_domains": ["a", "b"], "revised_domains": [], "excluded_domains": [], "residual_risks": []});
    let data = json!({"clear_summary": summary, "conditions": ["be brief"]});
    let said = boot.ok("gate_cleared", data);
    assert_eq!(said.warnings, [""; 0]);
    assert_eq!(asked(&boot.shown()), Some(9));
    boot.ok("final_synthesis_requested", json!({}));
    boot.ok("final_synthesis_ack", json!({"status": "accepted"}));
    let said = boot.ok("synthesis_result", json!({"by": "synthesizer"}));
    assert_eq!(said.next, [""; 0]);
    let shown = boot.shown();
    assert!(
        shown
            .checklist
            .iter()
            .all(|step| step.status == StepStatus::Done)
    );
    assert_eq!(
        (&*shown.synthesis, shown.breaches, shown.due_at),
        ("delivered", 0, None)
    );
    settled_digest(&mut boot.team);
}

#[test]
fn every_event_is_legal_where_its_row_says_and_nowhere_else() {
    // Each event has valid data, so that only the state can be wrong. Other tests cover the checks that come before the state.
    let data = |event: &str| match event {
        "team_create_returned" => json!({"outcome": "ok", "name": "alpha"}),
        "roster_built" => json!({"domains": ["a", "b"]}),
        "team_launched" => launch(&WHOLE),
        "core_ready_ack" => json!({"from": "synthesizer"}),
        "delivery_ack" => json!({"by": "synthesizer", "d": "a", "message_id": "a-1"}),
        "delivery_ack_timeout" | "revision_submitted" | "domain_excluded" => json!({"d": "a"}),
        "obstruction_feedback" => json!({"d": "a", "verdict": "PASS"}),
        "synthesis_result" => json!({"by": "synthesizer"}),
        "member_added" => json!({"d": "c"}),
        "signal" => json!({"signal": "OBSTRUCTION_DIAGNOSIS"}),
        _ => json!({}),
    };
    let guarded = [
        "task_launched",
        "lead_content",
        "fallback_entered",
        "running_entered",
        "swarm_declared",
        "skeleton_sent",
        "domain_started",
        "mapping_result",
        "core_handshake_timed_out",
    ];
    for row in EVENTS.iter().filter(|row| !guarded.contains(&row.name)) {
        for state in State::ALL
            .iter()
            .copied()
            .filter(|state| *state != State::Fallback)
        {
            let mut boot = Boot::at(state);
            if row.from.contains(&state) {
                let said = boot.say(row.name, data(row.name));
                let message = said.message.unwrap_or_default();
                shows!(message =>
                    lacks &format!("{} is not legal in {}: it is in", row.name, state.name()));
            } else {
                boot.no(row.name, data(row.name), Code::IllegalEvent);
            }
        }
    }
}
