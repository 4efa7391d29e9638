//! The rules of the bootstrap contract: what a report on a run does, decided purely on the run and what was reported.
//!
//! A report is read (`payload`), held against the contract's codes in their order ([`breach`]), then against the table of
//! where each event is legal ([`events`]), then against what else it needs (`guards` up to `RUNNING`, `work` in it).

pub mod breach;
pub mod events;
mod fields;
mod guards;
mod how;
pub mod list;
mod message;
mod path;
mod payload;
pub mod probe;
mod proof;
pub mod record;
pub mod show;
pub mod start;
pub mod tick;
mod verdict;
mod work;

pub use events::Event;
pub use fields::DOMAINS_MAX;
pub use payload::{Report, read};
pub use verdict::{Accepted, Breached, Verdict};

use crate::projections::bootstrap::event::BootstrapAct;
use crate::projections::bootstrap::{Core, Run, State, event};
use crate::refusal::{Code, Refusal};
use payload::Payload;
use teamlog_engine::Timestamp;
use verdict::{Ruled, illegal};

/// What becomes of a report on a run. Pure.
pub fn decide(run: &Run, report: &Report) -> Verdict {
    if let Some((code, rolled_back_to, why)) = breach::found(run, report) {
        let first = (report.event == Event::CoreHandshakeTimedOut).then(|| {
            BootstrapAct::HandshakeTimedOut {
                missing: run.unready(),
            }
        });
        return Verdict::Breach(Box::new(Breached {
            first,
            code,
            rolled_back_to,
            why,
        }));
    }
    if let Payload::Faulty(fault) = &report.said {
        return Verdict::Refused(fault.clone());
    }
    if let Err(refusal) = legal(run, report.event) {
        return Verdict::Refused(Box::new(refusal));
    }
    if let Payload::Unavailable { raw } = &report.said {
        return Verdict::Blocked {
            raw: raw.clone(),
            why: "the platform cannot launch a team".to_owned(),
        };
    }
    match ruled(run, report) {
        Ok(accepted) => Verdict::Accepted(accepted),
        Err(refusal) => Verdict::Refused(Box::new(refusal)),
    }
}

/// What times out of a run by then, each with what it leads to.
pub fn due(run: &Run, now: Timestamp) -> Vec<BootstrapAct> {
    let by = |until: Option<i64>| until.is_some_and(|until| until <= now.micros());
    let mut acts = Vec::new();
    if by(run.handshake_until) {
        let missing = run.unready();
        acts.push(BootstrapAct::HandshakeTimedOut { missing });
    }
    for domain in run.active() {
        for core in Core::ALL {
            if by(domain.delivery(core).until) {
                acts.push(work::timed_out(domain, core));
            }
        }
    }
    acts
}

/// The violation that a handshake is which timed out by itself.
pub fn handshake_breach(run: &Run) -> event::Breach {
    let missing: Vec<&str> = run
        .unready()
        .iter()
        .map(|core| core.ready_signal())
        .collect();
    event::Breach {
        code: Code::BreachCoreNotReady.as_str().to_owned(),
        event: Event::CoreHandshakeTimedOut.name().to_owned(),
        data: serde_json::Map::new(),
        at_state: run.state,
        rolled_back_to: State::CoreReady,
        why: format!("the handshake timed out without {}", missing.join(" and ")),
    }
}

/// Where the event is legal.
fn legal(run: &Run, event: Event) -> Result<(), Refusal> {
    let row = event.row();
    if row.from.contains(&run.state) {
        return Ok(());
    }
    let from: Vec<&str> = row.from.iter().map(|state| state.name()).collect();
    let why = match (event, run.state) {
        (Event::TeamLaunched, State::CoreReady) => {
            return Err(illegal(run, row.name, "the team was launched already")
                .hint("to launch core members again: core_relaunched"));
        }
        (Event::TeamLaunched, State::Running) => {
            return Err(illegal(run, row.name, "the team works already")
                .hint("whoever comes later joins: member_added"));
        }
        (_, State::Fallback) => "the team flow has ended".to_owned(),
        _ => format!("it is in {}", from.join(", ")),
    };
    Err(illegal(run, row.name, &why))
}

fn ruled(run: &Run, report: &Report) -> Ruled {
    let name = report.event.name();
    match &report.said {
        Payload::Probe(probe) => guards::probed(run, probe),
        Payload::Branch { case, team_name } => guards::branched(run, *case, team_name.as_deref()),
        Payload::Fallback { reason } => guards::fallen_back(run, reason.as_ref()),
        Payload::Roster { core, domains } => {
            guards::roster(run, core.as_deref(), domains.as_deref())
        }
        Payload::Launch { how, members } => guards::launched(run, *how, members),
        Payload::Ping { to } => {
            let ping = |to: &Core| BootstrapAct::CorePinged { to: *to };
            Ok(Accepted {
                acts: to.iter().map(ping).collect(),
                warnings: Vec::new(),
            })
        }
        Payload::Ready { from, launch } => guards::ready(run, from, *launch),
        Payload::HandshakeTimedOut => Err(illegal(run, name, "both acks of the core are there")),
        Payload::Relaunch { missing, .. } => guards::relaunched(run, missing.as_deref()),
        Payload::Running { evidence } => guards::running(run, evidence.as_ref()),
        Payload::Declared => Ok(Accepted::one(BootstrapAct::SwarmDeclared {})),
        Payload::Skeleton => Ok(Accepted::one(BootstrapAct::SkeletonSent {})),
        Payload::Domain { domain } => work::started(run, domain),
        Payload::Mapping(mapping) => work::delivered(run, mapping),
        Payload::Ack {
            by,
            domain,
            message_id,
        } => work::acked(run, by, domain, message_id),
        Payload::AckTimeout {
            missing,
            domain,
            message_id,
        } => work::ack_missed(run, *missing, domain, message_id.as_deref()),
        Payload::Feedback(review) => work::reviewed(run, review),
        Payload::Round1(round) => work::round_completed(run, round),
        Payload::Exclude { domain, reason } => work::excluded(run, domain, reason.as_ref()),
        Payload::Revision { domain, round } => work::revised(run, domain, *round),
        Payload::Gate {
            by,
            summary,
            conditions,
        } => work::cleared(run, by, summary.as_ref(), conditions.as_deref()),
        Payload::Request { by } => work::requested(run, by),
        Payload::ByWhom { by } => {
            work::synthesized(run, name, by, report.event == Event::SynthesisResult)
        }
        Payload::Join { domain, how } => work::joined(run, domain, *how),
        Payload::Task | Payload::LeadContent { .. } => Ok(reported(report)),
        Payload::Signal { signal, said } => Ok(Accepted::one(BootstrapAct::SignalRecorded {
            signal: signal.clone(),
            said: said.clone(),
        })),
        // Decided before.
        Payload::Unavailable { .. } => Ok(Accepted::default()),
        Payload::Faulty(fault) => Err((**fault).clone()),
    }
}

/// What moves nothing, but may be looked for later.
fn reported(report: &Report) -> Accepted {
    let mut said = report.data.clone();
    for taken in events::KEPT.iter().chain(&["run", "signal"]) {
        said.remove(*taken);
    }
    let warning = (report.event == Event::TaskLaunched)
        .then_some("members are launched by the team, not by tasks of the lead's");
    Accepted::one(BootstrapAct::SignalRecorded {
        signal: report.event.name().to_owned(),
        said,
    })
    .warned(warning)
}

/// The members of the roster that are not among these.
fn missing_of(run: &Run, members: &[String]) -> Vec<String> {
    let core = Core::ALL.iter().filter(|core| {
        !members
            .iter()
            .any(|member| core_named(member) == Some(**core))
    });
    let domains = run
        .roster
        .iter()
        .flatten()
        .filter(|domain| !members.contains(domain));
    let core = core.map(|core| core.name().to_owned());
    core.chain(domains.cloned()).collect()
}

/// The member of the core that a name stands for.
fn core_named(name: &str) -> Option<Core> {
    fields::core_named(name)
}
