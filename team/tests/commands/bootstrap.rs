//! Runs of the bootstrap contract: the way to a working team, every code with a shortest history that triggers it and one
//! that just does not, and what a run forgets where it falls back.

use crate::world::{World, events, json, kinds, refused, settled_digest, time};
use serde_json::{Map, Value, json};
use teamlog_engine::Format;
use teamlog_team::bootstrap::breach::BREACHES;
use teamlog_team::bootstrap::events::{EVENTS, OTHER_SIGNALS, SIGNALS};
use teamlog_team::command::bootstrap_record::{
    BootstrapExplain, BootstrapRecord, BootstrapRecorded,
};
use teamlog_team::command::bootstrap_show::{BootstrapEvidence, BootstrapShow};
use teamlog_team::command::bootstrap_start::{BootstrapStart, BootstrapStarted};
use teamlog_team::command::tick::Tick;
use teamlog_team::projections::bootstrap::{RunShown, State, StepStatus};
use teamlog_team::{Code, Team};

/// A team `demo` with the run `1` about the domains `a` and `b`.
pub struct Boot {
    pub world: World,
    pub team: Team,
}

impl Boot {
    pub fn new() -> Boot {
        let world = World::new();
        let team = world.team(None, Format::Jsonl);
        let mut boot = Boot { world, team };
        boot.start();
        boot
    }

    fn start(&mut self) -> BootstrapStarted {
        let domains = Some(vec!["a".to_owned(), "b".to_owned()]);
        let start = BootstrapStart { run: None, domains };
        self.team.bootstrap_start(start).unwrap()
    }

    /// A run that stands in that state by the shortest way.
    pub fn at(state: State) -> Boot {
        let mut boot = Boot::new();
        boot.go(state);
        boot
    }

    pub fn go(&mut self, state: State) {
        let steps: &[(State, &str, Value)] = &[
            (
                State::TeamProbed,
                "team_create_returned",
                json!({"outcome": "ok", "team_name": "alpha"}),
            ),
            (State::TeamReady, "branch_taken", json!({"case": "A"})),
            (
                State::MembersReady,
                "roster_built",
                json!({"domains": ["a", "b"]}),
            ),
            (
                State::CoreReady,
                "team_launched",
                launch(&["obstruction-theorist", "synthesizer", "a", "b"]),
            ),
            (
                State::CoreReady,
                "core_ready_ack",
                json!({"from": "obstruction"}),
            ),
            (
                State::CoreReady,
                "core_ready_ack",
                json!({"from": "synthesizer"}),
            ),
        ];
        for (reached, event, data) in steps {
            let at = self.shown().state;
            // The acks are there only on the way to RUNNING.
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

    /// Enters `RUNNING` with the evidence that agrees with the log.
    pub fn enter(&mut self) {
        let evidence = self.team.bootstrap_evidence(BootstrapEvidence::default());
        self.ok("running_entered", json(&evidence.unwrap()));
    }

    pub fn say(&mut self, event: &str, data: Value) -> BootstrapRecorded {
        self.team.bootstrap_record(record(event, data)).unwrap()
    }

    /// Says what has to be accepted.
    pub fn ok(&mut self, event: &str, data: Value) -> BootstrapRecorded {
        let said = self.say(event, data);
        assert!(said.accepted, "{event}: {said:?}");
        assert_eq!((&said.code, said.rolled_back_to), (&None, None));
        said
    }

    /// Says what is refused: nothing is recorded, and the run stays.
    pub fn no(&mut self, event: &str, data: Value, code: Code) -> BootstrapRecorded {
        let (before, at) = (events(&mut self.team).len(), self.shown().state);
        let explained = self.explain(event, data.clone());
        let said = self.say(event, data);
        assert_eq!(
            said.code.as_deref(),
            Some(code.as_str()),
            "{event}: {said:?}"
        );
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

    /// Says what violates the contract: it is recorded, and the run falls back.
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
        assert_eq!(found, wanted, "{event}: {said:?}");
        let last = events(&mut self.team).pop().unwrap();
        assert_eq!(last["kind"], "bootstrap_breached");
        let payload = &last["payload"];
        assert_eq!(payload["code"], code.as_str());
        assert_eq!(payload["event"], event);
        assert_eq!(payload["data"], data);
        assert_eq!(payload["at_state"], at.name());
        assert_eq!(payload["rolled_back_to"], back_to.name());
        assert!(!payload["why"].as_str().unwrap().is_empty());
        // What was asked before is what came.
        let explained = json(&explained);
        assert_eq!(explained["state"], back_to.name());
        assert_eq!(explained["at_state"], at.name());
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
    BootstrapRecord {
        run: None,
        event: event.to_owned(),
        data,
    }
}

fn launch(members: &[&str]) -> Value {
    json!({"method": "team_api", "members": members})
}

const WHOLE: [&str; 4] = ["obstruction-theorist", "synthesizer", "a", "b"];

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
        boot.ok("domain_started", json!({"d": domain}));
        boot.ok(
            "MAPPING_RESULT_ROUND1",
            json!({"domain": domain, "message_id": format!("{domain}-1")}),
        );
        boot.ok(
            "MAPPING_RESULT_JSON",
            json!({"domain": domain, "message_id": format!("{domain}-1")}),
        );
        for by in ["obstruction", "synthesizer"] {
            boot.ok(
                "delivery_ack",
                json!({"by": by, "d": domain, "message_id": format!("{domain}-1")}),
            );
        }
        boot.ok(
            "obstruction_feedback",
            json!({"d": domain, "round": 1, "verdict": "PASS"}),
        );
    }
    assert_eq!(asked(&boot.shown()), Some(8));
    assert_eq!(boot.shown().next, ["round1_complete"]);
    boot.ok("round1_complete", json!({"coverage": {"reviewed_domains": ["a", "b"], "active_domains": ["b", "a"]}, "verdicts": {"a": "PASS", "b": "PASS"}}));
    let summary = json!({"pass_domains": ["a", "b"], "revised_domains": [], "excluded_domains": [], "residual_risks": []});
    let said = boot.ok(
        "gate_cleared",
        json!({"clear_summary": summary, "conditions": ["be brief"]}),
    );
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
    // What is said with each, so that only the state can be at fault; codes that come before are another test's.
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
                assert!(
                    !message.contains(&format!(
                        "{} is not legal in {}: it is in",
                        row.name,
                        state.name()
                    )),
                    "{message}"
                );
            } else {
                boot.no(row.name, data(row.name), Code::IllegalEvent);
            }
        }
    }
}

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
    // A launch by tasks is the worse of two faults.
    let mut boot = Boot::at(State::MembersReady);
    boot.breach(
        "team_launched",
        json!({"method": "per_member_task", "members": ["a"]}),
        code,
        State::TeamReady,
    );
    let mut boot = Boot::at(State::CoreReady);
    boot.breach(
        "core_relaunched",
        json!({"missing": ["synthesizer"], "method": "Task"}),
        code,
        State::TeamReady,
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
        // The whole launch is tried again.
        boot.ok("team_launched", launch(&WHOLE));
    }
    // A later batch, but not a second whole launch.
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
    boot.ok(
        "team_launched",
        launch(&["obstruction", "synthesizer", "b", "a"]),
    );
}

#[test]
fn domains_wait_for_both_acks_of_the_core() {
    let code = Code::BreachDomainBeforeCoreReady;
    let said = [
        ("skeleton_sent", json!({})),
        ("domain_started", json!({"d": "a"})),
        (
            "mapping_result",
            json!({"d": "a", "message_id": "m", "to": "obstruction"}),
        ),
        ("CATEGORY_SKELETON", json!({})),
    ];
    for (event, data) in said {
        for at in [
            State::Init,
            State::TeamProbed,
            State::TeamReady,
            State::MembersReady,
        ] {
            Boot::at(at).breach(event, data.clone(), code, at);
        }
        let mut boot = Boot::at(State::CoreReady);
        boot.breach(event, data.clone(), code, State::CoreReady);
        boot.ok("core_ready_ack", json!({"from": "obstruction"}));
        boot.breach(event, data.clone(), code, State::CoreReady);
        boot.ok("core_ready_ack", json!({"from": "synthesizer"}));
        // With both acks it is merely too early.
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
        for at in [
            State::Init,
            State::TeamProbed,
            State::TeamReady,
            State::MembersReady,
        ] {
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
    boot.ok("core_ready_ack", json!({"from": "obstruction"}));
    boot.breach(
        "core_handshake_timed_out",
        json!({}),
        Code::BreachCoreNotReady,
        State::CoreReady,
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
    assert_eq!(timed_out["kind"], "bootstrap_handshake_timed_out");
    assert_eq!(
        timed_out["payload"]["missing"],
        json!(["obstruction-theorist"])
    );
    assert_eq!(
        breached["payload"]["code"],
        Code::BreachCoreNotReady.as_str()
    );
    assert_eq!(breached["cause"], timed_out["id"]);
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
        // Called a simulation, it is an illegal fallback as well.
        let back_to = if at == State::Init {
            at
        } else {
            State::TeamReady
        };
        Boot::at(at).breach(
            "lead_content",
            json!({"kind": "domain", "simulation": true}),
            code,
            back_to,
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
    boot.breach(
        "obstruction_feedback",
        by(json!({"d": "a", "verdict": "PASS"})),
        code,
        State::Running,
    );
    boot.breach("round1_complete", by(json!({})), code, State::Running);
    boot.breach("gate_cleared", by(json!({})), code, State::Running);
    boot.breach("final_synthesis_ack", by(json!({})), code, State::Running);
    boot.no(
        "synthesis_result",
        json!({"by": "obstruction"}),
        Code::IllegalEvent,
    );
    let mut boot = fallen();
    boot.ok(
        "lead_content",
        json!({"kind": "domain", "role": "ROLE=domain-agent[a]"}),
    );
    boot.breach(
        "lead_content",
        json!({"kind": "domain"}),
        code,
        State::Fallback,
    );
}

fn fallen() -> Boot {
    let mut boot = Boot::new();
    boot.ok(
        "team_create_returned",
        json!({"raw": "Feature not available"}),
    );
    boot.ok("branch_taken", json!({"case": "C"}));
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
        // Its name is known, so the roster is next.
        if back_to == State::TeamReady {
            assert_eq!(boot.shown().team_name.as_deref(), Some("alpha"));
            boot.ok("roster_built", json!({"domains": ["a", "b"]}));
        }
    }
    let mut boot = Boot::at(State::TeamProbed);
    boot.breach("branch_taken", json!({"case": "c"}), code, State::TeamReady);
    let mut boot = Boot::new();
    boot.ok(
        "team_create_returned",
        json!({"outcome": "unavailable", "msg": "no"}),
    );
    let said = boot.ok("fallback_entered", data);
    assert_eq!((said.state, said.next.len()), (State::Fallback, 0));
    boot.no(
        "team_create_returned",
        json!({"outcome": "unavailable"}),
        Code::IllegalEvent,
    );
    boot.no("running_entered", json!({}), Code::IllegalEvent);
    boot.no("fallback_entered", json!({}), Code::IllegalEvent);
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
    // It may turn out to be had after all; then there is no fallback any more.
    let mut boot = Boot::at(State::MembersReady);
    boot.say("launch_unavailable", json!({}));
    boot.ok("team_launched", launch(&WHOLE));
    boot.breach(
        "fallback_entered",
        json!({}),
        Code::BreachInvalidFallbackReason,
        State::TeamReady,
    );
    for at in [State::TeamReady, State::CoreReady] {
        Boot::at(at).no("launch_unavailable", json!({}), Code::IllegalEvent);
    }
}

#[test]
fn every_code_of_the_contract_is_triggered_here() {
    let text = include_str!("bootstrap.rs");
    for row in &BREACHES {
        assert!(
            text.contains(&format!("Code::{:?}", row.code)),
            "{}",
            row.code
        );
        assert!(row.code.as_str().starts_with("PROTOCOL_BREACH_"));
    }
}

#[test]
fn a_branch_follows_from_the_literal_answer() {
    for (answer, case, name) in [
        (json!({"outcome": "ok", "name": "alpha"}), "A", "alpha"),
        (json!({"outcome": {"ok": "alpha"}}), "A", "alpha"),
        (json!({"outcome": {"ok": {"name": "alpha"}}}), "A", "alpha"),
        (json!({"returned": {"team_name": "alpha"}}), "a", "alpha"),
        (
            json!({"outcome": "Already leading team XXX"}),
            "case B",
            "XXX",
        ),
        (json!({"raw": "Already leading team \"XXX\"."}), "B", "XXX"),
        (json!({"outcome": {"already_leading": "XXX"}}), "b", "XXX"),
        (
            json!({"outcome": "already_leading", "team_name": "XXX"}),
            "B",
            "XXX",
        ),
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
    boot.no("branch_taken", json!({"case": "B"}), Code::BranchMismatch);
    boot.no(
        "branch_taken",
        json!({"case": "A", "team_name": "beta"}),
        Code::BranchMismatch,
    );
    boot.no(
        "team_create_returned",
        json!({"outcome": "unavailable"}),
        Code::IllegalEvent,
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
    let said = boot.ok(
        "team_create_returned",
        json!({"raw": "Already leading team"}),
    );
    assert_eq!(said.warnings.len(), 1);
    boot.no("branch_taken", json!({"case": "B"}), Code::BranchMismatch);
    boot.ok("branch_taken", json!({"case": "B", "team_name": "XXX"}));
    assert_eq!(boot.shown().team_name.as_deref(), Some("XXX"));
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
    for (field, value) in [
        ("launch_mode", json!("task_launch")),
        ("launch_method", json!("platform_nl_team_invocation")),
        ("launch_method", json!("by hand")),
        ("team_name", json!("beta")),
        ("selected_domains", json!(["a"])),
        ("selected_domains", json!(["a", "b", "b"])),
        ("selected_domains", json!("a, b")),
        ("active_core_members", json!(["synthesizer"])),
        ("core_ready_ack", json!(true)),
        (
            "core_ready_ack",
            json!({"OBSTRUCTION_CORE_READY_ACK": true, "SYNTHESIZER_CORE_READY_ACK": false}),
        ),
        (
            "core_ready_ack",
            json!({"OBSTRUCTION_CORE_READY_ACK": true}),
        ),
    ] {
        for changed in [Some(value), None] {
            let mut evidence = evidence.clone();
            let fields = evidence.as_object_mut().unwrap();
            match changed {
                Some(value) => fields.insert(field.to_owned(), value),
                None => fields.remove(field),
            };
            let said = boot.no(
                "running_entered",
                json!({"evidence": evidence}),
                Code::EvidenceInvalid,
            );
            assert!(said.message.unwrap().contains(field), "{field}");
        }
    }
    let mut more = evidence.clone();
    more["launch_methud"] = json!("team_api");
    boot.no(
        "running_entered",
        json!({"evidence": more}),
        Code::EvidenceInvalid,
    );
    let mut turned = evidence;
    turned["selected_domains"] = json!(["b", "a"]);
    boot.ok("running_entered", json!({"evidence": turned}));
}

#[test]
fn acks_belong_to_one_launch() {
    let mut boot = Boot::at(State::CoreReady);
    boot.ok(
        "core_ready_ack",
        json!({"from": "obstruction", "launch": 1}),
    );
    let said = boot.ok("core_ready_ack", json!({"from": "obstruction"}));
    assert_eq!(said.warnings.len(), 1, "the same again");
    boot.no("core_ready_ack", json!({"from": "a"}), Code::IllegalEvent);
    boot.no(
        "core_ready_ack",
        json!({"from": "lead"}),
        Code::IllegalEvent,
    );
    boot.breach(
        "task_launched",
        json!({"member": "a"}),
        Code::BreachInitialTaskLaunch,
        State::TeamReady,
    );
    boot.go(State::CoreReady);
    assert_eq!(
        (boot.shown().launches, boot.shown().core_ready.obstruction),
        (2, false)
    );
    boot.no(
        "core_ready_ack",
        json!({"from": "obstruction", "launch": 1}),
        Code::IllegalEvent,
    );
    boot.ok(
        "core_ready_ack",
        json!({"from": "obstruction", "launch": 2}),
    );
    // Who is launched again has to say it again.
    boot.ok("core_relaunched", json!({"missing": ["synthesizer"]}));
    assert!(boot.shown().core_ready.obstruction);
    boot.ok("core_relaunched", json!({"missing": "both"}));
    assert!(!boot.shown().core_ready.obstruction);
    boot.no(
        "core_relaunched",
        json!({"missing": ["a"]}),
        Code::IllegalEvent,
    );
}

#[test]
fn runs_are_numbered_and_the_newest_is_meant() {
    let mut boot = Boot::new();
    assert_eq!(boot.start().run, "2");
    let named = |run: &str| BootstrapStart {
        run: Some(run.to_owned()),
        domains: None,
    };
    boot.team.bootstrap_start(named("7")).unwrap();
    assert_eq!(boot.start().run, "8");
    boot.team.bootstrap_start(named("nightly")).unwrap();
    assert_eq!(boot.shown().run, "nightly");
    boot.ok(
        "team_create_returned",
        json!({"outcome": "ok", "name": "alpha"}),
    );
    let refusal = refused(boot.team.bootstrap_start(named("7")), Code::RunExists);
    assert!(refusal.hint.is_some());
    for bad in ["a/b", "", ".x", "-x"] {
        refused(boot.team.bootstrap_start(named(bad)), Code::InvalidInput);
    }
    let of = |run: &str| BootstrapShow {
        run: Some(run.to_owned()),
    };
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
    for (event, data, field, said) in [
        ("domain_startd", json!({}), "event", "domain_started"),
        ("domain_started", json!({}), "data.domain", "required"),
        ("domain_started", json!({"domian": "a"}), "data", "domain"),
        (
            "domain_started",
            json!({"d": "a", "domain": "a"}),
            "data.domain",
            "once",
        ),
        ("domain_started", json!({"d": ["a"]}), "data.domain", "text"),
        (
            "obstruction_feedback",
            json!({"d": "a", "verdict": "MAYBE"}),
            "data.verdict",
            "PASS",
        ),
        (
            "obstruction_feedback",
            json!({"d": "a", "verdict": "PASS", "round": 0}),
            "data.round",
            "from 1",
        ),
        (
            "mapping_result",
            json!({"d": "a", "message_id": "m", "to": "obstruction", "path_origin": "project"}),
            "data.path_origin",
            "absolute",
        ),
        (
            "team_launched",
            json!({"method": "by magic", "members": []}),
            "data.method",
            "team_api",
        ),
        (
            "lead_content",
            json!({"kind": "poem"}),
            "data.kind",
            "domain",
        ),
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
        let said = boot.ok(
            signal,
            json!({"from": "synthesizer", "run": "x", "note": "n"}),
        );
        assert_eq!(said.state, State::Init);
        let recorded = events(&mut boot.team).pop().unwrap();
        assert_eq!(recorded["kind"], "bootstrap_signal_recorded");
        assert_eq!(
            recorded["payload"],
            json!({"run": "1", "signal": signal, "from": "synthesizer", "note": "n"})
        );
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
    let traced = |trace: Option<&str>| teamlog_team::act::Control {
        trace_id: trace.map(str::to_owned),
        ..Default::default()
    };
    boot.team.under(traced(Some("tr-1")));
    boot.ok(
        "team_create_returned",
        json!({"outcome": "ok", "name": "alpha"}),
    );
    boot.team.under(traced(None));
    boot.go(State::CoreReady);
    boot.ok(
        "core_ready_ack",
        json!({"from": "synthesizer", "details": {"host": "h"}}),
    );
    let last = events(&mut boot.team).pop().unwrap();
    assert_eq!(
        (&last["trace_id"], &last["actor"]),
        (&json!("tr-1"), &json!("synthesizer"))
    );
    assert_eq!(last["agent"], "synthesizer");
    assert_eq!(last["payload"]["details"], json!({"host": "h"}));
    assert_eq!(boot.shown().trace_id.as_deref(), Some("tr-1"));
}

#[test]
fn under_a_key_a_breach_is_recorded_once() {
    let mut boot = Boot::at(State::Running);
    let said = record("lead_content", json!({"kind": "domain"}));
    boot.team.under(teamlog_team::act::Control {
        operation: "bootstrap-record".to_owned(),
        request: b"same".to_vec(),
        key: Some("k-1".to_owned()),
        ..Default::default()
    });
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
    let fault = call(
        "bootstrap-record",
        json!({"event": "task_launched", "data": data}),
    )
    .unwrap_err();
    assert_eq!(fault.code, "PROTOCOL_BREACH_INITIAL_TASK_LAUNCH");
    assert_eq!(
        (&fault.details["state"], &fault.details["rolled_back_to"]),
        (&json!("TEAM_READY"), &json!("TEAM_READY"))
    );
    assert_eq!(fault.details["accepted"], false);
    let fault = call("bootstrap-record", json!({"event": "core_pinged"})).unwrap_err();
    assert_eq!(
        (&*fault.code, &fault.details["state"]),
        ("illegal_event", &json!("TEAM_READY"))
    );
    let fault = call("bootstrap-record", json!({"event": "core_pingd"})).unwrap_err();
    assert_eq!(fault.code, "invalid_input");
    let shown = call("bootstrap-show", json!({"run": "1"})).unwrap();
    let shown: Value = serde_json::from_str(shown.data.get()).unwrap();
    assert_eq!(
        (&shown["state"], &shown["breaches"]),
        (&json!("TEAM_READY"), &json!(1))
    );
    let explained = call("bootstrap-explain", json!({"event": "roster_built"})).unwrap();
    let explained: Value = serde_json::from_str(explained.data.get()).unwrap();
    assert_eq!(explained["records"], json!(["bootstrap_roster_built"]));
    assert_eq!(
        (&explained["accepted"], &explained["state"]),
        (&json!(true), &json!("MEMBERS_READY"))
    );
}
