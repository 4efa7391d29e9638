//! Checklist of the bootstrap contract for a run: finished steps, next step, forbidden actions.

use super::{Case, Run, State};
use crate::prelude::*;

/// A step of the checklist
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Step {
    /// Number of the step, from 1
    pub number: u8,
    /// Description of the step
    pub step: String,
    /// Status of the step
    pub status: StepStatus,
}

words! {
    /// Status of a step
    pub enum StepStatus in json {
        /// Finished
        Done = "done",
        /// Next
        Next = "next",
        /// Open, and not next
        Open = "open",
        /// Not reached, because the run ended
        Dropped = "dropped",
    }
}

type Test = fn(&Run) -> bool;

/// Steps of the contract, with the condition that finishes each.
const STEPS: [(&str, Test); 9] = [
    ("call TeamCreate", |run| run.probe.is_some()),
    ("read its answer as case A, B or C", |run| {
        run.case.is_some()
    }),
    (
        "build the roster: the core and all selected domains",
        |run| run.roster.is_some(),
    ),
    ("launch the whole team at once", |run| run.launch.is_some()),
    ("ping the core and get both acks", |run| {
        run.launch.is_some() && run.both_acked()
    }),
    ("enter RUNNING with the launch evidence", |run| {
        run.evidence.is_some()
    }),
    (
        "deliver each domain's result to both of the core and get both acks",
        |run| {
            run.evidence.is_some()
                && run.active().next().is_some()
                && run.active().all(|domain| domain.is_delivered())
        },
    ),
    (
        "let the obstruction theorist review every domain once",
        |run| run.round1_complete,
    ),
    (
        "request the final synthesis once the gate is cleared",
        |run| run.final_requested,
    ),
];

/// Forbidden actions in each state, in the contract's words.
const FORBIDDEN: [(State, &[&str]); 7] = [
    (
        State::Init,
        &["analysing directly", "starting members directly"],
    ),
    (
        State::TeamProbed,
        &["skipping the branch that TeamCreate's answer leads to"],
    ),
    (State::TeamReady, &["starting members one by one"]),
    (
        State::MembersReady,
        &["splitting the first launch into batches"],
    ),
    (State::CoreReady, &["saying that the swarm has started"]),
    (
        State::Running,
        &["analysing as the lead", "standing in for the core"],
    ),
    (State::Fallback, &["going on with the team flow"]),
];

/// Returns the steps with their status.
pub fn checklist(run: &Run) -> Vec<Step> {
    let ended = run.state == State::Fallback;
    let mut next = Some(StepStatus::Next).filter(|_| !ended);
    let mut steps = Vec::with_capacity(STEPS.len());
    for ((step, is_done), number) in STEPS.iter().zip(1..) {
        let status = match is_done(run) {
            true => StepStatus::Done,
            false if ended => StepStatus::Dropped,
            false => next.take().unwrap_or(StepStatus::Open),
        };
        steps.push(Step {
            number,
            step: (*step).to_owned(),
            status,
        });
    }
    steps
}

/// Returns the actions that are forbidden now.
pub fn forbidden(run: &Run) -> Vec<String> {
    let of_state = FORBIDDEN.iter().filter(|(state, _)| *state == run.state);
    let mut all: Vec<&str> = of_state.flat_map(|(_, all)| all.iter().copied()).collect();
    if run.state == State::CoreReady {
        all.push(match run.both_acked() {
            true => "starting any domain's work before RUNNING is entered",
            false => "starting any domain's work before both acks of the core",
        });
    }
    if run.state == State::Running && run.gate.is_none() {
        all.push("requesting the final synthesis before the gate is cleared");
    }
    if run.is_usable() && run.blocked.is_none() && run.state != State::Fallback {
        all.push("falling back, since there is a team");
    }
    all.into_iter().map(str::to_owned).collect()
}

/// Returns the names of the events that may follow, best first.
pub fn next_events(run: &Run) -> Vec<String> {
    let next: Vec<&str> = match run.state {
        State::Init => vec!["team_create_returned"],
        State::TeamProbed => after_probe(run),
        State::TeamReady => vec!["roster_built"],
        State::MembersReady if run.blocked.is_some() => vec!["fallback_entered", "team_launched"],
        State::MembersReady => vec!["team_launched", "launch_unavailable"],
        State::CoreReady => in_handshake(run),
        State::Running => while_running(run),
        State::Fallback => Vec::new(),
    };
    next.into_iter().map(str::to_owned).collect()
}

fn after_probe(run: &Run) -> Vec<&'static str> {
    match run.probe.as_ref().and_then(|probe| probe.outcome.case()) {
        Some(Case::C) => vec!["branch_taken", "fallback_entered"],
        Some(_) => vec!["branch_taken"],
        // The outcome is unknown. The lead must find out and report the outcome.
        None => vec!["team_create_returned"],
    }
}

fn in_handshake(run: &Run) -> Vec<&'static str> {
    if run.both_acked() {
        return vec!["running_entered"];
    }
    if !run.missing.is_empty() {
        return vec!["core_relaunched", "core_ready_ack"];
    }
    let unasked = run
        .core
        .iter()
        .any(|handshake| !handshake.pinged && !handshake.acked);
    match unasked {
        true => vec!["core_pinged", "core_ready_ack"],
        false => vec!["core_ready_ack", "core_handshake_timed_out"],
    }
}

fn while_running(run: &Run) -> Vec<&'static str> {
    if run.active().next().is_none() && !run.final_requested {
        return vec!["member_added"];
    }
    let any = |test: fn(&super::Domain) -> bool| run.active().any(test);
    // A domain that sent its result got the category skeleton, even if that was not reported.
    let is_delivering =
        |domain: &super::Domain| domain.message_id.is_some() || !domain.earlier_ids.is_empty();
    let begun = run.domains.iter().any(is_delivering);
    let waits = |domain: &super::Domain| {
        let waiting = |delivery: &super::Delivery| delivery.sent > 0 && !delivery.acked;
        domain.deliveries.iter().any(waiting)
    };
    let steps: [(&'static str, bool); 12] = [
        ("skeleton_sent", !run.skeleton_sent && !begun),
        ("domain_started", any(|domain| !domain.started)),
        (
            "mapping_result",
            any(|domain| {
                domain.deliveries.iter().any(|delivery| {
                    let again = delivery.sent == 1 && delivery.timeouts > 0 && !delivery.acked;
                    delivery.sent == 0 || again
                })
            }),
        ),
        ("delivery_ack", any(waits)),
        ("domain_excluded", any(|domain| domain.blocked)),
        (
            "obstruction_feedback",
            any(|domain| {
                !domain.is_reviewed() && domain.deliveries.iter().all(|delivery| delivery.sent > 0)
            }),
        ),
        (
            "round1_complete",
            !run.round1_complete && round_is_complete(run),
        ),
        (
            "revision_submitted",
            any(|domain| domain.is_reviewed() && !domain.passes()),
        ),
        (
            "gate_cleared",
            run.round1_complete
                && run.gate.is_none()
                && !any(|domain| !domain.passes() || !domain.is_settled()),
        ),
        (
            "final_synthesis_requested",
            run.gate.is_some() && !run.final_requested,
        ),
        (
            "final_synthesis_ack",
            run.final_requested && !run.final_acked && !run.synthesis_delivered,
        ),
        (
            "synthesis_result",
            run.final_requested && !run.synthesis_delivered,
        ),
    ];
    let open = steps.into_iter().filter(|(_, is_open)| *is_open);
    open.map(|(event, _)| event).collect()
}

/// Returns true if every active domain was reviewed and confirmed by both core members.
pub fn round_is_complete(run: &Run) -> bool {
    let mut active = run.active().peekable();
    active.peek().is_some() && active.all(|domain| domain.reviewed > 0 && domain.confirmed)
}
