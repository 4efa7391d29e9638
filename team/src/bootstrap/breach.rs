//! Breaches of the bootstrap contract: the codes, their conditions, and the state to which each breach rolls the run back. If several
//! breaches apply, the first one in the table is taken.

use super::*;

/// A breach in the table of breaches.
#[derive(Debug)]
pub struct BreachRow {
    /// Code of the breach.
    pub code: Code,
    /// Text of the condition, for the documents.
    pub when: &'static str,
    /// Name of the state after the rollback, for the documents.
    pub back_to: &'static str,
    /// Returns the reason if the breach applies to the report.
    fits: fn(&Run, &Report) -> Option<String>,
    target: fn(&Run, &Report) -> State,
}

/// The table of breaches. If several breaches apply, the first one in the table is taken.
pub const BREACHES: [BreachRow; 6] = [
    BreachRow {
        code: Code::BreachInitialTaskLaunch,
        when: "before `RUNNING`, the lead launches members as tasks",
        back_to: "`TEAM_READY`; `INIT` while no team is known",
        fits: by_task,
        target: |run, _| team_ready_or(run, State::Init),
    },
    BreachRow {
        code: Code::BreachPartialAtomicLaunch,
        when: "a launch leaves out members of the roster; a later batch without the whole roster is a breach too",
        back_to: "`MEMBERS_READY`",
        fits: partial,
        target: |_, _| State::MembersReady,
    },
    BreachRow {
        code: Code::BreachDomainBeforeCoreReady,
        when: "domains begin to work before both acks of the core",
        back_to: "`CORE_READY` after the launch, else the current state",
        fits: domain_too_early,
        target: launched_or_here,
    },
    BreachRow {
        code: Code::BreachCoreNotReady,
        when: "`RUNNING` is entered, or the swarm declared, before both acks of the core; or the handshake times out",
        back_to: "`CORE_READY` after the launch, else the current state",
        fits: core_not_ready,
        target: launched_or_here,
    },
    BreachRow {
        code: Code::BreachLeadSoloAnalysis,
        when: "the lead does the work of domains or of the core; in `FALLBACK`, the lead gives no role",
        back_to: "the current state; `TEAM_READY` if the lead calls it a simulation although there is a team",
        fits: lead_alone,
        target: |run, report| match &report.said {
            Ok(said) if said.simulation && run.state != State::Fallback => {
                team_ready_or(run, run.state)
            }
            _ => run.state,
        },
    },
    BreachRow {
        code: Code::BreachInvalidFallbackReason,
        when: "the fallback is entered, or case C taken, although a team could be created and launched",
        back_to: "`TEAM_READY`; the current state while no team is known",
        fits: invalid_fallback,
        target: |run, _| team_ready_or(run, run.state),
    },
];

/// Returns the breach in a report: code, state after the rollback, reason. `None` if the report has no breach.
pub fn found(run: &Run, report: &Report) -> Option<(Code, State, String)> {
    BREACHES.iter().find_map(|row| {
        let why = (row.fits)(run, report)?;
        Some((row.code, (row.target)(run, report), why))
    })
}

fn team_ready_or(run: &Run, other: State) -> State {
    match run.known_team_name() {
        Some(_) => State::TeamReady,
        None => other,
    }
}

fn launched_or_here(run: &Run, _: &Report) -> State {
    match run.launch {
        Some(_) => State::CoreReady,
        None => run.state,
    }
}

fn before_running(run: &Run) -> bool {
    run.state < State::Running
}

fn by_task(run: &Run, report: &Report) -> Option<String> {
    let how = report.said.as_ref().ok().and_then(|said| said.how);
    let by_task = report.event == Event::TaskLaunched || how == Some(How::ByTask);
    (by_task && before_running(run)).then(|| {
        let state = run.state.name();
        format!("members were launched by tasks in {state}, but the first launch must launch the whole team")
    })
}

fn partial(run: &Run, report: &Report) -> Option<String> {
    let said = report.said.as_ref().ok()?;
    let launching = matches!(run.state, State::MembersReady | State::CoreReady);
    if report.event != Event::TeamLaunched || !launching {
        return None;
    }
    let missing = missing_of(run, &said.members);
    let names = missing.join(", ");
    (!missing.is_empty()).then(|| match run.state {
        State::CoreReady => format!("members were launched in another batch, without {names}"),
        _ => format!("the launch left out {names} of the roster"),
    })
}

fn domain_too_early(run: &Run, report: &Report) -> Option<String> {
    let of_domain = matches!(
        report.event,
        Event::SkeletonSent | Event::DomainStarted | Event::MappingResult
    );
    (of_domain && before_running(run) && !run.both_acked())
        .then(|| format!("domains began to work, but {}", missing(run)))
}

fn core_not_ready(run: &Run, report: &Report) -> Option<String> {
    if !before_running(run) || run.both_acked() {
        return None;
    }
    let doing = match report.event {
        Event::RunningEntered => "RUNNING was entered",
        Event::SwarmDeclared => "the swarm was declared",
        Event::CoreHandshakeTimedOut if run.state == State::CoreReady => "the handshake timed out",
        _ => return None,
    };
    Some(format!("{doing}, but {}", missing(run)))
}

/// Returns the ready signals that core members have not sent.
pub(super) fn unready(run: &Run) -> Vec<&'static str> {
    let missing = run.unready();
    missing.iter().map(|core| core.ready_signal()).collect()
}

fn missing(run: &Run) -> String {
    let names = unready(run);
    let is = if names.len() == 1 { "is" } else { "are" };
    format!("{} {is} missing", names.join(" and "))
}

fn lead_alone(run: &Run, report: &Report) -> Option<String> {
    let fallen = run.state == State::Fallback;
    let said = report.said.as_ref();
    let by_lead = said.is_ok_and(|said| said.by == Some(Participant::Lead));
    let in_role = said.is_ok_and(|said| said.role.is_some());
    let what = match report.event {
        Event::LeadContent if fallen && in_role => return None,
        Event::LeadContent if fallen => "the lead wrote content without a role",
        Event::LeadContent => "the lead wrote what is for domains or the core to write",
        _ if fallen => return None,
        event if report.said.is_err() && event.is_of_core() => "the lead stood in for the core",
        _ if !by_lead => return None,
        Event::ObstructionFeedback => "the lead reviewed in place of the obstruction theorist",
        Event::Round1Complete => {
            "the lead completed the review in place of the obstruction theorist"
        }
        Event::GateCleared => "the lead cleared the gate in place of the obstruction theorist",
        Event::FinalSynthesisAck | Event::SynthesisResult => {
            "the lead stood in for the synthesizer"
        }
        _ => return None,
    };
    Some(what.to_owned())
}

fn invalid_fallback(run: &Run, report: &Report) -> Option<String> {
    let case = report.said.as_ref().ok().and_then(|said| said.case);
    let enters = match report.event {
        Event::FallbackEntered => true,
        _ => case == Some(Case::C) && run.state == State::TeamProbed,
    };
    let outcome = run.probe.as_ref().map(|probe| probe.outcome);
    let is_breach = match (run.state, outcome) {
        (State::Fallback, _) => false,
        (State::TeamProbed, outcome) => outcome.is_some_and(Outcome::is_usable),
        _ => run.blocked.is_none(),
    };
    (enters && is_breach).then(|| match run.known_team_name() {
        Some(name) => format!("the fallback was entered, but there is the team {name}"),
        None => "the fallback was entered, but no attempt to create a team failed".to_owned(),
    })
}
